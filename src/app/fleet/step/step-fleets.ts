/**
 * One turn of the schedule: a step for each FleetDaemonSet that is due (issue 18).
 *
 * Goes through the heads and the records, a page at a time, and reads the registry's revision once. A fleet is due at its time, when it was
 * applied anew, when a registration changed, or when it is gone. A turn that is late, twice or never costs time: who steps the
 * same fleet at the same moment loses its record to the other. One fleet that cannot be stepped holds up no other.
 */
import type { FleetKey } from '../../../core/fleet/fleet-daemon-set.ts';
import { formatFleetKey } from '../../../core/fleet/fleet-daemon-set.ts';
import { freezeOf } from '../../../core/takeover/freeze.ts';
import type { FleetRecord } from '../../../core/fleet/rollout/fleet-record.ts';
import type { FleetHead } from '../../../ports/stores/fleet-store.ts';
import { listEveryFleet, listEveryRecord } from '../list-fleets.ts';
import { mustDeal } from './deal-clusters.ts';
import type { StepFleetsDependencies } from '../sight/dependencies.ts';
import { stepFleet } from './step-fleet.ts';

/** Decisions of one fleet in one turn: a stage that is empty opens the next one at once, and so on. */
const DECISIONS_MAX = 8;

/** How long a turn may go on. */
export interface TurnOptions {
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
    await dependencies.audience.show(record);
  }
}

/** Fleets to step, and the records of the others. */
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
    return isThawed(record) || mustDeal(record, revision, nowMs);
  };
  const named = new Set(heads.map((head) => formatFleetKey(head)));
  const gone = [...records.values()].filter((record) => !named.has(formatFleetKey(record)));
  // Who waits longest goes first, so that a turn that ends early starves nobody.
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
