/**
 * Setting a condition in a pod's status as the API server itself does it, for bindings and evictions.
 *
 * The time of transition moves only with the status; the place in the list is kept, so that a patch by index stays
 * right. lastProbeTime is null, as the real server writes it. Conditions that node agents and controllers write come
 * from them as they are and do not pass here.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import { listAt, objectAt } from '../shared/json-edit.ts';

/** A condition to set, without its times. */
export interface PodCondition extends JsonObject {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason?: string;
  readonly message?: string;
}

/** The status with this condition in place of the one of its type, or at the end. */
export function withCondition(
  status: JsonObject,
  condition: PodCondition,
  nowText: string,
): JsonObject {
  const conditions = listAt(status, 'conditions');
  const index = conditions.findIndex((it) => it['type'] === condition.type);
  const previous = conditions[index];
  const lastTransitionTime =
    previous?.['status'] === condition.status
      ? (previous['lastTransitionTime'] ?? nowText)
      : nowText;
  const next = { ...condition, lastProbeTime: null, lastTransitionTime };
  const others = previous === undefined ? [...conditions, next] : conditions.with(index, next);
  return { ...status, conditions: others };
}

/** The pod with a condition set. */
export function withPodCondition(
  pod: ApiObject,
  condition: PodCondition,
  nowText: string,
): ApiObject {
  return { ...pod, status: withCondition(objectAt(pod, 'status'), condition, nowText) };
}
