/**
 * Tells from a staged rollout's record and policy what it waits for: for people, never for a
 * decision.
 *
 * A run judges its gate by the nodes; here stands what the record alone tells, in the same words
 * and order (judge-step.ts), for where no plan can be made: a cluster that is frozen, a view that
 * is not whole.
 */
import { counted } from '@rollcall/base/counted.ts';
import { defined } from '@rollcall/base/defined.ts';
import type { PolicyReading, RolloutPolicy } from '../policy/rollout-policy.ts';
import type { FleetHold, Gate } from '../model/staged-progress.ts';
import type { RolloutRecord } from '../model/rollout-record.ts';
import { PHASES, type RolloutPhase } from './gate-words.ts';
import { awaitedApproval } from './approval.ts';
import { judgeStep, type Holds, type StepRules } from './judge-step.ts';
import { describeMissing, type Generations, type PodCounts } from './pod-counts.ts';

export interface Retreat {
  /** A breach sends them back to the good revision. */
  readonly isRollingBack: boolean;
  /** None runs the template's revision any more. */
  readonly isBack: boolean;
}

/** The word for a gate. */
export function phaseOf({ kind }: Gate, { isRollingBack, isBack }: Retreat): RolloutPhase {
  if (kind === 'returning' && isBack) return 'Returned';
  return kind === 'breach' && isRollingBack && !isBack ? 'Returning' : PHASES[kind];
}

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

/** The gate of the rollout. A breach that a plan would find is shown once a run has recorded it. */
export function gateOf(input: GateInput): Gate {
  const { record, isBehind = false, planned } = input;
  if (isBehind) return { kind: 'unseen' };
  const isRecorded = planned?.kind !== 'breach' || record.breach !== undefined;
  const gate = planned !== undefined && isRecorded ? planned : gateOfRecord(input);
  if (gate.kind === 'approval' && input.hold !== undefined) return input.hold;
  return gate.kind === 'done' ? endOf(gate, input.counts) : gate;
}

const NO_NODES = { keptNodes: 0, notReadyNodes: 0, unwellNodes: 0, placelessNodes: 0 };

/** Done means available, as `kubectl rollout status` has it. */
function endOf(gate: Extract<Gate, { readonly kind: 'done' }>, counts: GateInput['counts']): Gate {
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
function gateOfRecord({ record, policy: reading, nowMs, counts }: GateInput): Gate {
  const { orders, breach, step } = record;
  // An undo waits for the policy as well: nodes go back once it can be read.
  const isStopped = orders.undo === undefined ? breach !== undefined : counts?.updated === 0;
  if (reading.kind === 'invalid' && !isStopped) return { kind: 'invalid' };
  const policy = reading.kind === 'policy' ? reading.policy : undefined;
  const isOver = step.kind === 'done';
  const { pausedBy, ...stopped } = holdsOf(record, policy?.isPaused === true);
  const { wellSinceMs } = step;
  const settling = wellSinceMs === undefined ? {} : undefined;
  return judgeStep({
    // Of one that is over nothing is left to pause.
    holds: isOver ? stopped : { ...stopped, pausedBy },
    step: {
      ...{ waiting: 0, rolling: 0, isOver, isLast: false, isFull: false },
      shown: { isSeen: true, ...defined({ settling, wellSinceMs }) },
    },
    rules: rulesOf(record, policy ?? NO_RULES),
    nowMs,
  });
}

const NO_RULES = { soakMs: 0, approval: 'none', windows: [] } as const;

/** What its policy asks for. */
export function rulesOf(
  record: RolloutRecord,
  { soakMs, approval, windows }: Pick<RolloutPolicy, 'soakMs' | 'approval' | 'windows'>,
): StepRules {
  return {
    soakMs,
    awaited: { before: awaitedApproval(record, approval) },
    windows: { open: [], next: windows },
  };
}

/** What stops it wherever it is. */
export function holdsOf({ orders, breach }: RolloutRecord, isPausedByPolicy: boolean): Holds {
  return {
    isReturning: orders.undo !== undefined,
    isHalted: breach !== undefined,
    pausedBy: isPausedByPolicy ? 'policy' : orders.paused && 'order',
  };
}
