/** Transition times of a pod's conditions and its startTime, and when two statuses say the same (spec node-agent 7). Pure. */
import { isEqualJson } from '../shared/equal-json.ts';
import type { Condition, PodStatus } from '../shared/pod-object.ts';
import { isOwnCondition } from './pod-conditions.ts';

/** The new status with the times of the old one wherever nothing has changed sides. */
export function withTransitions(before: PodStatus, after: PodStatus, nowText: string): PodStatus {
  const conditions = (after.conditions ?? []).map((condition): Condition => {
    if (!isAgents(condition)) return condition;
    const known = before.conditions?.find(({ type }) => type === condition.type);
    const isSame = known !== undefined && known.status === condition.status;
    const time = isSame ? known.lastTransitionTime : nowText;
    return { ...condition, lastTransitionTime: time ?? nowText };
  });
  return {
    ...after,
    ...(conditions.length === 0 ? {} : { conditions }),
    startTime: before.startTime ?? after.startTime ?? nowText,
  };
}

/** Do both say the same, apart from conditions that others own? */
export function isSameOwnStatus(left: PodStatus, right: PodStatus): boolean {
  const own = (status: PodStatus): PodStatus => ({
    ...status,
    conditions: (status.conditions ?? []).filter(isAgents),
  });
  return isEqualJson(own(left), own(right));
}

function isAgents({ type }: Condition): boolean {
  return isOwnCondition(type) || type === 'DisruptionTarget';
}
