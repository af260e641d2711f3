/**
 * How many nodes a share is: a count as it is, or whole percent of a base, rounded up or down.
 *
 * Whole numbers only, so that 7 % of 100 is 7 (`100 * 0.07` is more). maxUnavailable and canary round up, as upstream's
 * maxUnavailable does, so that no percentage of any nodes is none; partition rounds down, as OpenKruise's does. Nodes join and leave
 * during a rollout: what limits harm is of the fewer nodes, what is kept from it is of the more.
 */
import type { Share } from './rollout-policy.ts';

/** Nodes that should run a pod: when the rollout began, and now. */
export interface NodeCounts {
  readonly then: number;
  readonly now: number;
}

/** How many nodes may be down, or be excused: percentages are of the fewer nodes and round up; at least 1. */
export function limitNodesOf(share: Share, { then, now }: NodeCounts): number {
  return Math.max(1, nodesRoundedUp(share, Math.min(then, now)));
}

/** How many nodes keep their old pod: percentages are of the more nodes and round down. */
export function keptNodesOf(share: Share, { then, now }: NodeCounts): number {
  return nodesRoundedDown(share, Math.max(then, now));
}

/** A canary: percentages round up. May be more than `nodes` when it is a count. */
export function nodesRoundedUp(share: Share, nodes: number): number {
  return share.kind === 'count' ? share.count : Math.ceil((share.percent * nodes) / 100);
}

/** Percentages round down. */
export function nodesRoundedDown(share: Share, nodes: number): number {
  return share.kind === 'count' ? share.count : Math.floor((share.percent * nodes) / 100);
}

/** As a person wrote it. */
export function formatShare(share: Share): string {
  return share.kind === 'count' ? String(share.count) : `${String(share.percent)}%`;
}
