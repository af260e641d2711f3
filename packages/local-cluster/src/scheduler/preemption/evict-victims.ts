/**
 * Carries a preemption out: tells and deletes the victims, gracefully, and notes on the pod which node it waits for.
 *
 * Each deletion carries the victim's UID, so that a namesake is spared. Nothing is rolled back when one is refused: those
 * that left were less important than the pod in any case.
 */
import type { LocalClient } from '../../client/local-client.ts';
import { patchPodStatus, podRef } from '../../controllers/shared/patch-pod-status.ts';
import type { EventRecorder } from '../../node-agent/shared/pod-runtime.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import { SCHEDULER_NAME } from '../constants.ts';

const CONDITION = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'PreemptionByScheduler',
  message: `${SCHEDULER_NAME}: preempting to accommodate a higher priority pod`,
} as const;

/** Evicts; what is refused is tried again with the pod's next attempt. */
export async function evictVictims(
  client: LocalClient,
  of: {
    readonly pod: ApiObject;
    readonly nodeName: string;
    readonly victims: readonly ApiObject[];
    readonly record: EventRecorder;
    readonly nowMs: number;
  },
): Promise<void> {
  const { pod, nodeName, victims, record, nowMs } = of;
  const { uid } = pod.metadata;
  for (const victim of victims) {
    await patchPodStatus(client, { pod: victim, condition: CONDITION, nowMs });
    const deleted = await client.delete(podRef(victim), { uid: victim.metadata.uid });
    if (deleted.kind === 'refused') continue;
    record({
      about: victim,
      type: 'Normal',
      reason: 'Preempted',
      message: `Preempted by pod ${uid} on node ${nodeName}`,
    });
  }
  await client.patch(podRef(pod), {
    type: 'merge',
    subresource: 'status',
    body: { metadata: { uid }, status: { nominatedNodeName: nodeName } },
  });
}
