/**
 * How long the open step of a staged rollout has been well, by our clock (issue 17).
 *
 * Only what was looked at counts: a restart, a pod that was not ready in between, a canary node that was lost, another watcher, or as much
 * darkness as the soak is long begins it anew. A view that is too old for a moment shuts the gate (stages/gate.ts) and loses
 * nothing. Values in, values out; which nodes have to be well is the caller's.
 */
import type { OpenStep, RolloutRecord } from '../model/rollout-record.ts';

/** What one look knows of it. */
export interface SoakMoment {
  readonly nowMs: number;
  readonly soakMs: number;
  /** Of pods of the revision, all together. */
  readonly restarts: number;
  /** Era and epoch of the view. */
  readonly seenView: string;
  readonly isViewFresh: boolean;
  /** Sum of all times in the dark. */
  readonly unheardMs: number;
}

/** Since when a step is well after another look; nothing where it is not. */
export type Soak = Pick<OpenStep, 'wellSinceMs' | 'unheardMs'>;

/** A soak goes on if nothing disturbed it, and begins now otherwise; `isWell`: all that has to be well is. */
export function soakAfter(
  record: RolloutRecord,
  at: SoakMoment & { readonly isWell: boolean },
): Soak {
  const { step } = record;
  if (!at.isWell || !mayCount(step, at.isViewFresh)) return {};
  const isUndisturbed = at.seenView === record.seenView && !hasStumbled(record, at.restarts);
  return continued(step, isUndisturbed, at);
}

/** True if it was over, and is not any more: what waited for a person or a window is no lack of progress, so a deadline counts from here. */
export function isSoakLost(
  { wellSinceMs }: OpenStep,
  after: Soak,
  { nowMs, soakMs }: SoakMoment,
): boolean {
  if (wellSinceMs === undefined || after.wellSinceMs !== undefined) return false;
  return nowMs - wellSinceMs >= soakMs;
}

/** A view that is too old for a moment shuts the gate; what was well before it is not lost, and nothing begins in it. */
function mayCount({ wellSinceMs }: OpenStep, isViewFresh: boolean): boolean {
  return isViewFresh || wellSinceMs !== undefined;
}

/**
 * Time in the dark is taken out of it: the same watcher tells afterwards what became of pods, but nobody looked. As much of it as
 * a whole soak begins it anew.
 */
function continued(
  { wellSinceMs, unheardMs = 0 }: OpenStep,
  isUndisturbed: boolean,
  { nowMs, soakMs, unheardMs: nowUnheardMs }: SoakMoment,
): Soak {
  const known = nowUnheardMs === 0 ? {} : { unheardMs: nowUnheardMs };
  const darkMs = nowUnheardMs - unheardMs;
  const isLost = darkMs < 0 || (darkMs > 0 && darkMs >= soakMs);
  if (!isUndisturbed || wellSinceMs === undefined || isLost)
    return { wellSinceMs: nowMs, ...known };
  return { wellSinceMs: Math.min(wellSinceMs + darkMs, nowMs), ...known };
}

function hasStumbled(record: RolloutRecord, restarts: number): boolean {
  return restarts > record.restarts || hasTurned(record) || hasLost(record);
}

/** A pod was not ready in between, also where no run saw it: what it showed before is no part of the soak. */
function hasTurned({ step: { wellSinceMs = Infinity }, turns = [] }: RolloutRecord): boolean {
  return turns.some(({ turnedAtMs = 0 }) => turnedAtMs > wellSinceMs);
}

/** A canary node was lost since: what goes on without it has to soak as long. */
function hasLost({ step: { wellSinceMs = Infinity }, losses = [] }: RolloutRecord): boolean {
  return losses.some(({ atMs }) => atMs > wellSinceMs);
}
