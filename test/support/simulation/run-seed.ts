/**
 * Plays one seed under a profile and says whether every promise held.
 *
 * A promise that breaks is an expected outcome here, not an exception: programs that look for broken ones
 * (npm run sim, canaries) count and shrink them. Nothing outside of the world is touched, so seeds may run
 * side by side in threads, not at once in one thread.
 */
import { drawPlan } from './draw-plan.ts';
import { drawHunt, isHuntName } from './hunts.ts';
import { playPlan, type PlayResult } from './play-plan.ts';

/** Which seed, and how much of it. */
export interface SeedRequest {
  readonly seed: number;
  /** Name of a profile or a hunt, or `mixed`, which is the default. */
  readonly profile?: string;
  /** How many steps of churn and misfortune; a hunt has as many as it has. */
  readonly steps?: number;
}

/** Steps of a seed unless told. */
export const STEPS_UNLESS_TOLD = 40;

/** Plays one seed to its end. */
export function runSeed(request: SeedRequest): Promise<PlayResult> {
  const { seed, profile = 'mixed', steps = STEPS_UNLESS_TOLD } = request;
  return playPlan(
    isHuntName(profile) ? drawHunt(profile, seed) : drawPlan({ seed, profile, stepsCount: steps }),
  );
}
