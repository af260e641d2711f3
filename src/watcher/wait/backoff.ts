/**
 * Delays between tries that failed: doubling, jittered, never shorter than the server asked for.
 *
 * One instance per loop. The first delay is short, because most failures are one dropped connection;
 * the cap bounds how long a healed dependency goes unnoticed. Takes no time itself: callers sleep
 * through the Clock port.
 */
import { jittered } from '@rollcall/base/ports/random.ts';
import type { Random } from '@rollcall/base/ports/random.ts';

interface BackoffOptions {
  readonly baseMs: number;
  readonly capMs: number;
}

/** Delays of one loop. */
export interface Backoff {
  /** The next delay: at least `retryAfterMs`, if the server gave one. */
  nextMs(retryAfterMs?: number): number;
  /** Something worked: start over from the base. */
  reset(): void;
}

/** Creates a back-off of ±25 % jitter. */
export function createBackoff(random: Random, options: BackoffOptions): Backoff {
  let delayMs = options.baseMs;
  return {
    nextMs: (retryAfterMs = 0) => {
      const ownMs = jittered(random, delayMs, 0.25);
      delayMs = Math.min(delayMs * 2, options.capMs);
      return Math.max(ownMs, retryAfterMs);
    },
    reset: () => {
      delayMs = options.baseMs;
    },
  };
}
