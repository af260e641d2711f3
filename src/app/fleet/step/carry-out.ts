/**
 * Carries a step out: the record by compare-and-set, then judgements, gifts, and what is told. A
 * step that loses the record has sent nothing. Decisions are in the record, so a process that dies
 * before it told them leaves them to the next step.
 */
import { defined } from '@rollcall/base/defined.ts';
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import type { FleetStep } from '../../../core/fleet/rollout/advance-fleet.ts';
import { untoldOf } from '../../../core/fleet/rollout/fleet-decision.ts';
import type {
  FleetClusterRecord,
  FleetRecord,
  MemberList,
  UntoldDecision,
} from '../../../core/fleet/rollout/fleet-record.ts';
import { isSameRecord, whenDue } from '../../../core/fleet/rollout/when-due.ts';
import { READ_AT_ONCE, type StepFleetsDependencies } from '../observe/dependencies.ts';
import { giveClusters, type ClusterApply } from './give-clusters.ts';
import type { ObservedClusters } from '../observe/observe-clusters.ts';
import type { FleetDaemonSet } from '../../../core/fleet/fleet-daemon-set.ts';
import type { StartLimits } from '../../../core/pod/request-life.ts';
import type { FreezeNote } from '../../../core/may-act/freeze.ts';

interface StepResult extends Pick<StepOf, 'known' | 'limits'> {
  /** The record as it is to be written, but for its due time and what is to be told. */
  readonly next: FleetRecord;
  readonly decision?: NonNullable<FleetStep['decision']>;
  readonly applies: readonly ClusterApply[];
  readonly seen: readonly ObservedClusters[];
}

/** Carries it out. Rejects when a table fails. */
export async function carryOut(
  result: StepResult,
  dependencies: StepFleetsDependencies,
): Promise<StepOutcome> {
  const { known, decision, applies } = result;
  const { rollouts, clock, metrics, notifier } = dependencies;
  const nowMs = clock.nowMs();
  const next = recordOf(result, nowMs);
  const isSame = known !== undefined && isSameRecord(known, next);
  // A record that only falls due later is written once it is due: who waits for days writes nothing meanwhile.
  const isToWrite = !isSame || known.dueAtMs <= nowMs;
  if (isToWrite && (await rollouts.writeRecord(next)) === 'lost') {
    metrics.count('FleetSteps', { outcome: 'lost' });
    return 'lost';
  }
  const record = isToWrite ? { ...next, version: next.version + 1 } : next;
  tellHold(known, record, dependencies);
  await writeJudgements(record, result, dependencies);
  await giveClusters({ applies, record, limits: result.limits }, dependencies);
  await tell({ record, former: known?.untold ?? [] }, dependencies);
  if (!isSame) await notifier.show(record);
  await removeFormerLists(known, record, dependencies);
  const changed = isSame ? 'unchanged' : 'stepped';
  const outcome = decision === undefined ? changed : 'decided';
  metrics.count('FleetSteps', { outcome });
  return outcome;
}

function recordOf({ next, known, decision, seen }: StepResult, nowMs: number): FleetRecord {
  const after = { ...next, dueAtMs: whenDue(next, nowMs) };
  const failed = changesIn(seen).filter(({ phase }) => phase === 'failed');
  const untold = untoldOf({ before: known, after, failed, nowMs, ...defined({ decision }) });
  return { ...after, untold };
}

/** Counted and logged once when it begins: it is no decision, but an operator has to act. */
function tellHold(
  known: FleetRecord | undefined,
  { gate, namespace, name }: FleetRecord,
  { log, metrics }: Pick<StepFleetsDependencies, 'log' | 'metrics'>,
): void {
  if (gate.kind !== 'refused' || known?.gate.kind === 'refused') return;
  const { cluster, message } = gate;
  metrics.count('FleetDecisions', { outcome: 'held' });
  log.warn('a stage of a fleet is held, since a cluster would refuse it', {
    ...{ fleet: `${namespace}/${name}`, cluster, detail: message },
  });
}

/** Records that a judgement changed; a cluster that two lists have is in it once. */
function changesIn(seen: readonly ObservedClusters[]): readonly FleetClusterRecord[] {
  const changed = seen.flatMap((one) => one.changed);
  return [...new Map(changed.map((record) => [record.cluster, record])).values()];
}

/** Of clusters that are given nothing: what is given something is written with it. Who loses one leaves it to the next step. */
async function writeJudgements(
  fleet: FleetRecord,
  { seen, applies }: StepResult,
  { rollouts }: StepFleetsDependencies,
): Promise<void> {
  const given = new Set(applies.map(({ cluster }) => cluster.registration.id));
  const changed = changesIn(seen).filter(({ cluster }) => !given.has(cluster));
  await sideBySide(changed, READ_AT_ONCE, (record) => rollouts.writeClusterRecord(fleet, record));
}

/** The decisions of the write before once more, since who wrote them may have died; their ids are the same. */
async function tell(
  { record, former }: { readonly record: FleetRecord; readonly former: readonly UntoldDecision[] },
  { notifier, log, metrics }: StepFleetsDependencies,
): Promise<void> {
  const { namespace, name, untold } = record;
  const ids = new Set(former.map(({ id }) => id));
  const fresh = untold.filter(({ id }) => !ids.has(id));
  const all = [...former, ...fresh];
  if (all.length > 0) await notifier.tell(all.map((one) => ({ ...one, record })));
  for (const { kind, message } of fresh) {
    metrics.count('FleetDecisions', { outcome: kind });
    log.info('a fleet was decided on', { fleet: `${namespace}/${name}`, kind, detail: message });
  }
}

async function removeFormerLists(
  known: FleetRecord | undefined,
  record: FleetRecord,
  { rollouts }: StepFleetsDependencies,
): Promise<void> {
  if (known === undefined || !hasOtherLists(known, record)) return;
  await rollouts.removeMembersBut(record, listsOf(record));
}

function listsOf({ stages, ring }: FleetRecord): readonly MemberList[] {
  return [...stages.map(({ members }) => members), ring];
}

function hasOtherLists(before: FleetRecord, after: FleetRecord): boolean {
  const idsOf = (record: FleetRecord): string =>
    listsOf(record)
      .map(({ id }) => id)
      .join();
  return idsOf(before) !== idsOf(after);
}

export interface StepOf {
  readonly fleet: FleetDaemonSet;
  /** As it is after beginning and dealing; not yet written where it is not `known`. */
  readonly record: FleetRecord;
  /** As it is stored. */
  readonly known: FleetRecord | undefined;
  readonly freeze?: FreezeNote;
  /** No request to a cluster starts after these. */
  readonly limits: StartLimits;
}

export type StepOutcome =
  /** It was decided on, and there may be more to decide at once. */
  | 'decided'
  | 'stepped'
  /** Nothing moved. */
  | 'unchanged'
  /** Another process wrote the record. */
  | 'lost'
  | 'invalid'
  /** It is gone, and its mirror could not be removed yet. */
  | 'leaving'
  | 'removed';
