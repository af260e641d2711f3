/**
 * What nodes that have no controls left are compared with: how often nodes failed before their own update.
 *
 * Weaker than the e-value with controls, and to be labelled so: whatever else changed since then is taken for the release.
 * The rate before is not known, so an upper bound for it is used (about 95 %; 3 failures in the time seen, when none was),
 * and for hazard ratios r the ratio r^failures · e^(−(r−1)·expected) is averaged. Where nothing was seen before, it is 1.
 * Time is summed lazily: a look at which nothing changed leaves the history as it is, so a quiet rollout writes nothing.
 */
import type { NodeHistory } from '../model/rollout-record.ts';
import { HAZARD_RATIOS } from './e-value.ts';

/** Nodes at risk on either side: waiting for their update, or updated without controls. */
export interface AtRisk {
  readonly waitingNodes: number;
  readonly aloneNodes: number;
}

/** A history that begins now. */
export function startHistory(atRisk: AtRisk, nowMs: number): NodeHistory {
  return {
    sinceMs: nowMs,
    ...atRisk,
    waitingMs: 0,
    aloneMs: 0,
    waitingFailures: 0,
    aloneFailures: 0,
  };
}

/** What failed at this look. */
export interface NewFailures {
  readonly waiting: number;
  readonly alone: number;
}

/** The same history if nothing changed. */
export function advanceHistory(
  history: NodeHistory,
  seen: { readonly atRisk: AtRisk; readonly failed: NewFailures; readonly nowMs: number },
): NodeHistory {
  const { atRisk, failed, nowMs } = seen;
  const isSame =
    history.waitingNodes === atRisk.waitingNodes && history.aloneNodes === atRisk.aloneNodes;
  if (isSame && failed.waiting === 0 && failed.alone === 0) return history;
  const sums = sumsAt(history, nowMs);
  return {
    sinceMs: Math.max(nowMs, history.sinceMs),
    ...atRisk,
    ...sums,
    waitingFailures: history.waitingFailures + failed.waiting,
    aloneFailures: history.aloneFailures + failed.alone,
  };
}

function sumsAt(
  history: NodeHistory,
  nowMs: number,
): { readonly waitingMs: number; readonly aloneMs: number } {
  const elapsedMs = Math.max(0, nowMs - history.sinceMs); // clocks of two functions may differ
  return {
    waitingMs: history.waitingMs + elapsedMs * history.waitingNodes,
    aloneMs: history.aloneMs + elapsedMs * history.aloneNodes,
  };
}

/** The e-value of failures without controls; 1 where nothing failed, or nothing was seen before. */
export function historyEValue(history: NodeHistory, nowMs: number): number {
  const { waitingMs, aloneMs } = sumsAt(history, nowMs);
  const { waitingFailures, aloneFailures } = history;
  if (aloneFailures === 0 || waitingMs === 0) return 1;
  const failuresMax = waitingFailures + 3 + 1.65 * Math.sqrt(waitingFailures);
  const expected = (failuresMax / waitingMs) * aloneMs;
  const ratios = HAZARD_RATIOS.map((ratio) =>
    Math.exp(aloneFailures * Math.log(ratio) - (ratio - 1) * expected),
  );
  return ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length;
}
