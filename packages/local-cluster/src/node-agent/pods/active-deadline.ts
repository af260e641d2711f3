/** spec.activeDeadlineSeconds: how long a pod may be active on its node, counted from status.startTime. Pure. */
import { parseTime } from '../../objects/timestamps.ts';
import type { PodObject, PodStatus } from '../shared/pod-object.ts';

/** When the deadline is, in milliseconds since 1970; undefined without one or before the pod has started. */
export function activeDeadlineAtMs(pod: PodObject, status: PodStatus): number | undefined {
  const { activeDeadlineSeconds } = pod.spec;
  const startedAtMs = status.startTime === undefined ? undefined : parseTime(status.startTime);
  if (activeDeadlineSeconds === undefined || startedAtMs === undefined) return undefined;
  return startedAtMs + activeDeadlineSeconds * 1000;
}

/** What ends the pod when its deadline has passed; undefined before. */
export function activeDeadline(
  pod: PodObject,
  status: PodStatus,
  nowMs: number,
): { readonly reason: string; readonly message: string } | undefined {
  const atMs = activeDeadlineAtMs(pod, status);
  if (atMs === undefined || nowMs < atMs) return undefined;
  return {
    reason: 'DeadlineExceeded',
    message: 'Pod was active on the node longer than the specified deadline',
  };
}
