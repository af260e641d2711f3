/**
 * Plays one seed under a profile and says whether every promise held.
 *
 * A promise that breaks is an expected outcome here, not an exception: programs that look for broken ones
 * (npm run sim, canaries) count and shrink them. Nothing outside of the world is touched, so seeds may run
 * side by side in threads, not at once in one thread.
 */
import { runSchedule } from './random-schedule.ts';

/** Which seed, and how much of it. */
export interface SeedRequest {
  readonly seed: number;
  /** Name of a profile; `combined-chaos` unless told. */
  readonly profile?: string;
  /** How many steps of churn; 40 unless told. */
  readonly steps?: number;
}

/** What came of a seed. */
export type SeedResult =
  | {
      readonly kind: 'held';
      readonly seed: number;
      readonly hash: string;
      readonly virtualMs: number;
      readonly fired: Readonly<Record<string, number>>;
      /** Deletes of available pods that were held against the budget (S3). */
      readonly judged: number;
    }
  | { readonly kind: 'broken'; readonly seed: number; readonly message: string };

const STEPS = 40;

/** Plays one seed to its end. */
export async function runSeed({ seed, steps = STEPS }: SeedRequest): Promise<SeedResult> {
  try {
    const { world, hash, fired, judged } = await runSchedule(seed, steps);
    const virtualMs = world.clock.monotonicMs();
    return { kind: 'held', seed, hash, virtualMs, fired: Object.fromEntries(fired), judged };
  } catch (error) {
    return {
      kind: 'broken',
      seed,
      message: error instanceof Error ? error.message : String(error),
    };
  }
}
