/**
 * A write that the API server refused is sent again by its back-off, and by no hint before (A.9).
 *
 * A webhook that says no to a status says no to the next one as well; forty changes of nodes are no reason to ask it
 * forty times. An edited DaemonSet is another matter. Each kind of write waits for itself: two that are refused at
 * once would else take turns, each ending the other's wait. There are as many entries as kinds. Pods have back-offs of their own, node by node (retry.ts).
 *
 * Differs from upstream: it tries at every event.
 */
import type { DaemonSetState, RetryEntry } from '../../core/model/state.ts';
import type { Subject } from './context.ts';
import type { Problem } from './ledger.ts';
import type { RefusedWrite } from './result.ts';
import { nextRetry } from './retry.ts';
import type { RetryClock, RetryReason } from './retry.ts';

/** The problem of a write that was refused, and is not to be sent yet; undefined: it may be sent. */
export function heldWrite(
  code: RefusedWrite,
  { state, daemonSet, nowMs }: Pick<Subject, 'state' | 'daemonSet' | 'nowMs'>,
): Problem | undefined {
  const entry = findRefusal(state, { code, generation: generationOf(daemonSet) });
  if (entry === undefined || entry.notBeforeMs <= nowMs) return undefined;
  const message = 'the API server refused this write; it is sent again after its back-off';
  return { code, message, pace: 'backoff' };
}

type Refusals = Pick<DaemonSetState, 'refusedWrites' | 'retry'>;

/** The back-off of that write of that generation; also where a release before this one kept it. */
function findRefusal(
  { refusedWrites = [], retry }: Refusals,
  of: { readonly code: string; readonly generation: number },
): RetryEntry | undefined {
  const all = retry === undefined ? refusedWrites : [...refusedWrites, retry];
  return all.find(({ code, generation }) => code === of.code && generation === of.generation);
}

/**
 * The entries after a run that met these refusals, or was held by them. One that waits stays as it is, whatever made
 * this run look (L5); one that this run did not get to is kept a while, so that its delay can grow.
 */
export function nextRefusedWrites(
  stored: Refusals,
  refused: readonly RetryReason[],
  at: RetryClock & { readonly generation: number },
): readonly RetryEntry[] {
  const { generation, nowMs } = at;
  const met = new Map<string, RetryEntry>();
  for (const reason of refused) {
    const former = findRefusal(stored, { code: reason.code, generation });
    const isWaiting = former !== undefined && former.notBeforeMs > nowMs;
    met.set(reason.code, isWaiting ? former : nextRetry(former, { ...reason, generation }, at));
  }
  const others = (stored.refusedWrites ?? []).filter(
    (entry) =>
      !met.has(entry.code) &&
      entry.generation === generation &&
      nowMs < entry.notBeforeMs + entry.delayMs,
  );
  return [...others, ...met.values()].sort((left, right) => (left.code < right.code ? -1 : 1));
}

/** metadata.generation, for what is refused of it. */
export function generationOf({ metadata }: Subject['daemonSet']): number {
  return metadata.generation ?? 0;
}

/** True if a back-off with this code is of a refused write. */
export function isRefusedWrite(code: string): code is RefusedWrite {
  return code.endsWith('-refused');
}
