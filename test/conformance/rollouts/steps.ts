/**
 * Whether a rollout with minReadySeconds went on in time after each step: every step of every rollout counts.
 *
 * A step is late by its own wait and what a quiet machine needs besides; only the latter stretches, with the work of
 * others (test/support/machine-pace.ts). One slow step asks for a second rollout, and one in eight is let pass, and
 * told. A wake-up that is lost is made up for by a resync, hours later: no stall of a machine looks like that. Pure.
 */
import { stretched } from '../../support/machine-pace.ts';

/** How long a pod must be ready. */
export const MIN_READY_SECONDS = 10;
/** From the wake-up that is due to the next pod, on a quiet machine. */
const BESIDES_MS = 2000;
const STALLED_STEP_MAX_MS = 40_000;
const ROLLOUTS_MAX = 2;
const SLOW_STEPS_MAX = 1;

export interface MeasuredRollout {
  readonly stepsMs: readonly number[];
  readonly slowdown: number;
}

/** `again`: one step was slow, and another rollout is to be measured. */
export type StepsVerdict =
  { readonly kind: 'passed' | 'again' } | { readonly kind: 'failed'; readonly why: string };

/** Judges all rollouts that were measured, the first one first. */
export function judgeSteps(rollouts: readonly MeasuredRollout[]): StepsVerdict {
  const steps = rollouts.flatMap(({ stepsMs, slowdown }) =>
    stepsMs.map((stepMs) => ({ stepMs, isSlow: stepMs > stepBoundMs(slowdown) })),
  );
  const lost = steps.find(({ stepMs }) => !(stepMs <= STALLED_STEP_MAX_MS));
  if (lost !== undefined) {
    return { kind: 'failed', why: `a wake-up was lost: a step took ${String(lost.stepMs)} ms` };
  }
  const slow = steps.filter(({ isSlow }) => isSlow).map(({ stepMs }) => stepMs);
  if (slow.length > SLOW_STEPS_MAX) {
    const why = `slow: ${slow.join(', ')} ms, of ${String(steps.length)} steps`;
    return { kind: 'failed', why };
  }
  const isProven = slow.length === 0 || rollouts.length >= ROLLOUTS_MAX;
  return { kind: isProven ? 'passed' : 'again' };
}

/** How long a step may take. */
export function stepBoundMs(slowdown: number): number {
  return MIN_READY_SECONDS * 1000 + stretched(BESIDES_MS, slowdown);
}
