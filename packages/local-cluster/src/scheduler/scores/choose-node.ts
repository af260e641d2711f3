/**
 * The best of the nodes that can take a pod.
 *
 * Score = 3 × untolerated PreferNoSchedule taints (fewest best) + 2 × preferred node affinity + 1 × least allocated,
 * each from 0 to 100, as kube-scheduler weighs them. Differs from Kubernetes: balanced allocation, image locality,
 * topology spread and pod affinity do not count; containers without requests count as nothing; among equals the node
 * with the fewest pods wins, then the first, where kube-scheduler draws lots.
 */
import { toleratesTaint } from '@rollcall/base/taints.ts';
import type { NodeState } from '../state/node-state.ts';
import type { SchedulingPod } from '../state/scheduling-pod.ts';

const SCORE_MAX = 100;
const WEIGHTS = { taints: 3, affinity: 2, allocation: 1 } as const;

/** The best node; undefined when there is none to choose from. */
export function chooseNode(pod: SchedulingPod, nodes: readonly NodeState[]): NodeState | undefined {
  if (nodes.length <= 1) return nodes[0];
  const taintCounts = nodes.map((node) => countAvoidedTaints(pod, node));
  const preferences = nodes.map((node) => pod.preferenceOf(node.projection));
  const taintsMax = Math.max(...taintCounts);
  const preferenceMax = Math.max(...preferences);
  let best: { readonly node: NodeState; readonly score: number } | undefined;
  for (const [index, node] of nodes.entries()) {
    const taintShare = shareOf(taintCounts[index], taintsMax);
    const score =
      WEIGHTS.taints * (SCORE_MAX - taintShare) +
      WEIGHTS.affinity * shareOf(preferences[index], preferenceMax) +
      WEIGHTS.allocation * scoreLeastAllocated(pod, node);
    const isBetter =
      best === undefined ||
      score > best.score ||
      (score === best.score && node.podCount < best.node.podCount);
    if (isBetter) best = { node, score };
  }
  return best?.node;
}

function shareOf(value: number | undefined, max: number): number {
  return max === 0 ? 0 : Math.floor(((value ?? 0) * SCORE_MAX) / max);
}

/** PreferNoSchedule taints that the pod does not tolerate. */
function countAvoidedTaints(pod: SchedulingPod, { projection }: NodeState): number {
  return projection.taints.filter(
    (taint) =>
      taint.effect === 'PreferNoSchedule' &&
      !pod.tolerations.some((toleration) => toleratesTaint(toleration, taint)),
  ).length;
}

/** How much of cpu and memory would stay free, on average, in percent. */
function scoreLeastAllocated(pod: SchedulingPod, node: NodeState): number {
  const shares = ['cpu', 'memory'].map((name) => {
    const capacity = node.allocatable.get(name) ?? 0n;
    const taken = (node.requested.get(name) ?? 0n) + (pod.requests.get(name) ?? 0n);
    if (capacity === 0n) return undefined;
    return taken > capacity ? 0 : Number(((capacity - taken) * BigInt(SCORE_MAX)) / capacity);
  });
  const known = shares.filter((share) => share !== undefined);
  if (known.length === 0) return 0;
  return Math.floor(known.reduce((sum, share) => sum + share, 0) / known.length);
}
