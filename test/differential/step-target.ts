/**
 * What a step is applied to, and what came of it.
 */
import type { Side } from './pair.ts';
import type { Place } from './place.ts';

/** `done`, `skipped` (its subject is missing), or the status with which the API server refused. */
export type StepOutcome = string;

/** One cluster, and where on it. */
export interface StepTarget {
  readonly side: Side;
  readonly place: Place;
  /** Makes names of what the step creates unique within the place. */
  readonly index: number;
}
