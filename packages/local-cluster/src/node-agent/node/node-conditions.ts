/**
 * The conditions of a node as its agent reports them: MemoryPressure, DiskPressure, PIDPressure and, last, Ready (spec
 * node-agent 9), in the kubelet's words. Pure.
 *
 * lastTransitionTime moves only when the status does, lastHeartbeatTime with every report. NetworkUnavailable belongs
 * to whoever provides routes and is not touched. What the pressures are, and what makes a node unready, the caller
 * says.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { Condition } from '../shared/pod-object.ts';

/** Conditions that tell of pressure. */
export type NodeConditionType = 'MemoryPressure' | 'DiskPressure' | 'PIDPressure';

/** What the agent knows about its node. */
export interface NodeHealth {
  readonly pressures: readonly NodeConditionType[];
  /** What keeps it from being ready; empty when it is. */
  readonly errors: readonly string[];
}

interface PressureWords {
  readonly type: NodeConditionType;
  readonly whenTrue: { readonly reason: string; readonly message: string };
  readonly whenFalse: { readonly reason: string; readonly message: string };
}

const PRESSURES: readonly PressureWords[] = [
  {
    type: 'MemoryPressure',
    whenTrue: {
      reason: 'KubeletHasInsufficientMemory',
      message: 'kubelet has insufficient memory available',
    },
    whenFalse: {
      reason: 'KubeletHasSufficientMemory',
      message: 'kubelet has sufficient memory available',
    },
  },
  {
    type: 'DiskPressure',
    whenTrue: { reason: 'KubeletHasDiskPressure', message: 'kubelet has disk pressure' },
    whenFalse: { reason: 'KubeletHasNoDiskPressure', message: 'kubelet has no disk pressure' },
  },
  {
    type: 'PIDPressure',
    whenTrue: {
      reason: 'KubeletHasInsufficientPID',
      message: 'kubelet has insufficient PID available',
    },
    whenFalse: {
      reason: 'KubeletHasSufficientPID',
      message: 'kubelet has sufficient PID available',
    },
  },
];

/** The conditions now; `previous` lends the times of those that have not changed sides. */
export function nodeConditions(
  health: NodeHealth,
  previous: readonly Condition[],
  nowText: string,
): readonly Condition[] {
  const conditions: Condition[] = PRESSURES.map(({ type, whenTrue, whenFalse }) =>
    health.pressures.includes(type)
      ? { type, status: 'True', ...whenTrue }
      : { type, status: 'False', ...whenFalse },
  );
  const { errors } = health;
  conditions.push(
    errors.length === 0
      ? {
          type: 'Ready',
          status: 'True',
          reason: 'KubeletReady',
          message: 'kubelet is posting ready status',
        }
      : {
          type: 'Ready',
          status: 'False',
          reason: 'KubeletNotReady',
          message: errors.length === 1 ? (errors[0] ?? '') : `[${errors.join(', ')}]`,
        },
  );
  return conditions.map((condition) => {
    const known = previous.find(({ type }) => type === condition.type);
    const isSame = known !== undefined && known.status === condition.status;
    return {
      ...condition,
      lastHeartbeatTime: nowText,
      lastTransitionTime: (isSame ? known.lastTransitionTime : undefined) ?? nowText,
    };
  });
}

/** True when some condition says something else than before, heartbeats apart. */
export function hasChangedConditions(
  previous: readonly Condition[],
  next: readonly Condition[],
): boolean {
  return next.some((condition) => {
    const known = previous.find(({ type }) => type === condition.type);
    return (['status', 'reason', 'message'] as const).some(
      (field) => known?.[field] !== condition[field],
    );
  });
}

/** The reason of the node event that a change of this condition is told by. */
export function conditionEventReason({ type, status }: Condition): string {
  const isTrue = status === 'True';
  switch (type) {
    case 'MemoryPressure':
      return isTrue ? 'NodeHasInsufficientMemory' : 'NodeHasSufficientMemory';
    case 'DiskPressure':
      return isTrue ? 'NodeHasDiskPressure' : 'NodeHasNoDiskPressure';
    case 'PIDPressure':
      return isTrue ? 'NodeHasInsufficientPID' : 'NodeHasSufficientPID';
    default:
      return isTrue ? 'NodeReady' : 'NodeNotReady';
  }
}

/** conditions of a node's status. */
export function conditionsOf(status: JsonObject[string]): readonly Condition[] {
  if (typeof status !== 'object' || status === null || Array.isArray(status)) return [];
  const { conditions } = status as JsonObject;
  return Array.isArray(conditions) ? (conditions as readonly Condition[]) : [];
}
