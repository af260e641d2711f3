/** A seed played to its end, for tests: throws when a promise was broken. */
import type { PlayHeld } from './play-plan.ts';
import { runSeed } from './run-seed.ts';

/** Plays a seed; throws when a promise was broken. */
export async function runSchedule(seed: number, steps: number): Promise<PlayHeld> {
  const result = await runSeed({ seed, steps });
  if (result.kind === 'held') return result;
  const { rule, finding, during, atMs, trace } = result;
  throw new Error([`${rule} at ${atMs} in ${during}: ${finding}`, ...trace.slice(-30)].join('\n'));
}
