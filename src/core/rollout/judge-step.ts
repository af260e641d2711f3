/**
 * Judges what a rollout of nodes or of clusters waits for: the gravest first, and people before time.
 * frozen ▸ going back ▸ breach ▸ paused ▸ its members ▸ done ▸ view ▸ lost ▸ settling ▸
 * no evidence ▸ soak ▸ approval after ▸ approval before the next ▸ window ▸ the next step opens.
 * It judges a step in numbers: stages/judge-gate.ts, fleet/rollout/judge-stage.ts and recorded-gate.ts sum it up.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { FreezeNote } from '../model/registration.ts';
import type { Gate, StepsEnd } from '../model/staged-progress.ts';
import type { RolloutWindow } from '../policy/rollout-policy.ts';
import { isOpen, nextOpeningMs } from '../policy/window.ts';

type Of<Kind extends Gate['kind']> = Extract<Gate, { readonly kind: Kind }>;

/** The gate of a step; `next`: the next step opens, or the rollout is over. */
export type StepGate = Of<
  | ('frozen' | 'returning' | 'breach' | 'paused' | 'updating' | 'refused' | 'done' | 'view')
  | ('lost' | 'settling' | 'no-canary' | 'no-evidence' | 'soaking' | 'approval' | 'window' | 'next')
>;

/** Facts that stop a rollout wherever it is. */
export interface Holds {
  readonly freeze?: FreezeNote | undefined;
  /** The operator who asked for the way back has seen the breach. */
  readonly isReturning: boolean;
  readonly isHalted: boolean;
  readonly pausedBy?: 'policy' | 'order' | undefined;
}

/** The open step, in numbers. */
export interface StepSummary {
  /** Members that are to be given the release. */
  readonly waiting: number;
  /** Given it, and not there yet. Of nodes `shown` tells that. */
  readonly rolling: number;
  /** No member is given it, since one of them would refuse it. */
  readonly refused?: Of<'refused'>;
  /** Every step has passed. */
  readonly isOver: boolean;
  /** Absent: no step is open yet, or none of its members is within reach. */
  readonly shown?: StepShown;
  /** Why it proves nothing, however long it is well. */
  readonly unproven?: Of<'no-canary' | 'no-evidence'>;
  /** None is left to open after it. */
  readonly isLast: boolean;
  /** The rest keeps what it has, as a partition says: the step stays where it is. */
  readonly isFull: boolean;
  /** What there would be at the end. */
  readonly end?: StepsEnd;
}

/** Evidence of the open step's members once all of them were given the release. */
export interface StepShown {
  /** False: some were not heard of lately. */
  readonly isSeen: boolean;
  readonly lost?: Omit<Of<'lost'>, 'kind'>;
  readonly settling?: Omit<Of<'settling'>, 'kind'>;
  /** Absent: since now. */
  readonly wellSinceMs?: number;
}

/** The demands of the policy, or the strategy. */
export interface StepRules {
  readonly soakMs: number;
  /** Approvals that a person has not given: of the open step once it soaked, and of the next one. */
  readonly awaited: { readonly after?: number | undefined; readonly before?: number | undefined };
  /** When members of the open step may be given it, and when the next one may open. */
  readonly windows: {
    readonly open: readonly RolloutWindow[];
    readonly next: readonly RolloutWindow[];
  };
}

export interface StepInput {
  readonly holds: Holds;
  readonly step: StepSummary;
  readonly rules: StepRules;
  readonly nowMs: number;
}

/** The first thing that holds the rollout, in the order in which a person would want to be told. */
export function judgeStep({ holds, ...input }: StepInput): StepGate {
  return judgeHolds(holds) ?? judgeMembers(input) ?? judgeShown(input) ?? judgeNext(input);
}

function judgeHolds({ freeze, isReturning, isHalted, pausedBy }: Holds): StepGate | undefined {
  if (freeze !== undefined) return { kind: 'frozen', by: freeze.by, why: freeze.why };
  if (isReturning) return { kind: 'returning' };
  if (isHalted) return { kind: 'breach' };
  return pausedBy === undefined ? undefined : { kind: 'paused', by: pausedBy };
}

type Unheld = Omit<StepInput, 'holds'>;

function judgeMembers({ step, rules, nowMs }: Unheld): StepGate | undefined {
  const { waiting, rolling } = step;
  if (waiting + rolling === 0) return step.isOver ? { kind: 'done', ...step.end } : undefined;
  const windows = rules.windows.open;
  if (isOpen(windows, nowMs)) return step.refused ?? { kind: 'updating', pendingNodes: waiting };
  return rolling > 0 ? { kind: 'updating', pendingNodes: waiting } : closed(windows, nowMs);
}

function judgeShown({ step, rules, nowMs }: Unheld): StepGate | undefined {
  const { shown, unproven } = step;
  if (shown?.isSeen === false) return { kind: 'view' };
  if (shown?.lost !== undefined) return { kind: 'lost', ...shown.lost };
  if (shown?.settling !== undefined) return { kind: 'settling', ...shown.settling };
  if (unproven !== undefined) return unproven;
  if (shown === undefined) return undefined;
  const untilMs = (shown.wellSinceMs ?? nowMs) + rules.soakMs;
  if (untilMs > nowMs) return { kind: 'soaking', untilMs };
  const stepIndex = rules.awaited.after;
  return stepIndex === undefined ? undefined : { kind: 'approval', stepIndex };
}

function judgeNext({ step, rules, nowMs }: Unheld): StepGate {
  if (step.isLast) return { kind: 'next' };
  if (step.isFull) return { kind: 'done', ...step.end };
  const stepIndex = rules.awaited.before;
  if (stepIndex !== undefined) return { kind: 'approval', stepIndex };
  return isOpen(rules.windows.next, nowMs) ? { kind: 'next' } : closed(rules.windows.next, nowMs);
}

function closed(windows: readonly RolloutWindow[], nowMs: number): StepGate {
  return { kind: 'window', ...defined({ opensAtMs: nextOpeningMs(windows, nowMs) }) };
}
