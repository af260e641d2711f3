/**
 * Writes conditions, and if wanted the phase, into a pod's status on behalf of a controller.
 *
 * The patch carries the pod's UID: a namesake is not touched. Nothing is sent when the status says so already.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ClientOutcome, LocalClient } from '../../client/local-client.ts';
import type { ApiObject, ObjectRef } from '../../objects/api-object.ts';
import { formatTime } from '../../objects/timestamps.ts';
import type { Condition } from './object-views.ts';
import { conditionOf, viewPod } from './object-views.ts';

/** A condition as a controller wants it; times and observedGeneration are added here. */
export interface WantedCondition extends JsonObject {
  readonly type: string;
  readonly status: 'True' | 'False';
  /** Absent: as it was. */
  readonly reason?: string;
  readonly message?: string;
}

/** How it ended: `unchanged` when there was nothing to write. */
export type StatusPatchResult = 'written' | 'unchanged' | 'absent' | 'failed';

/** Names a pod for requests. */
export function podRef(pod: ApiObject): ObjectRef {
  const { namespace = '', name } = pod.metadata;
  return { resource: 'pods', namespace, name };
}

/** Writes it. */
export async function patchPodStatus(
  client: LocalClient,
  of: {
    readonly pod: ApiObject;
    readonly condition?: WantedCondition | undefined;
    readonly phase?: 'Failed';
    readonly nowMs: number;
  },
): Promise<StatusPatchResult> {
  const { pod, condition, phase, nowMs } = of;
  const { status } = viewPod(pod);
  const { uid, generation } = pod.metadata;
  const observed = generation === undefined ? {} : { observedGeneration: generation };
  const changes: JsonObject = {
    ...(phase === undefined || phase === status.phase ? {} : { phase, ...observed }),
    ...conditionChange({ pod, wanted: condition, nowMs }),
  };
  if (Object.keys(changes).length === 0) return 'unchanged';
  return resultOf(
    await client.patch(podRef(pod), {
      type: 'strategic',
      subresource: 'status',
      body: { metadata: { uid }, status: changes },
    }),
  );
}

function conditionChange(of: {
  readonly pod: ApiObject;
  readonly wanted: WantedCondition | undefined;
  readonly nowMs: number;
}): JsonObject {
  const { pod, wanted, nowMs } = of;
  if (wanted === undefined) return {};
  const before = conditionOf(viewPod(pod).status.conditions, wanted.type);
  if (before !== undefined && says(before, wanted)) return {};
  const { generation } = pod.metadata;
  const isTransition = before?.status !== wanted.status;
  return {
    conditions: [
      {
        ...wanted,
        ...(isTransition ? { lastTransitionTime: formatTime(nowMs) } : {}),
        ...(generation === undefined ? {} : { observedGeneration: generation }),
      },
    ],
  };
}

/** True when the condition says what is wanted already. */
function says(condition: Condition, wanted: WantedCondition): boolean {
  const { reason = condition.reason, message = condition.message } = wanted;
  return (
    condition.status === wanted.status &&
    condition.reason === reason &&
    condition.message === message
  );
}

function resultOf(outcome: ClientOutcome): StatusPatchResult {
  if (outcome.kind === 'ok') return 'written';
  return outcome.status.code === 404 ? 'absent' : 'failed';
}
