/**
 * Slow start: how many creates the next batch has, and when to stop (spec 2.8; design 3, step 7).
 *
 * Batches double from one while they succeed, so a systematic failure costs few requests. Trouble
 * (nothing certain came back) stops after its batch, as upstream does. A refusal belongs to its node:
 * others go on beside it, but a row of refusals without one success in between is systematic too.
 * Pure: counts in, a decision out.
 *
 * Differs from upstream: a refused pod does not stop the creates of other nodes; a warm process starts
 * with the batch size that a flawless run of the same generation ended with moments ago (paces.ts).
 */

/** Refusals in a row after which the run stops trying other nodes. */
export const REFUSALS_IN_A_ROW_MAX = 16;

/** Where slow start stands. */
export interface SlowStart {
  readonly batchSize: number;
  readonly refusedInARow: number;
}

/** What came of one batch. */
export interface BatchTally {
  readonly done: number;
  readonly refused: number;
  /** Unsent, ambiguous, or otherwise without a certain answer. */
  readonly trouble: number;
}

/** The first batch has one create. */
export const SLOW_START: SlowStart = { batchSize: 1, refusedInARow: 0 };

/** The next step, or why to stop. */
export type SlowStartDecision =
  | { readonly kind: 'continue'; readonly next: SlowStart }
  | { readonly kind: 'stop'; readonly reason: 'trouble' | 'all-refused' };

/** Decides after a batch. */
export function continueSlowStart(
  current: SlowStart,
  tally: BatchTally,
  batchPodsMax: number,
): SlowStartDecision {
  if (tally.trouble > 0) return { kind: 'stop', reason: 'trouble' };
  const refusedInARow = tally.done > 0 ? 0 : current.refusedInARow + tally.refused;
  if (refusedInARow >= REFUSALS_IN_A_ROW_MAX) return { kind: 'stop', reason: 'all-refused' };
  const batchSize =
    tally.done > 0 ? Math.min(current.batchSize * 2, batchPodsMax) : current.batchSize;
  return { kind: 'continue', next: { batchSize, refusedInARow } };
}
