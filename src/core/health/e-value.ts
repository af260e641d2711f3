/**
 * The e-value of a trial: how much likelier its failures are if the release causes them (rollouts facts 4).
 *
 * Each counted failure is a draw: without an effect it falls on an updated node with probability π, the share of updated
 * nodes among those at risk in its stratum. For a hazard ratio r the likelihood ratio is r/(rπ+1−π) if the node is updated,
 * else 1/(rπ+1−π). Ratios multiply over failures and are averaged over r. By Ville's inequality a release without an
 * effect reaches E >= 20 with probability 5 % at most, however often one looks.
 */

/** Hazard ratios that are tried side by side. */
const HAZARD_RATIOS = [3, 10, 30, 100] as const;

/** ln of the likelihood ratio for each of HAZARD_RATIOS. */
export type LogRatios = readonly [number, number, number, number];

/** Nothing has failed yet. */
export const NO_EVIDENCE: LogRatios = [0, 0, 0, 0];

/** A fleet halts from here on: false alarms at most 5 %. */
export const HALT_AT = 20;

/** The rollout of a cluster does: at most 4 %, and 2 % on the populations of `npm run bench -- attribution`. */
export const NODES_HALT_AT = 25;

/** One failure, and who was at risk in its stratum when it happened, itself included. */
export interface Draw {
  readonly isUpdated: boolean;
  readonly updatedAtRisk: number;
  readonly othersAtRisk: number;
}

/** With one more failure. A stratum in which all nodes are on one side adds nothing. */
export function withDraw(ratios: LogRatios, draw: Draw): LogRatios {
  const { isUpdated, updatedAtRisk, othersAtRisk } = draw;
  if (updatedAtRisk <= 0 || othersAtRisk <= 0) return ratios;
  const share = updatedAtRisk / (updatedAtRisk + othersAtRisk);
  const grow = (at: 0 | 1 | 2 | 3): number => {
    const hazard = HAZARD_RATIOS[at];
    return ratios[at] + Math.log((isUpdated ? hazard : 1) / (hazard * share + 1 - share));
  };
  return [grow(0), grow(1), grow(2), grow(3)];
}

/** The mean of the likelihood ratios; 1 when nothing failed. */
export function meanRatio(ratios: LogRatios): number {
  return ratios.reduce((sum, ratio) => sum + Math.exp(ratio), 0) / ratios.length;
}
