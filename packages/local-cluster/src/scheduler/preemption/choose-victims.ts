/**
 * Which pods must go so that a more important one fits? Pure.
 *
 * On each node that other pods keep the pod from, all pods of lower priority are taken off in thought, and put back,
 * the most important first, while the pod still fits: the rest are victims. The node with the least important victims
 * wins: lowest highest priority, then lowest sum, then fewest. Differs from Kubernetes: disruption budgets and start
 * times play no part.
 */
import { compareText } from '@rollcall/base/compare-text.ts';
import { findFailure } from '../filters/find-failure.ts';
import type { NodeState } from '../state/node-state.ts';
import type { PodFootprint, SchedulingPod } from '../state/scheduling-pod.ts';
import { nodeWithPods } from './node-with-pods.ts';

/** Where to make room, and of whom. */
export interface Preemption {
  readonly nodeName: string;
  readonly victims: readonly PodFootprint[];
}

/** The cheapest preemption; undefined when none helps. */
export function chooseVictims(
  pod: SchedulingPod,
  nodes: readonly NodeState[],
): Preemption | undefined {
  let best: Preemption | undefined;
  for (const node of nodes) {
    const victims = findVictims(pod, node);
    if (victims === undefined) continue;
    const preemption = { nodeName: node.projection.name, victims };
    if (best === undefined || comparePrices(victims, best.victims) < 0) best = preemption;
  }
  return best;
}

/** The fewest pods that must leave this node; undefined when even all of lower priority would not do. */
export function findVictims(
  pod: SchedulingPod,
  node: NodeState,
): readonly PodFootprint[] | undefined {
  const lower = [...node.pods].filter(({ priority }) => priority < pod.priority);
  if (lower.length === 0) return undefined;
  let kept = [...node.pods].filter(({ priority }) => priority >= pod.priority);
  const fitsWith = (pods: readonly PodFootprint[]): boolean =>
    findFailure(pod, nodeWithPods(node, pods)) === undefined;
  if (!fitsWith(kept)) return undefined;
  const victims: PodFootprint[] = [];
  for (const each of lower.sort(compareImportance)) {
    if (fitsWith([...kept, each])) kept = [...kept, each];
    else victims.push(each);
  }
  return victims;
}

function compareImportance(left: PodFootprint, right: PodFootprint): number {
  return right.priority - left.priority || compareText(left.key, right.key);
}

function comparePrices(left: readonly PodFootprint[], right: readonly PodFootprint[]): number {
  return (
    highestPriority(left) - highestPriority(right) ||
    sumOfPriorities(left) - sumOfPriorities(right) ||
    left.length - right.length
  );
}

function highestPriority(pods: readonly PodFootprint[]): number {
  return Math.max(...pods.map(({ priority }) => priority));
}

function sumOfPriorities(pods: readonly PodFootprint[]): number {
  return pods.reduce((sum, { priority }) => sum + priority, 0);
}
