/**
 * Judges what a fleet's open stage waits for: its clusters, summed up for the judgement that nodes have as
 * well (core/rollout/judge-step.ts).
 *
 * A stage without a cluster that shows evidence is no success: it holds until a person approves,
 * except where none of its clusters is within reach; then advance-fleet.ts asks those before it. Nothing
 * here sends or counts.
 */
import { defined } from '@rollcall/base/defined.ts';
import { isOpen } from '../../policy/window.ts';
import { judgeStep } from '../../rollout/judge-step.ts';
import type { Holds, StepGate, StepRules, StepSummary } from '../../rollout/judge-step.ts';
import type { FreezeNote } from '../../may-act/freeze.ts';
import type { FleetStrategy } from '../fleet-daemon-set.ts';
import type { FleetGate, FleetRecord } from './fleet-record.ts';
import type { StageTally } from './tally-stage.ts';
import { returnTargetOf } from './way-back.ts';

export interface StageInput {
  readonly record: FleetRecord;
  readonly strategy: FleetStrategy;
  /** Of the open stage; absent before the first one. */
  readonly tally?: StageTally;
  readonly freeze?: FreezeNote;
  readonly nowMs: number;
}

export interface StageJudgement {
  readonly gate: FleetGate;
  /** True if the next stage opens now, or the rollout is over (`done`). */
  readonly isOver: boolean;
  /** True if clusters of the open stage may be given it now. */
  readonly mayGive: boolean;
  /** True if nothing of the stage is on its way, so that its soak counts. */
  readonly isSettled: boolean;
}

/** Gate before stage k. */
export function gateBefore(stage: number): number {
  return 2 * stage;
}

/** Gate after stage k. */
export function gateAfter(stage: number): number {
  return 2 * stage + 1;
}

/** Gates that stop or end any stage: no cluster is given anything, and no soak counts. */
const STOPS: ReadonlySet<string> = new Set(['frozen', 'returning', 'breach', 'paused', 'done']);

/** Judges the open stage. A breach is found by the caller, and stands in the record. */
export function judgeStage(input: StageInput): StageJudgement {
  const { nowMs } = input;
  const step = stepOf(input);
  const rules = rulesOf(input);
  const gate = judgeStep({ holds: holdsOf(input), step, rules, nowMs });
  const isOver = gate.kind === 'next';
  const isStopped = STOPS.has(gate.kind);
  const isOnTheWay = step.waiting + step.rolling > 0;
  const isAsked = gate.kind !== 'refused' || nowMs >= gate.askAtMs;
  return {
    gate: isOver && step.isLast ? { kind: 'done' } : fleetGateOf(gate),
    isOver,
    mayGive: !isStopped && isOnTheWay && isAsked && isOpen(rules.windows.open, nowMs),
    isSettled: !isStopped && !isOnTheWay,
  };
}

function holdsOf({ record, strategy, freeze }: StageInput): Holds {
  return {
    freeze,
    isReturning: returnTargetOf(record, strategy) !== undefined,
    isHalted: record.breach !== undefined,
    pausedBy: record.orders.paused && 'order',
  };
}

function rulesOf({ record, strategy }: StageInput): StepRules {
  const open = strategy.stages[record.stage];
  const next = strategy.stages[record.stage + 1];
  const awaited = (isAsked: boolean, gate: number): number | undefined =>
    isAsked && !isApproved(record, gate) ? gate : undefined;
  return {
    soakMs: open?.soakMs ?? 0,
    awaited: {
      after: awaited(open?.approval === 'after', gateAfter(record.stage)),
      before: awaited(next?.approval === 'before', gateBefore(record.stage + 1)),
    },
    windows: { open: open?.windows ?? [], next: next?.windows ?? [] },
  };
}

function stepOf({ record, strategy, tally }: StageInput): StepSummary {
  const { stage, stages } = record;
  const isOver = stage >= stages.length;
  const isLast = stage + 1 >= Math.min(stages.length, strategy.stages.length);
  const none = { waiting: 0, rolling: 0, isOver, isLast, isFull: false };
  if (isOver) return none;
  if (stage < 0 || tally === undefined) return { ...none, ...withoutMembers(record) };
  return { ...none, ...membersOf(record, tally) };
}

type Members = Pick<StepSummary, 'waiting' | 'rolling' | 'refused' | 'shown' | 'unproven'>;

/** A cluster out of reach neither blocks nor counts; all later stages rest on the first. */
function membersOf(record: FleetRecord, tally: StageTally): Members {
  const { stage, gate, wellSinceMs } = record;
  const { waiting, rolling } = tally.counts;
  const given: Members = {
    waiting,
    rolling,
    ...(gate.kind === 'refused' ? { refused: gate } : {}),
  };
  // One read that failed among thousands neither opens a gate nor restarts a soak of days: the next step reads it again.
  const isSeen = tally.unclearClusters === 0;
  const shown = { isSeen, ...defined({ wellSinceMs }) };
  const stepIndex = gateAfter(stage);
  const isProven = tally.provenClusters > 0 || isApproved(record, stepIndex);
  if (isProven || !isSeen) return { ...given, shown };
  const { name = '', namesNobody = false } = record.stages[stage] ?? {};
  const isNobodyTried = tally.triedClusters === 0 && stage > 0;
  if (isNobodyTried && !namesNobody) return given;
  return { ...given, shown, unproven: { kind: 'no-evidence', stage: name, stepIndex } };
}

/** An empty first stage would prove the release by nothing. */
function withoutMembers(record: FleetRecord): Pick<StepSummary, 'unproven'> {
  const next = record.stage + 1;
  const stepIndex = gateBefore(next);
  const dealt = record.stages[next];
  if (next !== 0 || dealt?.members.count !== 0 || isApproved(record, stepIndex)) return {};
  return { unproven: { kind: 'no-evidence', stage: dealt.name, stepIndex } };
}

/** In a fleet nothing is lost or settles: an awaited cluster is on its way, and so is one that cannot be read now. */
function fleetGateOf(gate: StepGate): FleetGate {
  switch (gate.kind) {
    case 'updating':
    case 'view':
    case 'lost':
    case 'settling':
    case 'no-canary':
      return { kind: 'updating' };
    case 'paused':
    case 'done':
      return { kind: gate.kind };
    default:
      return gate;
  }
}

/** True once a person agreed to this gate of this release, or to a later one. */
export function isApproved({ orders }: FleetRecord, gate: number): boolean {
  return orders.approved !== undefined && orders.approved.stepIndex >= gate;
}
