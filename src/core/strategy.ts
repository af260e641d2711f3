/**
 * The update strategy as far as pods and names depend on it (spec 2.7, 2.9).
 *
 * An absent type counts as RollingUpdate, as the API server defaults it. A value that cannot be
 * parsed means no surge. Counts and rollouts themselves come with a later issue.
 */
import type { DaemonSetObject } from './model/kubernetes.ts';

/** True when a node may have one pod per revision: RollingUpdate with a maxSurge that is not zero. */
export function allowsSurge(daemonSet: DaemonSetObject): boolean {
  const strategy = daemonSet.spec.updateStrategy;
  if ((strategy?.type ?? 'RollingUpdate') !== 'RollingUpdate') return false;
  const maxSurge = strategy?.rollingUpdate?.maxSurge;
  if (typeof maxSurge === 'number') return maxSurge > 0;
  const percent = /^([0-9]+)%$/.exec(maxSurge ?? '');
  return percent !== null && Number(percent[1]) > 0;
}
