/**
 * Ends a pod that nobody is there to end: phase Failed, then deletion without grace.
 */
import type { LocalClient } from '../../client/local-client.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import { isTerminal } from '../shared/object-views.ts';
import { patchPodStatus, podRef } from '../shared/patch-pod-status.ts';
import type { WantedCondition } from '../shared/patch-pod-status.ts';

/** False when it must be tried again. */
export async function forceDeletePod(
  client: LocalClient,
  of: {
    readonly pod: ApiObject;
    readonly condition?: WantedCondition;
    readonly nowMs: number;
  },
): Promise<boolean> {
  const { pod, condition, nowMs } = of;
  if (!isTerminal(pod)) {
    const patched = await patchPodStatus(client, { pod, condition, phase: 'Failed', nowMs });
    if (patched === 'absent') return true;
    if (patched === 'failed') return false;
  }
  const { uid } = pod.metadata;
  const deleted = await client.delete(podRef(pod), { gracePeriodSeconds: 0, uid });
  return deleted.kind === 'ok' || deleted.status.code === 404 || deleted.status.code === 409;
}
