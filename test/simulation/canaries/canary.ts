/** What a canary says of itself (canaries.ts). */
import type { Mutant } from '../../support/mutants.ts';

export interface Canary extends Mutant {
  /** What it is, and who had it. */
  readonly bug: string;
  /** Promises of which one must break. */
  readonly breaks: readonly string[];
  /** Where it is looked for: a profile of the simulation (`mixed` for all), or a hunt. */
  readonly in: string;
  /** Where the search begins, if what finds it is rare and known; absent: with seed 1. */
  readonly firstSeed?: number;
  /** Seeds from the first within which it must be found. */
  readonly seedsMax: number;
  /** Found within a second or two: part of `npm test`. */
  readonly isQuick?: boolean;
}
