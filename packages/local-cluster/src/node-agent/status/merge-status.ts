/**
 * How the agent's idea of a status meets the one in the API (spec node-agent 4c): conditions of others stay, a terminal
 * phase waits until no container can run any more, and a terminal pod is never ready. Pure.
 *
 * DisruptionTarget is the one condition of others that the agent may set, and only together with the terminal phase
 * that it explains. A pod that is terminal in the API already takes its phase from the agent. What differs in the end
 * is status-patch's matter.
 */
import { isTerminalPhase } from '../shared/pod-object.ts';
import type { Condition, PodStatus } from '../shared/pod-object.ts';
import { isOwnCondition } from './pod-conditions.ts';

/** What is merged. */
export interface MergeInput {
  /** In the API. */
  readonly before: PodStatus;
  /** The agent's. */
  readonly after: PodStatus;
  readonly couldRun: boolean;
  /** RFC 3339. */
  readonly nowText: string;
}

/** The status to write. Members that only others write are absent: a patch leaves them alone. */
export function mergeStatus(input: MergeInput): PodStatus {
  const { before, after } = input;
  const becomesTerminal = !isTerminalPhase(before.phase) && isTerminalPhase(after.phase);
  const phase = becomesTerminal && input.couldRun ? phaseOf(before) : phaseOf(after);
  const conditions = mergeConditions(input, becomesTerminal);
  const { phase: _phase, reason: _reason, message: _message, ...rest } = after;
  return {
    ...rest,
    ...phase,
    conditions: isTerminalPhase(phase.phase)
      ? conditions.map((condition) => unready(condition, input, phase.phase))
      : conditions,
  };
}

function phaseOf({
  phase,
  reason,
  message,
}: PodStatus): Pick<PodStatus, 'phase' | 'reason' | 'message'> {
  return {
    ...(phase === undefined ? {} : { phase }),
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
  };
}

function mergeConditions(input: MergeInput, becomesTerminal: boolean): readonly Condition[] {
  const { before, after } = input;
  const isForeign = ({ type }: Condition): boolean => !isOwnCondition(type);
  const target = after.conditions?.find(({ type }) => type === 'DisruptionTarget');
  const foreign = (before.conditions ?? []).filter(isForeign);
  const own = (after.conditions ?? []).filter((condition) => !isForeign(condition));
  if (target === undefined || !becomesTerminal || input.couldRun) return [...foreign, ...own];
  const known = foreign.find(({ type }) => type === target.type);
  const isSame = known?.status === target.status;
  const time = isSame ? known.lastTransitionTime : input.nowText;
  return [
    ...foreign.filter(({ type }) => type !== target.type),
    { ...target, lastTransitionTime: time ?? input.nowText },
    ...own,
  ];
}

function unready(condition: Condition, input: MergeInput, phase: string | undefined): Condition {
  const { type, status } = condition;
  if (status !== 'True' || (type !== 'Ready' && type !== 'ContainersReady')) return condition;
  const known = input.before.conditions?.find((each) => each.type === type);
  return {
    ...condition,
    status: 'False',
    reason: phase === 'Failed' ? 'PodFailed' : 'PodCompleted',
    lastTransitionTime:
      known?.status === 'False' ? (known.lastTransitionTime ?? input.nowText) : input.nowText,
  };
}
