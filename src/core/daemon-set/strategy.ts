/**
 * What a DaemonSet asks for: its update strategy (spec 2.7, 2.9), how closely upstream is followed, or to be left alone.
 *
 * Absent values are what the API server defaults them to; a type that is not known rolls nothing, as upstream.
 * It reads the spec only: which nodes count against a budget is decided in rollout-without-surge.ts and
 * rollout-with-surge.ts.
 *
 * Differs from upstream: a bound that cannot be parsed counts as absent, instead of failing each sync.
 */
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { compileSelector, isEmptySelector } from '@rollcall/base/label-selector.ts';

/** RollingUpdate replaces outdated pods by itself; with OnDelete they stay until a user deletes them. */
export type StrategyType = 'RollingUpdate' | 'OnDelete';

/** The type of the DaemonSet's update strategy (spec 2.9). */
export function strategyTypeOf(daemonSet: DaemonSetObject): StrategyType {
  const type = daemonSet.spec.updateStrategy?.type ?? 'RollingUpdate';
  return type === 'RollingUpdate' ? 'RollingUpdate' : 'OnDelete';
}

/** True when a node may have one pod per revision: RollingUpdate with a maxSurge that is not zero. */
export function allowsSurge(daemonSet: DaemonSetObject): boolean {
  if (strategyTypeOf(daemonSet) !== 'RollingUpdate') return false;
  const maxSurge = daemonSet.spec.updateStrategy?.rollingUpdate?.maxSurge;
  return typeof maxSurge === 'number' ? maxSurge > 0 : (percentOf(maxSurge) ?? 0) > 0;
}

/** Annotation on the DaemonSet (design 5); docs/parity.md says for each difference whether `strict` restores upstream. */
const COMPAT_ANNOTATION = 'rollcall.dev/compat';

/** `mended`: conceded bugs are fixed. `strict`: as the built-in controller does it. */
export type Compat = 'mended' | 'strict';

/** What the DaemonSet asks for; any value but `strict` counts as absent. */
export function readCompat(daemonSet: DaemonSetObject): Compat {
  return daemonSet.metadata.annotations?.[COMPAT_ANNOTATION] === 'strict' ? 'strict' : 'mended';
}

export type LeftAlone =
  | { readonly kind: 'selecting-all' }
  /** Its children are the garbage collector's business. */
  | { readonly kind: 'terminating' }
  | { readonly kind: 'malformed'; readonly problem: string };

/**
 * Why this one is left alone (spec 2.3 step 4, 5), in upstream's order; undefined: it is not. An API server accepts
 * neither a selector of all pods nor one that cannot be used; this is a last defence.
 */
export function whyLeftAlone({ metadata, spec }: DaemonSetObject): LeftAlone | undefined {
  if (isEmptySelector(spec.selector)) return { kind: 'selecting-all' };
  if (metadata.deletionTimestamp !== undefined) return { kind: 'terminating' };
  const { invalid } = compileSelector(spec.selector);
  return invalid === undefined ? undefined : { kind: 'malformed', problem: invalid };
}

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

/**
 * The budget for so many nodes that should run a pod (spec 2.9): integers, or percentages that are rounded up.
 * Validation forbids both to be non-zero; should they be all the same, surge wins, as upstream.
 */
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
  const percent = percentOf(value);
  return percent === undefined ? undefined : Math.ceil((percent * total) / 100);
}

function percentOf(value: string | undefined): number | undefined {
  // Stryker disable next-line StringLiteral: any text that is no percentage says the same as an absent value
  const percent = /^([0-9]+)%$/.exec(value ?? '');
  return percent === null ? undefined : Number(percent[1]);
}
