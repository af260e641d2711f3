/**
 * Nodes of a staged rollout, summed up for the judgement of its open step (rollout/judge-step.ts),
 * and when to look again.
 *
 * A step opens only on what was seen of this revision, in a view that is whole and fresh, after the
 * step before had opened: all its pods available for the soak, without a restart, on nodes that are
 * Ready. Silence is no success.
 */
import type { RolloutRecord } from '../model/rollout-record.ts';
import { defined } from '@rollcall/base/defined.ts';
import { hasBegun } from './canary.ts';
import type { CanaryStanding } from './replace-canaries.ts';
import { baselineDueMs } from './baseline.ts';
import { evidenceNodes } from './observe.ts';
import { isPending, type StageNode } from './stage-node.ts';
import type { Gate, StepsEnd } from '../model/staged-progress.ts';
import { isSoakHopeless, sparedNodes, type Wellness } from '../rollout/soak.ts';
import { GRACE_MS } from '../health/pod-signs.ts';
import type { ExcusedHold } from '../health/breach.ts';
import type { StagesInput } from './stages-input.ts';
import { holdsOf, rulesOf } from '../rollout/recorded-gate.ts';
import { judgeStep, type StepGate, type StepShown } from '../rollout/judge-step.ts';
import type { Steps } from './steps.ts';

export interface GateInput {
  readonly input: StagesInput;
  readonly record: RolloutRecord;
  readonly steps: Steps;
  /** Nodes of open steps that wait for their turn: not skipped, and not kept by the partition. */
  readonly turns: readonly StageNode[];
  /** Nodes that neither block nor count: bad before, or bad by themselves within the attributed budget. */
  readonly excused: ReadonlySet<string>;
  readonly canary: CanaryStanding;
  readonly well: Wellness;
  /** Failures that pods of the former revision share. */
  readonly shared?: ExcusedHold;
  /** How many more nodes the partition lets be updated. */
  readonly roomNodes: number;
  /** What there would be at the end. */
  readonly end: StepsEnd;
}

/** The gate of the rollout; `next`: the next step opens. */
export function judgeGate(gate: GateInput): StepGate {
  const { record, input, steps, end } = gate;
  const { policy, nowMs } = input;
  const isWaiting = record.step.kind === 'waiting';
  return judgeStep({
    holds: holdsOf(record, policy.isPaused),
    step: {
      waiting: gate.turns.length,
      rolling: 0,
      isOver: record.step.kind === 'done',
      ...(isWaiting ? {} : { shown: shownBy(gate) }),
      ...(isCanaryMissing(gate) ? { unproven: { kind: 'no-canary' } } : {}),
      isLast: steps.next === undefined && !isWaiting,
      isFull: gate.roomNodes <= 0,
      end,
    },
    rules: rulesOf(record, policy),
    nowMs,
  });
}

/** Evidence of the open steps' nodes, once all that may be are updated. */
function shownBy({ input, record, canary, well, shared }: GateInput): StepShown {
  const { lost, missing, addsAtMs } = canary;
  const settling =
    well.blockingNodes > 0
      ? { unwellNodes: well.blockingNodes }
      : shared && { unwellNodes: shared.nodes, sharedUntilMs: shared.untilMs };
  return {
    isSeen: input.isViewFresh,
    ...(missing > 0 ? { lost: { lostNodes: lost.size, ...defined({ addsAtMs }) } } : {}),
    ...defined({ settling, wellSinceMs: record.step.wellSinceMs }),
  };
}

/** How nodes of open steps are, but for lost canaries, which others stand for: some may be unwell, as long as they do not just come up. */
export function wellnessOf(
  { step }: RolloutRecord,
  gate: Pick<GateInput, 'steps' | 'excused' | 'canary' | 'shared' | 'turns' | 'input'>,
): Wellness {
  const { excused, canary, input } = gate;
  const { lost, kept, missing } = canary;
  const nodes = [...gate.steps.open, ...kept].filter((node) => !isPending(node));
  const unwell = nodes.filter((node) => {
    const { name } = node.node;
    return isUnwell(node) && !excused.has(name) && !lost.has(name);
  });
  const comingUp = unwell.filter((node) => isComingUp(node, input)).length;
  const others = unwell.length - comingUp;
  return {
    nodes: nodes.length,
    unwellNodes: unwell.length,
    blockingNodes: comingUp + (others > sparedNodes(step, nodes.length) ? others : 0),
    isWhole: gate.turns.length === 0 && missing === 0 && gate.shared === undefined,
  };
}

/** Its pod has had no time to show anything. */
function isComingUp({ node, updated }: StageNode, { nowMs, minReadyMs }: StagesInput): boolean {
  return node.isReady && nowMs - (updated?.createdAtMs ?? nowMs) < GRACE_MS + minReadyMs;
}

function isUnwell(node: StageNode): boolean {
  return !(node.isWell && node.node.isReady);
}

/** A selector that no node matches, or a canary of which no node is left, would prove the revision by nothing. */
function isCanaryMissing({ record, input, roomNodes }: GateInput): boolean {
  const { canary, step } = record;
  if (step.kind === 'waiting')
    return input.policy.canary.kind === 'selector' && canary.length === 0;
  return step.kind === 'canary' && roomNodes > 0 && !hasBegun(canary, evidenceNodes(input));
}

/**
 * A heartbeat makes a view fresh without any change that would wake the key: it is looked at again, ever more seldom, and never
 * in step with what makes it fresh (watch bookmarks each minute, heartbeats each half minute): such looks would miss it for ever.
 */
const VIEW_LOOK_MS = 37_000;
const VIEW_LOOK_MS_MAX = 277_000;

function viewLookMs({ step }: RolloutRecord, nowMs: number): number {
  const lastedMs = Math.max(0, nowMs - step.progressedAtMs);
  return nowMs + Math.min(Math.max(VIEW_LOOK_MS, lastedMs / 2), VIEW_LOOK_MS_MAX);
}

/** When time alone opens or breaks something. */
export function gateMoments(
  gate: Gate,
  record: RolloutRecord,
  input: StagesInput,
): readonly number[] {
  const { nowMs } = input;
  const baselineMs = baselineDueMs(record, input);
  const moments = baselineMs === undefined ? [] : [baselineMs];
  if (gate.kind === 'view' || baselineMs === nowMs) moments.push(viewLookMs(record, nowMs));
  if (gate.kind === 'soaking') moments.push(gate.untilMs);
  if (gate.kind === 'settling' && gate.sharedUntilMs !== undefined)
    moments.push(gate.sharedUntilMs);
  if (gate.kind === 'window' && gate.opensAtMs !== undefined) moments.push(gate.opensAtMs);
  const { progressDeadlineMs } = input.policy;
  if (progressDeadlineMs !== undefined && isWaitingForPods(gate, record, input))
    moments.push(record.step.progressedAtMs + progressDeadlineMs);
  return moments.filter((moment) => moment > nowMs);
}

function isWaitingForPods(
  { kind }: Gate,
  { step }: RolloutRecord,
  { nowMs, policy: { soakMs } }: StagesInput,
): boolean {
  if (kind === 'soaking') return isSoakHopeless(step, { nowMs, soakMs });
  return ['updating', 'settling', 'lost'].includes(kind);
}

/**
 * The record with the moment at which its canary had shown all that it had to, while an operator or a window holds the next step. It proves
 * nothing yet, since nodes that join would be given it; a fleet goes on by it. A view that is too old for a moment takes nothing back.
 */
export function noteSoaked(record: RolloutRecord, { kind }: Gate, nowMs: number): RolloutRecord {
  const { soakedAtMs, ...step } = record.step;
  if (kind === 'view') return record;
  const isSoaked = step.kind === 'canary' && (kind === 'approval' || kind === 'window');
  if (isSoaked === (soakedAtMs !== undefined)) return record;
  return { ...record, step: isSoaked ? { ...step, soakedAtMs: nowMs } : step };
}
