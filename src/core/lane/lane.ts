/**
 * The node lane of a cluster: which nodes have a daemon that is being replaced just now, and by whom (ADR 0058).
 *
 * One item for a cluster, written by compare-and-set; a node stands in it once at most. An entry is no lock with a life of
 * its own: whether it counts is judged by what its DaemonSet shows (judge-entry.ts). Bounded; what does not fit waits.
 */
import type { NodeName, Uid } from '../model/identifiers.ts';

/** One daemon that is being replaced. */
export interface LaneEntry {
  readonly node: NodeName;
  /** The DaemonSet, and its key for hints. */
  readonly owner: Uid;
  readonly namespace: string;
  readonly name: string;
  /** The old pod: the identity of the claim. */
  readonly pod: Uid;
  /** True if the node had an entry of this owner that still counted, for another pod: that one is gone, and `pod` came in its place. */
  readonly isDown?: true;
  readonly claimedAtMs: number;
  /** From then on no delete reaches the API server that its DaemonSet's state does not have on record (protocol 5). */
  readonly deadAtMs: number;
}

/** A key that found a node taken, and is hinted once an entry goes. */
export interface LaneWaiter {
  readonly namespace: string;
  readonly name: string;
}

/** The lane of one cluster. */
export interface Lane {
  /** Compare-and-set counter; 0: no item yet. */
  readonly version: number;
  readonly entries: readonly LaneEntry[];
  readonly waiters: readonly LaneWaiter[];
}

/** A lane in which nothing is being replaced. */
export const EMPTY_LANE: Lane = { version: 0, entries: [], waiters: [] };

/** Some 200 KB of an item; a cluster that replaces more daemons at once waits. */
export const LANE_ENTRIES_MAX = 1_000;
/** Keys that wait; others look again by their back-off. */
export const LANE_WAITERS_MAX = 50;

/** True if both are the same claim: a node's entry is renewed by its owner under another pod, or by another owner. */
export function isSameClaim(left: LaneEntry, right: LaneEntry): boolean {
  return left.node === right.node && left.owner === right.owner && left.pod === right.pod;
}
