/**
 * Waiting for a program to come up, the one place where nothing sends an event.
 *
 * Tests do not use it: they wait on the observer's events.
 */
import { setTimeout as delay } from 'node:timers/promises';

/** How long, how often, and for what (used in the error). */
export interface PollOptions {
  readonly deadlineMs: number;
  readonly description: string;
  /** Up to which the pause between two questions grows with the time so far; it does not if absent. */
  readonly pauseMaxMs?: number;
}

const PAUSE_MIN_MS = 25;
/** Of the time so far, where the pause grows: a wait gets longer by a fifth at most. */
const PAUSE_SHARE = 0.2;

/** Asks until the answer is not undefined; the error after the deadline has the last failure as cause. */
export async function pollUntil<Answer>(
  options: PollOptions,
  ask: () => Promise<Answer | undefined> | Answer | undefined,
): Promise<Answer> {
  const { deadlineMs, pauseMaxMs = PAUSE_MIN_MS } = options;
  const beganAtMs = performance.now();
  for (;;) {
    let cause: unknown;
    try {
      const answer = await ask();
      if (answer !== undefined) return answer;
    } catch (error) {
      if (isFatal(error)) throw error;
      cause = error;
    }
    const elapsedMs = performance.now() - beganAtMs;
    if (elapsedMs > deadlineMs) {
      throw new Error(`${options.description}: not within ${String(deadlineMs)} ms`, {
        cause,
      });
    }
    await delay(Math.min(Math.max(elapsedMs * PAUSE_SHARE, PAUSE_MIN_MS), pauseMaxMs));
  }
}

function isFatal(error: unknown): boolean {
  return error instanceof Error && error.name === 'ComponentExitedError';
}
