/**
 * Finds the node for one pod: filter, then score. Pure apart from reading the state.
 *
 * A pod whose required affinity names its nodes, as daemon pods do, is held against those only. Room that more important
 * pods were promised counts as taken.
 */
import type { ClusterState } from './state/cluster-state.ts';
import type { SearchFailure } from './describe-failure.ts';
import type { FilterFailure } from './filters/filter.ts';
import { findFailure } from './filters/find-failure.ts';
import type { NodeState } from './state/node-state.ts';
import { nodeWithPods } from './preemption/node-with-pods.ts';
import type { SchedulingPod } from './state/scheduling-pod.ts';
import { chooseNode } from './scores/choose-node.ts';

/** Pods that are expected on a node before this one; see nominations.ts. */
export type ExpectedPods = (pod: SchedulingPod, nodeName: string) => readonly SchedulingPod[];

/** A node, or why there is none. */
export type NodeSearch =
  | { readonly kind: 'found'; readonly nodeName: string }
  | {
      readonly kind: 'none';
      readonly failure: SearchFailure;
      /** Nodes on which other pods are in the way. */
      readonly crowded: readonly NodeState[];
    };

/** Searches. */
export function findNode(
  pod: SchedulingPod,
  cluster: ClusterState,
  expectedPods: ExpectedPods = () => [],
): NodeSearch {
  const failures: FilterFailure[] = [];
  const crowded: NodeState[] = [];
  const fitting: NodeState[] = [];
  for (const node of candidates(pod, cluster)) {
    const expected = expectedPods(pod, node.projection.name);
    const state = expected.length === 0 ? node : nodeWithPods(node, [...node.pods, ...expected]);
    const failure = findFailure(pod, state);
    if (failure === undefined) fitting.push(state);
    else {
      failures.push(failure);
      if (failure.dependsOnOtherPods) crowded.push(state);
    }
  }
  const best = chooseNode(pod, fitting);
  if (best !== undefined) return { kind: 'found', nodeName: best.projection.name };
  const hasConflictingNames = pod.pinnedTo?.size === 0;
  return {
    kind: 'none',
    failure: { nodeCount: cluster.nodeCount, failures, hasConflictingNames },
    crowded,
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
