/**
 * How many nodes a share is: a count as it is, or whole percent of a base, rounded up or down.
 *
 * The base is the number of nodes that should run a pod when the rollout began: the caller freezes it. Whole numbers
 * only, so that 7 % of 100 is 7 (`100 * 0.07` is more). maxUnavailable and canary round up, as upstream's
 * maxUnavailable does, so that no percentage of any nodes is none; partition rounds down, as OpenKruise's does.
 */
import type { Share } from './rollout-policy.ts';

/** A limit or a canary: percentages round up. May be more than `nodes` when it is a count. */
export function nodesRoundedUp(share: Share, nodes: number): number {
  return share.kind === 'count' ? share.count : Math.ceil((share.percent * nodes) / 100);
}

/** Nodes that keep their old pod: percentages round down. */
export function nodesRoundedDown(share: Share, nodes: number): number {
  return share.kind === 'count' ? share.count : Math.floor((share.percent * nodes) / 100);
}

/** As a person wrote it. */
export function formatShare(share: Share): string {
  return share.kind === 'count' ? String(share.count) : `${String(share.percent)}%`;
}
