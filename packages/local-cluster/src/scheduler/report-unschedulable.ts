/**
 * Writes PodScheduled=False into a pod's status: reason Unschedulable, message from describe-failure.ts.
 *
 * Nothing is written when the pod says so already: an attempt that ends as the last one must not wake the pod's watchers.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import { conditionOf, viewPod } from '../controllers/shared/object-views.ts';
import { podRef } from '../controllers/shared/patch-pod-status.ts';
import type { LocalClient } from '../client/local-client.ts';
import type { ApiObject } from '../objects/api-object.ts';
import { formatTime } from '../objects/timestamps.ts';

/** What to write. */
export interface UnschedulableReport {
  readonly pod: ApiObject;
  readonly message: string;
  readonly nowMs: number;
}

/** Writes it; a refusal is ignored, because the next attempt writes it again. */
export async function reportUnschedulable(
  client: LocalClient,
  report: UnschedulableReport,
): Promise<void> {
  const { pod } = report;
  const status = conditionChange(report);
  if (Object.keys(status).length === 0) return;
  const { uid } = pod.metadata;
  const body = { metadata: { uid }, status };
  await client.patch(podRef(pod), { type: 'strategic', subresource: 'status', body });
}

function conditionChange({ pod, message, nowMs }: UnschedulableReport): JsonObject {
  const { generation } = pod.metadata;
  const before = conditionOf(viewPod(pod).status.conditions, 'PodScheduled');
  const wasFalse = before?.status === 'False';
  if (wasFalse && before.reason === 'Unschedulable' && before.message === message) return {};
  const condition = {
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
    message,
    lastProbeTime: null,
    lastTransitionTime: (wasFalse ? before.lastTransitionTime : undefined) ?? formatTime(nowMs),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
  return { conditions: [condition] };
}
