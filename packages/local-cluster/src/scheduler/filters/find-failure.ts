/**
 * All filters, in kube-scheduler's order: the first that fails speaks for the node.
 *
 * Differs from Kubernetes: no look at volumes, pod affinity and anti-affinity, topology spread, dynamic resources.
 */
import type { NodeState } from '../state/node-state.ts';
import type { SchedulingPod } from '../state/scheduling-pod.ts';
import type { Filter, FilterFailure } from './filter.ts';
import { filterNodeAffinity } from './node-affinity.ts';
import { filterPorts } from './ports.ts';
import { filterResources } from './resources.ts';
import { filterTaints } from './taints.ts';
import { filterUnschedulable } from './unschedulable.ts';

const FILTERS: readonly Filter[] = [
  filterUnschedulable,
  filterTaints,
  filterNodeAffinity,
  filterPorts,
  filterResources,
];

/** Why the node cannot take the pod; undefined when it can. */
export function findFailure(pod: SchedulingPod, node: NodeState): FilterFailure | undefined {
  for (const filter of FILTERS) {
    const failure = filter(pod, node);
    if (failure !== undefined) return failure;
  }
  return undefined;
}
