/**
 * Finds the node for one pod: filter, then score. Pure apart from reading the state.
 *
 * A pod whose required affinity names its nodes, as daemon pods do, is held against those only.
 */
import type { ClusterState } from './cluster-state.ts';
import type { SearchFailure } from './describe-failure.ts';
import type { FilterFailure } from './filters/filter.ts';
import { findFailure } from './filters/find-failure.ts';
import type { NodeState } from './node-state.ts';
import type { SchedulingPod } from './scheduling-pod.ts';
import { chooseNode } from './scores/choose-node.ts';

/** A node, or why there is none. */
export type NodeSearch =
  | { readonly kind: 'found'; readonly nodeName: string }
  | { readonly kind: 'none'; readonly failure: SearchFailure };

/** Searches. */
export function findNode(pod: SchedulingPod, cluster: ClusterState): NodeSearch {
  const failures: FilterFailure[] = [];
  const fitting: NodeState[] = [];
  for (const node of candidates(pod, cluster)) {
    const failure = findFailure(pod, node);
    if (failure === undefined) fitting.push(node);
    else failures.push(failure);
  }
  const best = chooseNode(pod, fitting);
  if (best !== undefined) return { kind: 'found', nodeName: best.projection.name };
  const hasConflictingNames = pod.pinnedTo?.size === 0;
  return {
    kind: 'none',
    failure: { nodeCount: cluster.nodeCount, failures, hasConflictingNames },
  };
}

function* candidates(pod: SchedulingPod, cluster: ClusterState): Iterable<NodeState> {
  if (pod.pinnedTo === undefined) {
    yield* cluster.nodes();
    return;
  }
  for (const name of pod.pinnedTo) {
    const node = cluster.node(name);
    if (node !== undefined) yield node;
  }
}
