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
}

const PERIOD_MS = 25;

/** Asks until the answer is not undefined; the error after the deadline has the last failure as cause. */
export async function pollUntil<Answer>(
  options: PollOptions,
  ask: () => Promise<Answer | undefined> | Answer | undefined,
): Promise<Answer> {
  const endsAtMs = performance.now() + options.deadlineMs;
  for (;;) {
    let cause: unknown;
    try {
      const answer = await ask();
      if (answer !== undefined) return answer;
    } catch (error) {
      if (isFatal(error)) throw error;
      cause = error;
    }
    if (performance.now() > endsAtMs) {
      throw new Error(`${options.description}: not within ${String(options.deadlineMs)} ms`, {
        cause,
      });
    }
    await delay(PERIOD_MS);
  }
}

function isFatal(error: unknown): boolean {
  return error instanceof Error && error.name === 'ComponentExitedError';
}
