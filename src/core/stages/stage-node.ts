/**
 * A node as a staged rollout sees it: where it stands in the order, and what its pods say of the
 * revision (issue 17).
 *
 * Made from the sites of the rolling update (rolling-update/rollout-states.ts), of nodes that are
 * to run a pod; vanished nodes and nodes that only keep a pod are in no stage and in no percentage.
 * Nothing is decided here.
 */
import type { NodeName } from '../model/identifiers.ts';
import type { NodeProjection, PodProjection } from '../model/projections.ts';

/** One node that is to run a pod. */
export interface StageNode {
  readonly node: NodeProjection;
  /** The pod of another revision, if it has one that is not going. */
  readonly old?: PodProjection;
  /** The pod of the revision that is rolled out, if it is there. */
  readonly updated?: PodProjection;
  /** True if the updated pod is available, and no request may be on its way that changes that. */
  readonly isWell: boolean;
  /** The policy leaves it out of the rollout: it is in no step, and keeps its pod. */
  readonly isExcluded: boolean;
  /** True while something was done here of which the outcome is not seen: neither old nor well. */
  readonly isMoving: boolean;
  /** True while a delete of the old pod may be on its way. */
  readonly isLeaving?: boolean;
  /** The pod of the former revision found no place here, so that a new one finds none says nothing (excused.ts). */
  readonly hasNoPlace?: true;
  /** Of a node without any pod: when its last one was reported gone; absent where none is known. */
  readonly emptySinceMs?: number;
}

export function nameOf({ node }: StageNode): NodeName {
  return node.name;
}

/** True for a node without an old pod that is ready: to replace its pod costs no availability. */
export function servesNobody({ old }: StageNode): boolean {
  return old?.isReady !== true;
}

/** True for a node whose old pod is still to be replaced. */
export function isPending({ old, updated }: StageNode): boolean {
  return old !== undefined && updated === undefined;
}
