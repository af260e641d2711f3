/**
 * The pods of a node that fell silent are not ready: nobody can say otherwise now.
 */
import type { LocalClient } from '../../client/local-client.ts';
import type { EventRecorder } from '../../node-agent/shared/pod-runtime.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import { conditionOf, viewPod } from '../shared/object-views.ts';
import { patchPodStatus } from '../shared/patch-pod-status.ts';

/** Sets Ready=False, with an event, on pods that say True; false when some must be tried again. */
export async function markPodsNotReady(of: {
  readonly client: LocalClient;
  readonly record: EventRecorder;
  readonly pods: readonly ApiObject[];
  readonly nowMs: number;
}): Promise<boolean> {
  const { client, record, pods, nowMs } = of;
  let isComplete = true;
  for (const pod of pods) {
    const ready = conditionOf(viewPod(pod).status.conditions, 'Ready');
    if (ready === undefined || ready.status === 'False') continue;
    const condition = { type: 'Ready', status: 'False' } as const;
    const result = await patchPodStatus(client, { pod, condition, nowMs });
    if (result === 'failed') isComplete = false;
    if (result !== 'written') continue;
    record({ about: pod, type: 'Warning', reason: 'NodeNotReady', message: 'Node is not ready' });
  }
  return isComplete;
}
