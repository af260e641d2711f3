/**
 * How many nodes a rolling update may take at once (spec 2.9): maxUnavailable and maxSurge resolved
 * against the nodes that should run a pod.
 *
 * Integers, or percentages that are both rounded up. Absent values are what the API server defaults
 * them to. Validation forbids both to be non-zero; should they be all the same, surge wins, as
 * upstream, and nothing may become unavailable. It reads the spec only: which nodes count against
 * the budget is decided in rollout-without-surge.ts and rollout-with-surge.ts.
 *
 * Differs from upstream: a value that cannot be parsed counts as absent, instead of failing each sync.
 */
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { allowsSurge } from '../daemon-set/strategy.ts';

/** maxUnavailable without a value (API server default, spec 2.13). */
const DEFAULT_UNAVAILABLE = 1;
/** maxSurge without a value (API server default, spec 2.13). */
const DEFAULT_SURGE = 0;

/** Both bounds, in nodes. Exactly one is positive while any node should run a pod. */
export interface RolloutBudget {
  /** Nodes that may be without an available pod; 0 with surge. */
  readonly maxUnavailable: number;
  /** Nodes that may have a pod beside their available old one; 0 without surge. */
  readonly maxSurge: number;
}

/** The budget for so many nodes that should run a pod (spec 2.9, the both-zero rule included). */
export function resolveBudget(daemonSet: DaemonSetObject, desiredNodes: number): RolloutBudget {
  const bounds = daemonSet.spec.updateStrategy?.rollingUpdate;
  const maxSurge = allowsSurge(daemonSet)
    ? (scale(bounds?.maxSurge, desiredNodes) ?? DEFAULT_SURGE)
    : 0;
  if (maxSurge > 0) return { maxUnavailable: 0, maxSurge };
  const maxUnavailable = scale(bounds?.maxUnavailable, desiredNodes) ?? DEFAULT_UNAVAILABLE;
  const isBothZero = maxUnavailable === 0 && desiredNodes > 0;
  return { maxUnavailable: isBothZero ? 1 : maxUnavailable, maxSurge: 0 };
}

/** An integer as it is, a percentage of `total` rounded up; undefined for anything else. */
function scale(value: number | string | undefined, total: number): number | undefined {
  if (typeof value === 'number') return Number.isInteger(value) && value >= 0 ? value : undefined;
  // Stryker disable next-line StringLiteral: any text that is no percentage says the same as an absent value
  const percent = /^([0-9]+)%$/.exec(value ?? '');
  return percent === null ? undefined : Math.ceil((Number(percent[1]) * total) / 100);
}
