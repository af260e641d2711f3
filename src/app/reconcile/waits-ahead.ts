/**
 * Ends the waits of a state that a clock ahead of ours recorded (row 14, L1).
 *
 * A state is written on one machine and read on another. A wait is kept as the moment of its end, beside how long
 * it was to be: one that lasts twice as long yet was begun by a clock that was ahead, and its timer came long ago.
 * To wait for that moment would be to stand still by as much as the clocks differ. So it is over: the key tries
 * now, and what is refused again waits longer than before, by this clock. Bounds what a wrong clock costs; says
 * nothing of intents and names, whose times are for safety and may only be too long.
 */
import type { DaemonSetState } from '../../core/model/state.ts';

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
