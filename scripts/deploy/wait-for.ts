/**
 * Waits until something holds that no event tells of: a server that comes up, a cluster that settles.
 *
 * A failure of asking is no reason to stop waiting, unless a program that is waited for has ended. Unit and property
 * tests do not use it: they wait on events, under a virtual clock.
 */
import { setTimeout as delay } from 'node:timers/promises';

/** How long, how often, and for what (used in the error). */
export interface WaitOptions {
  readonly what: string;
  readonly deadlineMs: number;
  readonly periodMs?: number;
  /** Ends the wait with its reason. */
  readonly signal?: AbortSignal;
}

const PERIOD_MS = 250;

/** A wait that ended before what it waited for. */
class WaitTimeoutError extends Error {
  override readonly name = 'WaitTimeoutError';
}

/**
 * Asks until the answer is not undefined, and returns it. Rejects with WaitTimeoutError, whose cause is the last
 * failure of asking, or with the signal's reason.
 */
export async function waitFor<Answer>(
  options: WaitOptions,
  ask: () => Promise<Answer | undefined>,
): Promise<Answer> {
  const { what, deadlineMs, periodMs = PERIOD_MS, signal } = options;
  const endsAtMs = performance.now() + deadlineMs;
  for (;;) {
    signal?.throwIfAborted();
    let cause: unknown;
    try {
      const answer = await ask();
      if (answer !== undefined) return answer;
    } catch (error) {
      if (error instanceof Error && error.name === 'ComponentExitedError') throw error;
      cause = error;
    }
    if (performance.now() > endsAtMs) {
      throw new WaitTimeoutError(`${what}: not within ${String(Math.round(deadlineMs / 1000))} s`, {
        cause,
      });
    }
    await delay(periodMs, undefined, signal === undefined ? {} : { signal });
  }
}
