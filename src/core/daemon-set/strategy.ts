/**
 * The update strategy as far as pods and names depend on it (spec 2.7, 2.9).
 *
 * An absent type counts as RollingUpdate, as the API server defaults it; one that is not known rolls
 * nothing, as upstream. A value that cannot be parsed means no surge. How many pods a rolling update
 * may touch at once is in rollout-budget.ts.
 */
import type { DaemonSetObject } from '@rollcall/base/objects.ts';

/** RollingUpdate replaces outdated pods by itself; with OnDelete they stay until somebody deletes them. */
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
  if (typeof maxSurge === 'number') return maxSurge > 0;
  // Stryker disable next-line StringLiteral: any text that is no percentage says the same as an absent value
  const percent = /^([0-9]+)%$/.exec(maxSurge ?? '');
  return percent !== null && Number(percent[1]) > 0;
}
