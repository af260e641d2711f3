/**
 * One turn of the schedule: a step for each FleetDaemonSet that is due.
 * A turn that is late, twice or never costs time: the one that loses the record has sent nothing.
 * What clusters are given is what the written record says, so the next step can finish it.
 */
import { defined } from '@rollcall/base/defined.ts';
import { formatFleetKey } from '../../../core/fleet/fleet-daemon-set.ts';
import type { FleetDaemonSet, FleetKey } from '../../../core/fleet/fleet-daemon-set.ts';
import { freezeOf } from '../../../core/may-act/freeze.ts';
import type { FleetRecord } from '../../../core/fleet/rollout/fleet-record.ts';
import type { FleetHead } from '../../../ports/stores/fleet-rollout-store.ts';
import { listEveryFleet, listEveryRecord } from '../find-fleet.ts';
import type { StepFleetsDependencies } from '../observe/dependencies.ts';
import { beginRollout, releaseOf } from '../../../core/fleet/rollout/begin-rollout.ts';
import { isSameRecord, whenDue } from '../../../core/fleet/rollout/when-due.ts';
import type { StartLimits } from '../../../core/pod/request-life.ts';
import { makeStep } from './make-step.ts';
import type { StepOutcome } from './carry-out.ts';
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import { compilePlacement } from '../../../core/fleet/choose-clusters.ts';
import { assignFleet, type AssignedCluster } from '../../../core/fleet/rollout/assign-fleet.ts';
import { readRegistry } from '../../clusters/read-registry.ts';
import { READ_AT_ONCE, ASSIGN_AT_LEAST_MS, ASSIGN_EVERY_MS } from '../observe/dependencies.ts';
import { readList, writeList } from '../member-lists.ts';

/** Decisions of one fleet in one turn: a stage that is empty opens the next one at once, and so on. */
const DECISIONS_MAX = 8;

interface TurnOptions {
  /** Monotonic; no step, and no request, starts after it. */
  readonly deadlineMs: number;
}

/** Makes the turn. Rejects when the lists cannot be read. */
export async function stepFleets(
  { deadlineMs }: TurnOptions,
  dependencies: StepFleetsDependencies,
): Promise<void> {
  const { clock, log, metrics } = dependencies;
  const wallDeadlineMs = clock.nowMs() + (deadlineMs - clock.monotonicMs());
  const { due, others } = await findDue(dependencies);
  for (const key of due) {
    for (let decisions = 0; decisions < DECISIONS_MAX; decisions += 1) {
      if (clock.monotonicMs() >= deadlineMs) return;
      try {
        const outcome = await stepFleet(key, { deadlineMs, wallDeadlineMs }, dependencies);
        log.debug('a fleet was stepped', { fleet: formatFleetKey(key), outcome });
        if (outcome !== 'decided') break;
      } catch (error) {
        metrics.count('FleetSteps', { outcome: 'error' });
        log.error('a fleet could not be stepped', { fleet: formatFleetKey(key) }, error);
        break;
      }
    }
  }
  // Last, since nothing waits for them: what is shown already costs nothing, what could not be shown is tried again.
  for (const record of others) {
    if (clock.monotonicMs() >= deadlineMs) return;
    await dependencies.notifier.show(record);
  }
}

interface Turn {
  readonly due: readonly FleetKey[];
  readonly others: readonly FleetRecord[];
}

async function findDue(dependencies: StepFleetsDependencies): Promise<Turn> {
  const { clock, registry } = dependencies;
  const [heads, records] = await Promise.all([
    listEveryFleet(dependencies.fleets),
    listRecords(dependencies),
  ]);
  if (heads.length === 0 && records.size === 0) return { due: [], others: [] };
  const revision = await registry.readRegistryRevision();
  const nowMs = clock.nowMs();
  const isThawed = await readThaw(records, dependencies);
  const isDue = (head: FleetHead): boolean => {
    const record = records.get(formatFleetKey(head));
    if (record === undefined || record.uid !== head.uid) return true;
    if (record.release.generation !== head.generation || record.dueAtMs <= nowMs) return true;
    return isThawed(record) || mustAssign(record, revision, nowMs);
  };
  const named = new Set(heads.map((head) => formatFleetKey(head)));
  const gone = [...records.values()].filter((record) => !named.has(formatFleetKey(record)));
  // The fleet that waits longest goes first, so that a turn that ends early starves none.
  const dueAt = (key: FleetKey): number => records.get(formatFleetKey(key))?.dueAtMs ?? 0;
  const due = [...heads.filter(isDue), ...gone].sort((left, right) => dueAt(left) - dueAt(right));
  const stepped = new Set(due.map((key) => formatFleetKey(key)));
  const others = [...records.values()].filter((record) => !stepped.has(formatFleetKey(record)));
  return { due, others };
}

/** Says of a record whether it was frozen when it was stepped last, and is not any more: a thaw is no write that the records show. */
async function readThaw(
  records: ReadonlyMap<string, FleetRecord>,
  { freezes }: Pick<StepFleetsDependencies, 'freezes'>,
): Promise<(record: FleetRecord) => boolean> {
  const frozen = [...records.values()].filter(({ gate }) => gate.kind === 'frozen');
  if (frozen.length === 0) return () => false;
  const freeze = await freezes.readFreeze();
  return (record) => record.gate.kind === 'frozen' && freezeOf(freeze, record) === undefined;
}

async function listRecords({
  rollouts,
  log,
  metrics,
}: StepFleetsDependencies): Promise<ReadonlyMap<string, FleetRecord>> {
  const { records, unreadable } = await listEveryRecord(rollouts);
  for (const key of unreadable) {
    metrics.count('FleetSteps', { outcome: 'unreadable' });
    log.error('the record of a fleet cannot be read', { fleet: formatFleetKey(key) });
  }
  return records;
}

async function stepFleet(
  key: FleetKey,
  limits: StartLimits,
  dependencies: StepFleetsDependencies,
): Promise<StepOutcome> {
  const { fleets, rollouts, freezes, reader, clock } = dependencies;
  const [stored, known, frozen] = await Promise.all([
    fleets.readFleet(key),
    rollouts.readRecord(key),
    freezes.readFreeze(),
  ]);
  if (stored === undefined) return leave(known, dependencies);
  // One that had the name before goes first, with everything of it.
  if (known !== undefined && known.uid !== stored.head.uid) return makeWay(known, dependencies);
  const reading = reader.readDocument(stored.document);
  const begun = beginIfNew(stored.head, known, clock.nowMs());
  if (reading.kind === 'invalid') {
    const [{ field, message }] = reading.problems;
    return writeInvalid({ record: begun, known, message: `${field} ${message}` }, dependencies);
  }
  const { fleet } = reading;
  const freeze = freezeOf(frozen, key);
  const record = freeze === undefined ? await assignIfNeeded(begun, fleet, dependencies) : begun;
  return makeStep({ fleet, record, known, limits, ...defined({ freeze }) }, dependencies);
}

/** What is recorded goes last: as long as its mirror stands, it is what has it removed. */
async function leave(
  known: FleetRecord | undefined,
  { rollouts, notifier }: StepFleetsDependencies,
): Promise<StepOutcome> {
  if (known === undefined) return 'removed';
  if ((await notifier.hide(known)) === 'later') return 'leaving';
  await rollouts.removeRollout(known);
  return 'removed';
}

/** The one that has its name now is shown in its place, whatever becomes of its mirror. */
async function makeWay(
  known: FleetRecord,
  { rollouts, notifier }: StepFleetsDependencies,
): Promise<StepOutcome> {
  await notifier.hide(known);
  await rollouts.removeRollout(known);
  return 'removed';
}

function beginIfNew(head: FleetHead, known: FleetRecord | undefined, nowMs: number): FleetRecord {
  if (known?.release.generation === head.generation) return known;
  return beginRollout({
    fleet: head,
    uid: head.uid,
    release: releaseOf(head),
    nowMs,
    ...defined({ former: known }),
  });
}

async function assignIfNeeded(
  record: FleetRecord,
  fleet: FleetDaemonSet,
  dependencies: StepFleetsDependencies,
): Promise<FleetRecord> {
  const { registry, clock } = dependencies;
  const registryRevision = await registry.readRegistryRevision();
  if (!mustAssign(record, registryRevision, clock.nowMs())) return record;
  return assignClusters({ record, fleet, registryRevision }, dependencies);
}

interface Invalid {
  readonly record: FleetRecord;
  readonly known: FleetRecord | undefined;
  readonly message: string;
}

async function writeInvalid(
  { record, known, message }: Invalid,
  { rollouts, clock, log, metrics }: StepFleetsDependencies,
): Promise<StepOutcome> {
  log.error('a FleetDaemonSet cannot be read by this release', {
    fleet: formatFleetKey(record),
    detail: message,
  });
  metrics.count('FleetSteps', { outcome: 'invalid' });
  const gate = { kind: 'invalid', message } as const;
  const next = { ...record, gate, dueAtMs: whenDue({ ...record, gate }, clock.nowMs()) };
  const isSame = known !== undefined && isSameRecord(known, next) && known.dueAtMs > clock.nowMs();
  const isWritten = !isSame && (await rollouts.writeRecord(next)) === 'written';
  if (isWritten && known?.gate.kind !== 'invalid') {
    metrics.count('FleetDecisions', { outcome: 'unreadable' });
  }
  return 'invalid';
}

/** True where the lists of a record are not of the registry as it is. */
function mustAssign(record: FleetRecord, registryRevision: number, nowMs: number): boolean {
  if (record.stages.length === 0) return true;
  const ageMs = nowMs - record.dealtAtMs;
  // A first stage without a cluster waits for one that is heard of again, of which no registration tells.
  const isAwaiting = record.stage < 0 && record.gate.kind === 'no-evidence';
  // Who got the release through the ring is in no list any more, and goes back as well.
  const turnedAtMs = record.orders.undo?.atMs ?? record.breach?.atMs ?? 0;
  const isTurned = record.dealtAtMs < turnedAtMs;
  if (isAwaiting || isTurned || record.registryRevision !== registryRevision) {
    return ageMs >= ASSIGN_EVERY_MS;
  }
  return ageMs >= ASSIGN_AT_LEAST_MS;
}

interface AssignmentOf {
  readonly record: FleetRecord;
  readonly fleet: FleetDaemonSet;
  /** As read before: a registration that changes meanwhile is dealt with once more. */
  readonly registryRevision: number;
}

/**
 * The record with lists of now: reads every registration, the one thing here that costs the whole
 * fleet. Lists are written before the record names them, so a step that loses its record leaves
 * unread lists, which the next assignment removes. Rejects when a table fails.
 */
async function assignClusters(
  { record, fleet, registryRevision }: AssignmentOf,
  dependencies: StepFleetsDependencies,
): Promise<FleetRecord> {
  const clusters = await gather(record, fleet, dependencies);
  const nowMs = dependencies.clock.nowMs();
  const { contentHash } = record.release;
  const open = record.stages[record.stage];
  const members = open === undefined ? [] : await readList(record, open.members, dependencies);
  const openMembers = new Set(members);
  const assignment = assignFleet(fleet, clusters, {
    contentHash,
    stage: record.stage,
    openMembers,
    isReturn: record.isReturn === true,
    nowMs,
  });
  const stages = await sideBySide(assignment.stages, READ_AT_ONCE, async (stage) => ({
    name: stage.name,
    namesNobody: stage.namesNobody,
    members: await writeList(record, stage.clusters, dependencies),
  }));
  return {
    ...record,
    stages,
    ring: await writeList(record, assignment.ring, dependencies),
    untouchedClusters: assignment.untouchedClusters,
    registryRevision,
    dealtAtMs: nowMs,
    ringDueAtMs: nowMs,
  };
}

async function gather(
  record: FleetRecord,
  fleet: FleetDaemonSet,
  { registry, rollouts, view }: StepFleetsDependencies,
): Promise<readonly AssignedCluster[]> {
  const { registrations } = await readRegistry(registry);
  const placed = registrations.filter(compilePlacement(fleet.placement));
  const records = await rollouts.readClusterRecords(
    record,
    placed.map(({ id }) => id),
  );
  return sideBySide(placed, READ_AT_ONCE, async (registration): Promise<AssignedCluster> => {
    const { id, clusterUid, labels, mode, isFrozen, rival } = registration;
    const meta = await view.readMeta(clusterUid);
    const known = records.get(id);
    return {
      id,
      clusterUid,
      labels,
      mode,
      isFrozen,
      ...defined({ rival, heardAtMs: meta?.lastSentAtMs, record: known }),
    };
  });
}
