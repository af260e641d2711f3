/**
 * How much of a mass removal goes without confirmation: from the policy, or by default (ADR 0057).
 *
 * With a policy every change counts that takes pods away, and the last pod too. Without one only changes of nodes do, from
 * ten pods on: who edits the DaemonSet asks for what follows, and a few labels of a small cluster change every day.
 * `rollcall.dev/compat: strict` restores upstream, which holds nothing.
 */
import { readCompat } from '../daemon-set/strategy.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { RemovalRules } from '../model/plan.ts';
import type { PolicyReading } from '../policy/rollout-policy.ts';

/** Annotation on the DaemonSet by which an operator confirms a mass removal: its value is the token of the Event. */
export const CONFIRM_ANNOTATION = 'rollcall.dev/confirm-removal';

/** Within so long removals count as one (issue 17). As long as pods that are gone are remembered (S13). */
export const REMOVAL_WINDOW_MS = 600_000;

const DEFAULT_PERCENT = 20;
/** With a policy: of fewer pods a label or two is too large a share; only the last one counts. */
const SHARED_PODS_MIN = 5;
/** Without a policy. */
const DEFAULT_PODS_MIN = 10;
const OFF_PERCENT = 100;

/** Rules of a DaemonSet without a policy. */
export const DEFAULT_REMOVAL_RULES: RemovalRules = { scope: 'default', percent: DEFAULT_PERCENT };

/** Rules of a DaemonSet by its policy. One that cannot be read protects as much as one that says nothing of mass removals. */
export function removalRulesOf(reading: PolicyReading | undefined): RemovalRules {
  switch (reading?.kind) {
    case undefined:
    case 'none':
      return DEFAULT_REMOVAL_RULES;
    case 'invalid':
      return { scope: 'policy', percent: DEFAULT_PERCENT };
    case 'policy':
      return { scope: 'policy', percent: reading.policy.removalPercent };
  }
}

/** How many pods are to go, or went within the window, of how many. */
export interface RemovalCount {
  /** Nodes that lose their pod. */
  readonly pods: number;
  /** Nodes that have one, with those that lost theirs. */
  readonly basePods: number;
}

/** True: whatever goes, goes. */
export function isOff({ percent }: RemovalRules, daemonSet: DaemonSetObject): boolean {
  return percent >= OFF_PERCENT || readCompat(daemonSet) === 'strict';
}

/** True if a hold may begin at all among so many pods. */
export function mayBegin({ scope }: RemovalRules, { basePods }: RemovalCount): boolean {
  return scope === 'policy' || basePods >= DEFAULT_PODS_MIN;
}

/** True if so many may not go without confirmation. */
export function isOverShare(rules: RemovalRules, count: RemovalCount): boolean {
  const { pods, basePods } = count;
  if (!mayBegin(rules, count) || pods === 0) return false;
  if (rules.scope === 'policy' && basePods < SHARED_PODS_MIN) return pods >= basePods;
  return isMoreThan(rules, count) || pods >= basePods;
}

/** True if a hold that began goes on: nodes that went meanwhile do not end it. */
export function isStillOver(rules: RemovalRules, count: RemovalCount): boolean {
  return isOverShare(rules, count) || isMoreThan(rules, count);
}

function isMoreThan({ percent }: RemovalRules, { pods, basePods }: RemovalCount): boolean {
  return pods * 100 > percent * basePods;
}

/** Pods that make up the share, rounded down. */
export function shareOf({ percent }: RemovalRules, { basePods }: RemovalCount): number {
  return Math.floor((percent * basePods) / 100);
}
