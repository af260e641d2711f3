/**
 * What a staged rollout waits for, told from its record and policy: for people, never for a decision (issue 17).
 *
 * A run judges its gate by the nodes; here stands what the record alone tells, in the same words, for where no plan can
 * be made: a cluster that is frozen, a view that is not whole. The gravest reason first: what a person has to do before
 * what time does.
 */
import { counted } from '@rollcall/base/counted.ts';
import { defined } from '@rollcall/base/defined.ts';
import { isOpen, nextOpeningMs } from '../policy/window.ts';
import type { PolicyReading } from '../policy/rollout-policy.ts';
import type { Gate } from '../model/staged-progress.ts';
import type { RolloutRecord } from '../model/rollout-record.ts';
import { PHASES } from './gate-words.ts';
import type { FleetHold, RolloutPhase, ShownGate } from './gate-words.ts';
import { awaitedApproval } from './approval.ts';
import { describeMissing } from './pod-counts.ts';
import type { Generations, PodCounts } from './pod-counts.ts';

/** What nodes do while it is held. */
export interface Retreat {
  /** A breach sends them back to the proven revision. */
  readonly isRollingBack: boolean;
  /** None runs the template's revision any more. */
  readonly isBack: boolean;
}

/** The word for a gate. */
export function phaseOf({ kind }: ShownGate, { isRollingBack, isBack }: Retreat): RolloutPhase {
  if (kind === 'returning' && isBack) return 'Returned';
  return kind === 'breach' && isRollingBack && !isBack ? 'Returning' : PHASES[kind];
}

/** What the gate is told from. */
export interface GateInput {
  readonly record: RolloutRecord;
  readonly policy: PolicyReading;
  readonly nowMs: number;
  /** True if the record is known to be of an older template than the DaemonSet's. */
  readonly isBehind?: boolean;
  /** As a plan of now judges it, where there is one. */
  readonly planned?: Gate;
  /** Of the fleet that has the first nodes of the cluster: what waits for approval waits for it. */
  readonly hold?: FleetHold;
  /** Of the DaemonSet and its status; absent: its object is not known, and nothing is known to be done. */
  readonly counts?: PodCounts & Generations;
}

/** What the rollout waits for. A breach that a plan would find is told once a run has recorded it. */
export function gateOf(input: GateInput): ShownGate {
  const { record, isBehind = false, planned } = input;
  if (isBehind) return { kind: 'unseen' };
  const isRecorded = planned?.kind !== 'breach' || record.breach !== undefined;
  const gate = planned !== undefined && isRecorded ? planned : gateOfRecord(input);
  if (gate.kind === 'approval' && input.hold !== undefined) return input.hold;
  return gate.kind === 'done' ? endOf(gate, input.counts) : gate;
}

const NO_NODES = { keptNodes: 0, notReadyNodes: 0, unwellNodes: 0, placelessNodes: 0 };

/** Done means available, as `kubectl rollout status` has it. */
function endOf(
  gate: Extract<ShownGate, { readonly kind: 'done' }>,
  counts: GateInput['counts'],
): ShownGate {
  const { keptNodes, notReadyNodes, unwellNodes, placelessNodes } = { ...NO_NODES, ...gate };
  const are = unwellNodes === 1 ? 'is' : 'are';
  const unwell = unwellNodes === 0 ? undefined : `${unwellNodes} of its pods ${are} not available`;
  const missing =
    counts === undefined
      ? 'whether its pods are available is not known'
      : (describeMissing(withoutPlace(counts, placelessNodes), keptNodes + notReadyNodes) ??
        unwell ??
        describePlaceless(placelessNodes));
  if (missing !== undefined) return { kind: 'unavailable', missing };
  return notReadyNodes > 0 ? { kind: 'nodes-not-ready', notReadyNodes } : gate;
}

/** The counts as if those nodes were served: why they are not is told by itself. */
function withoutPlace(
  counts: PodCounts & Generations,
  placelessNodes: number,
): PodCounts & Generations {
  return { ...counts, available: counts.available + placelessNodes };
}

function describePlaceless(nodes: number): string | undefined {
  if (nodes === 0) return undefined;
  return `all others are rolled out; on ${counted(nodes, 'node')} no place is found for the pod, as before this revision`;
}

/** As far as the record tells. */
function gateOfRecord(input: GateInput): ShownGate {
  const { record, policy } = input;
  const { orders, breach, step } = record;
  // As a plan judges it: whoever asked for the way back has seen the breach.
  if (orders.undo !== undefined) return { kind: 'returning' };
  if (breach !== undefined) return { kind: 'breach' };
  if (policy.kind === 'invalid') return { kind: 'invalid' };
  if (step.kind === 'done') return { kind: 'done' };
  if (policy.kind === 'policy' && policy.policy.isPaused) return { kind: 'paused', by: 'policy' };
  if (orders.paused !== undefined) return { kind: 'paused', by: 'order' };
  return gateOfStep(input);
}

function gateOfStep({ record, policy, nowMs }: GateInput): ShownGate {
  const { wellSinceMs } = record.step;
  if (wellSinceMs === undefined) return { kind: 'settling' };
  if (policy.kind !== 'policy') return { kind: 'next' };
  const { soakMs, windows } = policy.policy;
  const untilMs = wellSinceMs + soakMs;
  if (untilMs > nowMs) return { kind: 'soaking', untilMs };
  const stepIndex = awaitedApproval(record, policy.policy.approval);
  if (stepIndex !== undefined) return { kind: 'approval', stepIndex };
  if (isOpen(windows, nowMs)) return { kind: 'next' };
  return { kind: 'window', ...defined({ opensAtMs: nextOpeningMs(windows, nowMs) }) };
}
