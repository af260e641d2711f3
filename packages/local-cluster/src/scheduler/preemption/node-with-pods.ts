/**
 * A node as it would be with other pods on it. Pure: what filters see is computed from the pods anew.
 */
import type { NodeState } from '../state/node-state.ts';
import type { PodFootprint } from '../state/scheduling-pod.ts';

/** The node with exactly these pods. */
export function nodeWithPods(node: NodeState, pods: readonly PodFootprint[]): NodeState {
  const requested = new Map<string, bigint>();
  for (const { requests } of pods) {
    for (const [name, nanos] of requests) {
      requested.set(name, (requested.get(name) ?? 0n) + nanos);
    }
  }
  const { projection, allocatable } = node;
  return {
    projection,
    allocatable,
    requested,
    podCount: pods.length,
    ports: pods.flatMap(({ ports }) => ports),
    pods,
  };
}
