/**
 * Writes PodScheduled=False into a pod's status: reason Unschedulable, message from describe-failure.ts. Nothing is
 * written when the pod says so already.
 */
import { conditionOf, viewPod } from '../controllers/object-views.ts';
import type { LocalClient } from '../client/local-client.ts';
import type { ApiObject } from '../objects/api-object.ts';
import { formatTime } from '../objects/timestamps.ts';

/** Writes it; a refusal is ignored, because the next attempt writes it again. */
export async function reportUnschedulable(
  client: LocalClient,
  of: { readonly pod: ApiObject; readonly message: string; readonly nowMs: number },
): Promise<void> {
  const { pod, message } = of;
  const { namespace = '', name, uid, generation } = pod.metadata;
  const before = conditionOf(viewPod(pod).status.conditions, 'PodScheduled');
  const isSaid =
    before?.status === 'False' && before.reason === 'Unschedulable' && before.message === message;
  if (isSaid) return;
  const changedAt = before?.status === 'False' ? before.lastTransitionTime : formatTime(of.nowMs);
  const condition = {
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
    message,
    lastProbeTime: null,
    lastTransitionTime: changedAt ?? null,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
  await client.patch(
    { resource: 'pods', namespace, name },
    {
      type: 'strategic',
      subresource: 'status',
      body: { metadata: { uid }, status: { conditions: [condition] } },
    },
  );
}
