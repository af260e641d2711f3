/**
 * What a filter says of a node that cannot take a pod.
 */
import type { NodeState } from '../state/node-state.ts';
import type { SchedulingPod } from '../state/scheduling-pod.ts';

/** Why a node is out; the reasons are kube-scheduler's texts. */
export interface FilterFailure {
  readonly reasons: readonly string[];
  /** Could removing other pods help? Decides the text about preemption. */
  readonly dependsOnOtherPods: boolean;
}

/** Undefined when the node can take the pod as far as this filter cares. */
export type Filter = (pod: SchedulingPod, node: NodeState) => FilterFailure | undefined;

/** A failure that no other pod's end can mend. */
export function hopeless(reason: string): FilterFailure {
  return { reasons: [reason], dependsOnOtherPods: false };
}
