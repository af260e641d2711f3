/**
 * A write that the API server refused is sent again by its back-off, and by no hint before (A.9).
 *
 * A webhook that refuses one status refuses the next one too, so forty changes of nodes must not send forty writes.
 * An edit of the DaemonSet ends the wait, because it may be the remedy. Each kind of write has an entry of its own;
 * with one entry for all, two refused kinds would end each other's wait in turn. Pods have a back-off for each node
 * instead (retry.ts).
 *
 * Differs from upstream: it tries at every event.
 */
import type { DaemonSetState, RetryEntry } from '../../../core/model/state.ts';
import type { Subject } from './context.ts';
import type { Problem } from './ledger.ts';
import type { RefusedWrite } from './result.ts';
import { nextRetry } from '../process/retry.ts';
import type { RetryClock, RetryReason } from '../process/retry.ts';

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

/** The back-off of that write of that generation; in `retry` where its refusal ended the run. */
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
