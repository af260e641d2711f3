/**
 * Counts coverage with a state that a run writes anyway, and gives days that are over an item of their own (core/coverage).
 *
 * No write is made for a count alone, but by a run that sees other numbers than the last one counted and has nothing else to tell.
 */
import { defined } from '@rollcall/base/defined.ts';
import { countCoverage, putOff } from '../../core/coverage/count-coverage.ts';
import { leavingDays, withoutDays } from '../../core/coverage/kept-days.ts';
import type { SeenCoverage } from '../../core/coverage/see-nodes.ts';
import { doubtfulSince, momentOfView } from '../../core/coverage/view-moment.ts';
import { traceCount } from '../../core/coverage/trace.ts';
import { computeView } from '../../core/view/view.ts';
import type { View } from '../../core/model/plan.ts';
import type { ReconcileInput } from '../reconcile/run/context.ts';
import type { Hint } from '../../core/model/hint.ts';
import type { CoverageRecord, DaemonSetState } from '../../core/model/state.ts';
import type { ClusterMeta } from '../../core/model/view-items.ts';
import type { StateChange } from '../../core/plan/invariants.ts';
import { MISSED_AFTER_MS, type StopSpan } from '../../core/status/outages.ts';
import type { FreezeStore } from '../../ports/stores/freeze-store.ts';
import type { CoverageStore, DaemonSetRef } from '../../ports/stores/view-store.ts';
import type { Log } from '@rollcall/base/ports/log.ts';

interface Counting {
  readonly context: {
    readonly hint: Hint;
    readonly dependencies: {
      readonly view: Pick<CoverageStore, 'putCoverageDays'>;
      readonly freezes: Pick<FreezeStore, 'readStops'>;
      readonly log: Log;
    };
  };
  readonly input: {
    readonly stored: {
      readonly meta: Pick<
        ClusterMeta,
        'lastSentAtMs' | 'heardAtMs' | 'isCutOpen' | 'unheardMs' | 'broken' | 'announcedAtMs'
      >;
      readonly ref: DaemonSetRef;
    };
    readonly state: Pick<DaemonSetState, 'dueAtMs'>;
    readonly nowMs: number;
  };
}

/** The view as the watcher told it: pods that a run read live are younger than its nodes, and never were there beside them. */
export function toldView(
  input: Pick<ReconcileInput, 'daemonSet' | 'read' | 'shown' | 'view' | 'nowMs'>,
): View {
  const { daemonSet, read, shown, view, nowMs } = input;
  return read.pods === shown ? view : computeView({ daemonSet, ...read, pods: shown, nowMs });
}

/** True if a run sees other numbers than were counted last; or nothing that can be counted, for the first time. */
export function isNews(
  seen: SeenCoverage,
  counted: CoverageRecord | undefined,
  meta: Pick<ClusterMeta, 'heardAtMs' | 'isCutOpen'>,
): boolean {
  if (counted === undefined) return false;
  if (momentOfView(meta) === undefined) return counted.putOffSince === undefined;
  const { eligible, covered, joined } = seen;
  return eligible !== counted.eligible || covered !== counted.covered || joined.length > 0;
}

/** The change as it is to be written: with what was seen counted from `from` on. */
export async function noteCoverage(
  { from, to, ...rest }: StateChange,
  seen: SeenCoverage,
  { context, input }: Counting,
): Promise<StateChange> {
  const { meta, ref } = input.stored;
  const { lastSentAtMs, unheardMs = 0, broken, announcedAtMs: wholeSinceMs } = meta;
  const { dueAtMs } = input.state;
  const before = from.coverage;
  const { nowMs } = input;
  // The view is as of then: what changed since is told by the next message.
  const viewAtMs = momentOfView(meta);
  if (viewAtMs === undefined) {
    const coverage = putOff(before, doubtfulSince(meta, nowMs));
    return { ...rest, from, to: { ...to, ...defined({ coverage }) } };
  }
  const stops = await readStops(before, { context, input });
  const untilMs = Math.min(nowMs, viewAtMs);
  const heard = { lastSentAtMs, unheardMs, broken, wholeSinceMs };
  const moment = { nowMs, untilMs, ...heard, stops, dueAtMs };
  const counted = countCoverage(before, seen, moment);
  const trace = traceCount(to.log?.coverage, before, { ...counted, joined: seen.joined });
  const log = trace === undefined ? to.log : { entries: [], ...to.log, coverage: trace };
  const coverage = await keepDays(before, counted.record, { ref, context });
  return { ...rest, from, to: { ...to, coverage, ...defined({ log }) } };
}

/** Nothing is read while runs follow each other: no stop is as short. Where it cannot be read, all of the time is unknown. */
async function readStops(
  before: CoverageRecord | undefined,
  { context: { dependencies }, input: { nowMs } }: Counting,
): Promise<readonly StopSpan[]> {
  if (before === undefined || nowMs - before.at * 1000 < MISSED_AFTER_MS) return [];
  try {
    return await dependencies.freezes.readStops();
  } catch (error) {
    dependencies.log.warn('stops cannot be read: coverage is unknown', { error: String(error) });
    return [[before.at * 1000, nowMs]];
  }
}

/** The record as it is to be written: without the days that have an item now. */
async function keepDays(
  before: CoverageRecord | undefined,
  next: CoverageRecord,
  { ref, context: { hint, dependencies } }: Pick<Counting, 'context'> & { ref: DaemonSetRef },
): Promise<CoverageRecord> {
  const leaving = leavingDays(before, next);
  if (leaving === undefined) return next;
  const { namespace, name } = hint.key;
  const days = { namespace, name, uid: ref.uid, ...leaving };
  try {
    await dependencies.view.putCoverageDays(ref.clusterUid, days);
  } catch (error) {
    dependencies.log.warn('days of coverage stay in the state', { error: String(error) });
    return next;
  }
  return withoutDays(next, leaving);
}
