/**
 * What pods of the new revision had gone through before a rollout began, so that only what happens later counts.
 *
 * A revision may come back whose pods never went away, and nodes that join or are replaced get it early (strays): their
 * restartCount tells of another time. Kept are only pods that have restarted or exited, BASELINES_MAX of them at most;
 * of a pod beyond it, exits before the rollout are told by their own time (pod-evidence.ts).
 */
import type { PodProjection } from '../model/projections.ts';
import type { PodBaseline } from '../model/rollout-record.ts';
import { compareText } from '@rollcall/base/compare-text.ts';

/** As many as a record keeps: 4 KB. */
export const BASELINES_MAX = 64;

/** The baseline of one pod as it is now. */
export function baselineOf({ uid, trouble }: PodProjection): PodBaseline {
  const exitAtMs = trouble?.lastExit?.finishedAtMs;
  const restarts = trouble?.restarts ?? 0;
  return exitAtMs === undefined ? { uid, restarts } : { uid, restarts, exitAtMs };
}

/** Baselines of pods of the new revision that are there before its first step. Those with most restarts are kept. */
export function baselinesOf(pods: readonly PodProjection[]): readonly PodBaseline[] {
  return pods
    .filter(({ trouble }) => trouble?.lastExit !== undefined || (trouble?.restarts ?? 0) > 0)
    .map(baselineOf)
    .sort((left, right) => right.restarts - left.restarts || compareText(left.uid, right.uid))
    .slice(0, BASELINES_MAX);
}
