/**
 * Waiting: delays between tries that failed, and for a promise no longer than a signal allows.
 *
 * Takes no time itself: callers sleep through the Clock port.
 */
import { jittered } from './ports/random.ts';
import type { Random } from './ports/random.ts';

interface BackoffOptions {
  readonly baseMs: number;
  readonly capMs: number;
}

/**
 * Delays of one loop: doubling, jittered, never shorter than the server asked for. The first is short, because most
 * failures are one dropped connection; the cap bounds how long a healed dependency goes unnoticed.
 */
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

/**
 * The promise's value, or `aborted` if the signal was first; its late answer is dropped then. Rejects as the promise
 * does. For requests that cannot be cancelled (a send), and must not hold up a stop.
 */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | 'aborted'> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      resolve('aborted');
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    promise.then(
      (value) => {
        signal.removeEventListener('abort', stop);
        resolve(value);
      },
      (cause: unknown) => {
        signal.removeEventListener('abort', stop);
        reject(cause instanceof Error ? cause : new Error('request failed', { cause }));
      },
    );
  });
}
