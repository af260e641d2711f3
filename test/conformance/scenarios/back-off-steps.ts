/**
 * Whether failed pods were replaced when their back-off ended: each of them counts. Pure.
 *
 * Only the time after the end of the back-off stretches, with the work of others (test/support/machine-pace.ts). A step
 * during which the engine was restarted waits for its start besides; one that waits for a resync waits for hours.
 */
import { stretched } from '../../support/machine-pace.ts';

/** A pod that failed, and was deleted for its successor. */
export interface BackOffStep {
  readonly backOffMs: number;
  /** Since the deletion before. */
  readonly waitedMs: number;
  /** After the end of the back-off. */
  readonly lateMs: number;
  readonly isRestarted: boolean;
}

const LATE_MS_MAX = 2500;
const RESTARTED_LATE_MS_MAX = 20_000;

export function findWrongSteps(
  steps: readonly BackOffStep[],
  slowdown: number,
): readonly BackOffStep[] {
  return steps.filter(({ backOffMs, waitedMs, lateMs, isRestarted }) => {
    const lateMsMax = isRestarted ? RESTARTED_LATE_MS_MAX : stretched(LATE_MS_MAX, slowdown);
    // Half of it: between the decision and its request a machine may stall.
    return !(waitedMs >= backOffMs / 2 && lateMs <= lateMsMax);
  });
}
