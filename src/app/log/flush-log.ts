/**
 * Gives the entries of a state an item of their own once there are enough of them, before the write that drops them.
 *
 * A crash in between leaves them in both places, and readers see each once. An item that cannot be written costs nothing but
 * room in the state, which is bounded: no run waits for its log.
 */
import { allDays } from '../../core/coverage/kept-days.ts';
import { endOfTraceMs } from '../../core/coverage/trace.ts';
import { leavingLog, withoutLeft } from '../../core/log/append-log.ts';
import type { LogItem, StateLog } from '../../core/model/log-entry.ts';
import type { StateChange } from '../../core/plan/invariants.ts';
import type { Uid } from '../../core/model/identifiers.ts';
import { orUnreadable } from '../../ports/stores/or-unreadable.ts';
import { isItemTooLarge } from '../../ports/stores/view-store.ts';
import type {
  CoverageStore,
  DaemonSetRef,
  LogStore,
  NamespacedName,
  StateStore,
} from '../../ports/stores/view-store.ts';
import type { Hint } from '../../core/model/hint.ts';
import type { Log } from '@rollcall/base/ports/log.ts';

interface Flushing {
  readonly ref: DaemonSetRef;
  readonly context: {
    readonly hint: Hint;
    readonly dependencies: { readonly view: Pick<LogStore, 'putLogItem'>; readonly log: Log };
  };
}

interface KeepingLog {
  readonly view: Pick<
    LogStore & CoverageStore & StateStore,
    'putLogItem' | 'putCoverageDays' | 'readState'
  >;
  readonly log: Log;
}

/** The change as it is to be written: without the entries that have an item now. */
export async function flushLog(
  change: StateChange,
  { ref, context }: Flushing,
): Promise<StateChange> {
  const leaving = leavingLog(change);
  if (leaving === undefined) return change;
  const { hint, dependencies } = context;
  const item = itemOf(leaving, { uid: ref.uid, name: hint.key, version: change.from.version });
  try {
    await dependencies.view.putLogItem(ref.clusterUid, item);
  } catch (error) {
    dependencies.log.warn('entries of the log stay in the state', { error: String(error) });
    return change;
  }
  return { ...change, to: withoutLeft(change.to, leaving) };
}

/**
 * Gives entries and days of a DaemonSet that is gone an item each, before its state is removed. Rejects when the table fails, so
 * that the state stays and its removal is tried again. A state that cannot be read and an item that is too large are lost with one
 * line of the log: they would hold up the view of their cluster for ever.
 */
export async function keepLogOfGone(
  { clusterUid, uid }: DaemonSetRef,
  name: NamespacedName,
  { view, log }: KeepingLog,
): Promise<void> {
  const read = await orUnreadable(() => view.readState({ clusterUid, uid }));
  if (read.kind === 'unreadable') {
    log.warn('entries of the log go with their state', { uid, error: read.problem });
    return;
  }
  const { value: state } = read;
  try {
    if (state?.coverage !== undefined) {
      const days = { ...name, uid, ...allDays(state.coverage.days) };
      await view.putCoverageDays(clusterUid, days);
    }
    if (state?.log === undefined) return;
    await view.putLogItem(clusterUid, itemOf(state.log, { uid, name, version: state.version }));
  } catch (error) {
    if (!isItemTooLarge(error)) throw error;
    log.warn('entries of the log go with their state', { uid, error: String(error) });
  }
}

function itemOf(
  log: StateLog,
  of: { readonly uid: Uid; readonly name: NamespacedName; readonly version: number },
): LogItem {
  const { namespace, name } = of.name;
  const { entries, leftOut, coverage } = log;
  const counted = coverage === undefined ? [] : [endOfTraceMs(coverage)];
  const times = [...entries.map(({ atMs }) => atMs), ...counted, leftOut?.toMs ?? 0];
  return {
    ...log,
    subject: { kind: 'daemon-set', namespace, name, uid: of.uid },
    atMs: Math.max(...times),
    token: `${of.uid}/${String(of.version)}`,
  };
}
