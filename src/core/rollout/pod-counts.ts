/**
 * Reads a DaemonSet's status as `kubectl rollout status` does: generation and counters, and what is missing by them.
 *
 * As new as the status that the watcher last sent. An absent counter is zero, as Kubernetes leaves it out.
 */
import type { DaemonSetObject, DaemonSetStatus } from '@rollcall/base/objects.ts';

/** Nodes, as the DaemonSet's status counts them. */
export interface PodCounts {
  readonly desired: number;
  readonly updated: number;
  readonly available: number;
}

/** metadata.generation, and the one that the status is of. */
export interface Generations {
  readonly generation: number;
  readonly observedGeneration: number;
}

/** Its counters; null: its object is not known. */
export function podCountsOf(object: DaemonSetObject | null): PodCounts {
  const status = object?.status;
  return {
    desired: numberOf(status, 'desiredNumberScheduled'),
    updated: numberOf(status, 'updatedNumberScheduled'),
    available: numberOf(status, 'numberAvailable'),
  };
}

/** Its generations. */
export function generationsOf(object: DaemonSetObject | null): Generations {
  return {
    generation: object?.metadata.generation ?? 0,
    observedGeneration: numberOf(object?.status, 'observedGeneration'),
  };
}

/** All of it; undefined: its object is not known. */
export function countsOf(object: DaemonSetObject | null): (PodCounts & Generations) | undefined {
  return object === null ? undefined : { ...podCountsOf(object), ...generationsOf(object) };
}

/** Missing pods, in words; undefined: every desired pod is updated and available, but for those that a policy keeps. */
export function describeMissing(
  { generation, observedGeneration, ...counts }: PodCounts & Generations,
  keptNodes = 0,
): string | undefined {
  if (observedGeneration < generation) return 'waits until its newest generation is looked at';
  const { updated, available } = counts;
  const desired = counts.desired - keptNodes;
  if (updated < desired) return `${String(updated)} of ${String(desired)} pods have been updated`;
  return available < desired
    ? `${String(available)} of ${String(desired)} updated pods are available`
    : undefined;
}

function numberOf(status: DaemonSetStatus | undefined, name: keyof DaemonSetStatus): number {
  const value = status?.[name];
  return typeof value === 'number' ? value : 0;
}
