/**
 * One step of one FleetDaemonSet: read, begin, deal, then judge, record by compare-and-set, and give (issue 18).
 *
 * Who loses the record has sent nothing, and ends. What clusters are given is what the record that was written says; a process that
 * dies after that write leaves clusters that were not given anything yet, and the next step finds them waiting.
 */
import type { FleetDaemonSet, FleetKey } from '../../../core/fleet/fleet-daemon-set.ts';
import { formatFleetKey } from '../../../core/fleet/fleet-daemon-set.ts';
import { releaseOf } from '../fleet-release.ts';
import { beginRollout } from '../../../core/fleet/rollout/begin-rollout.ts';
import type { FleetRecord } from '../../../core/fleet/rollout/fleet-record.ts';
import { isSameRecord, whenDue } from '../../../core/fleet/rollout/when-due.ts';
import type { StartLimits } from '../../../core/pod/request-life.ts';
import { freezeOf } from '../../../core/takeover/freeze.ts';
import { defined } from '@rollcall/base/defined.ts';
import type { FleetHead } from '../../../ports/stores/fleet-store.ts';
import { dealClusters, mustDeal } from './deal-clusters.ts';
import type { StepFleetsDependencies } from '../sight/dependencies.ts';
import { makeStep } from './make-step.ts';
import type { StepOutcome } from './step-of.ts';

/** Makes a step. Rejects when a table fails. */
export async function stepFleet(
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
  const record = freeze === undefined ? await dealIfNeeded(begun, fleet, dependencies) : begun;
  return makeStep({ fleet, record, known, limits, ...defined({ freeze }) }, dependencies);
}

/** What is recorded goes last: as long as its mirror stands, it is what has it removed. */
async function leave(
  known: FleetRecord | undefined,
  { rollouts, audience }: StepFleetsDependencies,
): Promise<StepOutcome> {
  if (known === undefined) return 'removed';
  if ((await audience.hide(known)) === 'later') return 'leaving';
  await rollouts.removeRollout(known);
  return 'removed';
}

/** The one that has its name now is shown in its place, whatever becomes of its mirror. */
async function makeWay(
  known: FleetRecord,
  { rollouts, audience }: StepFleetsDependencies,
): Promise<StepOutcome> {
  await audience.hide(known);
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

async function dealIfNeeded(
  record: FleetRecord,
  fleet: FleetDaemonSet,
  dependencies: StepFleetsDependencies,
): Promise<FleetRecord> {
  const { registry, clock } = dependencies;
  const registryRevision = await registry.readRegistryRevision();
  if (!mustDeal(record, registryRevision, clock.nowMs())) return record;
  return dealClusters({ record, fleet, registryRevision }, dependencies);
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
