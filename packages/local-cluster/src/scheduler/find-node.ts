/**
 * Finds the node for one pod: of those that the filters leave, the one with the fewest pods. Pure apart from reading the state.
 *
 * A pod whose required affinity names its nodes, as daemon pods do, is held against those only. Differs from Kubernetes: no
 * scores, so preferred affinity and PreferNoSchedule taints play no part; among equals the first node wins instead of a lot.
 */
import type { SearchFailure } from './describe-failure.ts';
import type { FilterFailure } from './filters/filter.ts';
import { findFailure } from './filters/find-failure.ts';
import type { ClusterState } from './state/cluster-state.ts';
import type { NodeState } from './state/node-state.ts';
import type { SchedulingPod } from './state/scheduling-pod.ts';

/** A node, or why there is none. */
export type NodeSearch =
  | { readonly kind: 'found'; readonly nodeName: string }
  | { readonly kind: 'none'; readonly failure: SearchFailure };

/** Searches. */
export function findNode(pod: SchedulingPod, cluster: ClusterState): NodeSearch {
  const failures: FilterFailure[] = [];
  let best: NodeState | undefined;
  for (const node of candidates(pod, cluster)) {
    const failure = findFailure(pod, node);
    if (failure !== undefined) failures.push(failure);
    else if (best === undefined || node.podCount < best.podCount) best = node;
  }
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
