/**
 * When time alone changes what a pod is evidence of: for that moment a run has to be sent, since nothing else will come.
 *
 * A pod that stays as it is sends no message: not one that waits for its image, nor one that never starts. The moments are
 * those of pod-evidence.ts, and it judges. A moment that passed is none, so looks have an end.
 */
import type { PodProjection } from '../model/projections.ts';
import { waitingMeaning } from './failure-words.ts';
import { RETRIED_AFTER_MS, isHeldBack } from './pod-evidence.ts';

/** The next such moment, if the pod stays as it is. */
export function judgedAgainAtMs(
  pod: PodProjection,
  { nowMs, graceMs }: { readonly nowMs: number; readonly graceMs: number },
): number | undefined {
  if (pod.isTerminating) return undefined;
  const moments: number[] = [];
  const word = pod.trouble?.waiting;
  const isRetried = word !== undefined && waitingMeaning(word)?.isCertain === false;
  if (isRetried) moments.push(pod.createdAtMs + RETRIED_AFTER_MS);
  if (!pod.isReady && !isHeldBack(pod)) {
    moments.push(Math.max(pod.createdAtMs, pod.readyChangedAtMs ?? 0) + graceMs);
  }
  const future = moments.filter((moment) => moment > nowMs);
  return future.length === 0 ? undefined : Math.min(...future);
}
