/** Requests against what the node's pods leave of its allocatable resources; every resource that is too short is named. */
import type { Filter } from './filter.ts';

const NANOS = 1_000_000_000n;

/** Number of pods, cpu, memory, ephemeral storage, extended resources. */
export const filterResources: Filter = (pod, node) => {
  const { allocatable, requested, podCount } = node;
  const reasons: string[] = [];
  // Could the node, emptied, take the pod at all?
  let fitsEmptyNode = true;
  if (BigInt(podCount + 1) * NANOS > (allocatable.get('pods') ?? 0n)) reasons.push('Too many pods');
  for (const [name, wanted] of pod.requests) {
    if (wanted === 0n) continue;
    const capacity = allocatable.get(name) ?? 0n;
    if (wanted <= capacity - (requested.get(name) ?? 0n)) continue;
    reasons.push(`Insufficient ${name}`);
    if (wanted > capacity) fitsEmptyNode = false;
  }
  return reasons.length === 0 ? undefined : { reasons, dependsOnOtherPods: fitsEmptyNode };
};
