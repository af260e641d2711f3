/**
 * What a fleet's open stage waits for, and whether the next one opens (issue 18, build items 1 and 4). Pure.
 *
 *   frozen ▸ going back ▸ breach ▸ paused ▸ its clusters ▸ evidence ▸ soak ▸ approval after ▸ approval before the next ▸ window ▸ opens
 *
 * The gravest first, as in a rollout inside a cluster (core/rollout/gate.ts). A stage without a cluster that shows evidence is no
 * success: it holds until a person approves, except where nobody of it is within reach; then advance-fleet.ts asks those before it.
 * Nothing here sends or counts.
 */
import { defined } from '@rollcall/base/defined.ts';
import { isOpen, nextOpeningMs } from '../../policy/window.ts';
import type { FreezeNote } from '../../takeover/freeze.ts';
import type { FleetStage, FleetStrategy } from '../fleet-daemon-set.ts';
import type { FleetGate, FleetRecord } from './fleet-record.ts';
import type { StageTally } from './tally-stage.ts';
import { returnTargetOf } from './way-back.ts';

/** What a stage is judged by. */
export interface StageInput {
  readonly record: FleetRecord;
  readonly strategy: FleetStrategy;
  /** Of the open stage; absent before the first one. */
  readonly tally?: StageTally;
  readonly freeze?: FreezeNote;
  readonly nowMs: number;
}

/** What comes of it. */
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

/** Judges the open stage. A breach is found by the caller, and stands in the record. */
export function judgeStage(input: StageInput): StageJudgement {
  const { record, freeze, strategy } = input;
  if (freeze !== undefined) return held({ kind: 'frozen', by: freeze.by, why: freeze.why });
  if (returnTargetOf(record, strategy) !== undefined) return held({ kind: 'returning' });
  if (record.breach !== undefined) return held({ kind: 'breach' });
  if (record.orders.paused !== undefined) return held({ kind: 'paused' });
  if (record.stage >= record.stages.length) return held({ kind: 'done' });
  const { tally } = input;
  if (record.stage < 0 || tally === undefined) return judgeNext(input);
  return judgeClusters(input, tally);
}

function held(gate: FleetGate): StageJudgement {
  return { gate, isOver: false, mayGive: false, isSettled: false };
}

function judgeClusters(input: StageInput, tally: StageTally): StageJudgement {
  const { waiting, rolling } = tally.counts;
  if (waiting > 0 || rolling > 0) return onTheWay(input, tally);
  // One read that failed among thousands neither opens a gate nor restarts a soak of days: the next step reads it again.
  if (tally.unclearClusters > 0) return { ...held({ kind: 'updating' }), isSettled: true };
  const isPassedOver = isApproved(input.record, gateAfter(input.record.stage));
  if (tally.provenClusters === 0 && !isPassedOver) return withoutEvidence(input, tally);
  return afterSoak(input, isPassedOver);
}

function onTheWay({ record, strategy, nowMs }: StageInput, { counts }: StageTally): StageJudgement {
  const windows = strategy.stages[record.stage]?.windows ?? [];
  const mayGive = isOpen(windows, nowMs);
  // Found before anybody of it was given it (app/fleet/step/give-clusters.ts): no fault of the release, so nothing is counted meanwhile.
  if (record.gate.kind === 'refused' && mayGive) {
    return { ...held(record.gate), mayGive: nowMs >= record.gate.askAtMs };
  }
  const isWaiting = counts.rolling === 0 && !mayGive;
  const gate: FleetGate = isWaiting ? closed(windows, nowMs) : { kind: 'updating' };
  return { gate, isOver: false, mayGive, isSettled: false };
}

/** Whoever is out of reach neither blocks nor counts; the first stage is what all that follows rests on. */
function withoutEvidence(input: StageInput, { triedClusters }: StageTally): StageJudgement {
  const { record } = input;
  const { name = '', namesNobody = false } = record.stages[record.stage] ?? {};
  const isNobodyTried = triedClusters === 0 && record.stage > 0;
  if (isNobodyTried && !namesNobody) return judgeNext(input);
  const gate = gateAfter(record.stage);
  return { ...held({ kind: 'no-evidence', stage: name, stepIndex: gate }), isSettled: true };
}

function afterSoak(input: StageInput, isPassedOver: boolean): StageJudgement {
  const { record, strategy, nowMs } = input;
  const { soakMs = 0, approval = 'none' } = strategy.stages[record.stage] ?? {};
  const untilMs = (record.wellSinceMs ?? nowMs) + soakMs;
  if (untilMs > nowMs) return { ...held({ kind: 'soaking', untilMs }), isSettled: true };
  if (approval !== 'after' || isPassedOver) return judgeNext(input);
  const gate = gateAfter(record.stage);
  return { ...held({ kind: 'approval', stepIndex: gate }), isSettled: true };
}

/** Whether the stage after the open one may open. */
function judgeNext({ record, strategy, nowMs }: StageInput): StageJudgement {
  const next = record.stage + 1;
  const stage: FleetStage | undefined = strategy.stages[next];
  const settled = { isOver: false, mayGive: false, isSettled: true };
  if (stage === undefined || next >= record.stages.length) {
    return { ...settled, gate: { kind: 'done' }, isOver: true };
  }
  const gate = gateBefore(next);
  const dealt = record.stages[next];
  if (next === 0 && dealt?.members.count === 0 && !isApproved(record, gate)) {
    return { ...settled, gate: { kind: 'no-evidence', stage: dealt.name, stepIndex: gate } };
  }
  if (stage.approval === 'before' && !isApproved(record, gate)) {
    return { ...settled, gate: { kind: 'approval', stepIndex: gate } };
  }
  if (!isOpen(stage.windows, nowMs)) return { ...settled, gate: closed(stage.windows, nowMs) };
  return { ...settled, gate: { kind: 'next' }, isOver: true };
}

function closed(windows: FleetStage['windows'], nowMs: number): FleetGate {
  return { kind: 'window', ...defined({ opensAtMs: nextOpeningMs(windows, nowMs) }) };
}

/** True once a person agreed to this gate of this release, or to a later one. */
export function isApproved({ orders }: FleetRecord, gate: number): boolean {
  return orders.approved !== undefined && orders.approved.stepIndex >= gate;
}
