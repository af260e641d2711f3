/**
 * Ends the waits of a state that a clock ahead of ours recorded (row 14, L1).
 *
 * A state is written on one machine and read on another. It keeps when a wait ends and how long the wait is. If the
 * end is still more than twice that length away, the clock that wrote it was ahead, and the timer for it has fired
 * already. Waiting on would block the key for as long as the clocks differ, so the wait counts as over: the key
 * tries now, and a new refusal starts a longer wait by this clock. Intents and names are not touched: their times
 * are for safety, where too long does no harm.
 */
import type { DaemonSetState } from '../../../core/model/state.ts';

/** How much longer than it was to be a wait may last: jitter, and clocks that differ by a little. */
const LONGER_SHARE = 2;

/** Since when something lasts may be this far in the future: no machine's clock is that wrong by itself. */
export const CLOCKS_DIFFER_MS = 60_000;

/** The state without waits that began in the future. */
export function withoutWaitsAhead(state: DaemonSetState, nowMs: number): DaemonSetState {
  const isAhead = (delayMs: number, endsAtMs: number): boolean =>
    endsAtMs - nowMs > delayMs * LONGER_SHARE;
  const ended = <T extends { readonly delayMs: number; readonly notBeforeMs: number }>(
    wait: T,
  ): T => (isAhead(wait.delayMs, wait.notBeforeMs) ? { ...wait, notBeforeMs: nowMs } : wait);
  const { retry, refusals, refusedWrites, look, backoff, deferredSinceMs, ...rest } = state;
  const isDeferred = deferredSinceMs !== undefined && deferredSinceMs - nowMs <= CLOCKS_DIFFER_MS;
  const isLooking = look !== undefined && !isAhead(look.delayMs, look.atMs);
  return {
    ...rest,
    ...(retry === undefined ? {} : { retry: ended(retry) }),
    ...(refusals === undefined ? {} : { refusals: refusals.map(ended) }),
    ...(refusedWrites === undefined ? {} : { refusedWrites: refusedWrites.map(ended) }),
    ...(isLooking ? { look } : {}),
    backoff: backoff.map((entry) => {
      const { advancedAtMs, delayMs } = entry;
      const isOver = isAhead(delayMs, advancedAtMs + delayMs);
      return isOver ? { ...entry, advancedAtMs: nowMs - delayMs } : entry;
    }),
    ...(isDeferred ? { deferredSinceMs } : {}),
  };
}
