/**
 * Verdicts: for each node one code and one sentence that a person can read (docs/reference/codes.md).
 *
 * A sentence says what is the case, why, and what comes next. It holds no relative time, so that
 * verdicts change only when something else does. Nothing is decided here: the decisions of
 * plan-pods.ts are put into words.
 */
import type { Guard, NodeView } from '../model/plan.ts';
import { defined } from '@rollcall/base/defined.ts';
import { labelOf } from '@rollcall/base/label-selector.ts';
import type { NodeProjection, PodProjection } from '../model/projections.ts';
import type { GuardCode, NodeCode, PlacementReason, Verdict } from '../model/verdict.ts';
import type { NodeDecision } from '../manage-pods/plan-pods.ts';
import type { Wait } from '../manage-pods/plan-create.ts';
import type { RolloutNote } from '../rolling-update/plan-rollout.ts';
import { availableAtMs } from '../pod/pod-facts.ts';
import { timeText } from '../rollout/gate-words.ts';
import { explainPlacement } from './placement-words.ts';
import { describeFailed, describeUnready, type PodFinding } from './pod-verdicts.ts';
import { remedyOfPlacement } from './reasons.ts';
import { describeRollout } from '../rolling-update/rollout-verdicts.ts';

export interface VerdictInput {
  readonly decision: NodeDecision;
  /** The rolling update's finding; only of nodes that need nothing else. */
  readonly rollout?: RolloutNote;
  readonly guard: Guard;
  /** False if the guard or the burst cap keeps the node's create from being sent. */
  readonly isCreated: boolean;
  /** Names of the pods whose deletes are sent. */
  readonly deleted: ReadonlySet<string>;
  readonly minReadyMs: number;
  readonly nowMs: number;
}

interface Finding {
  readonly code: NodeCode;
  readonly text: string;
  readonly pod?: string;
  readonly untilMs?: number;
  readonly guard?: GuardCode;
  readonly matter?: string;
  readonly remedy?: string;
}

/** Codes that need no words: the counters say it all. */
const QUIET_CODES: ReadonlySet<NodeCode> = new Set<NodeCode>(['Running', 'NotWanted']);

/** True for a verdict that needs no report. */
export function isQuiet(code: NodeCode): boolean {
  return QUIET_CODES.has(code);
}

/** How many nodes have each code. */
export function countCodes(verdicts: readonly Verdict[]): Partial<Record<NodeCode, number>> {
  const counts: Partial<Record<NodeCode, number>> = {};
  for (const { code } of verdicts) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}

/** The verdict of one node. */
export function judgeNode(input: VerdictInput): Verdict {
  const { node, placement, reason } = input.decision.nodeView;
  const { text, ...finding } = findMatter(input);
  const isOfPlacement = finding.code === 'NotWanted' || finding.code === 'KeptDespiteTaint';
  return {
    node: node.name,
    placement,
    reason,
    ...(isOfPlacement ? defined({ remedy: remedyOfPlacement(reason) }) : {}),
    ...finding,
    message: `Node ${node.name} ${trimStop(text)}.`,
  };
}

/** The same, with the value that this node has of each label that is asked for. */
function explainOnNode(reason: PlacementReason, { labels }: NodeProjection): string {
  const keys = labelsOf(reason);
  if (keys.length === 0) return explainPlacement(reason);
  const values = keys.slice(0, LABELS_MAX).map((key) => {
    const value = labelOf(labels, key);
    return value === undefined ? `no label ${key}` : `${key}=${value}`;
  });
  return `${explainPlacement(reason)}: it has ${values.join(', ')}`;
}

/** More labels than that are not told of. */
const LABELS_MAX = 8;

function labelsOf(reason: PlacementReason): readonly string[] {
  if (reason.code === 'NodeAffinityMismatch') return reason.labels;
  if (reason.code !== 'NodeSelectorMismatch') return [];
  return reason.label.split('=', 1);
}

function findMatter(input: VerdictInput): Finding {
  const { decision, rollout } = input;
  if (hasWork(input) && input.guard.kind !== 'act') {
    return {
      code: 'WaitingForCluster',
      guard: input.guard.code,
      text: `needs a change, which waits: ${input.guard.message}`,
    };
  }
  if (decision.create !== undefined) return findCreating(input, decision.create.name);
  const [first] = decision.deletes;
  if (first !== undefined) return findDeleting(input, first.planned.name);
  if (decision.wait !== undefined) return findWait(decision.nodeView, decision.wait);
  if (decision.withheldUntilMs !== undefined) return describeWithheld(decision.withheldUntilMs);
  return rollout === undefined ? findSteady(input) : findRolling(input, rollout);
}

function findWait({ node, pods }: NodeView, { message, ...wait }: Wait): Finding {
  const { code, untilMs } = wait;
  const text = `waits: ${message}`;
  const isTold = code === 'FailedBackoff' || code === 'Refused';
  if (!isTold || untilMs === undefined) return { ...wait, text };
  const pod = pods.find(({ name }) => name === wait.pod);
  const failed = code === 'FailedBackoff' && pod ? describeFailed(pod, node) : { matter: text };
  return { ...wait, text: `${text}, at ${timeText(untilMs)}`, ...failed };
}

function hasWork({ decision, rollout }: VerdictInput): boolean {
  const isRolling = rollout?.kind === 'deleting' || rollout?.kind === 'creating';
  return decision.create !== undefined || decision.deletes.length > 0 || isRolling;
}

function findRolling(input: VerdictInput, note: RolloutNote): Finding {
  const isSent = note.kind === 'deleting' ? input.deleted.has(note.pod) : input.isCreated;
  const isWanted = input.decision.nodeView.placement === 'run';
  const finding = describeRollout(note, { isSent, isWanted });
  const unready = findUnreadyOutdated(input, note);
  if (unready !== undefined) {
    const isSaid = note.kind === 'waiting' && note.for === 'ready';
    return { ...unready, text: isSaid ? finding.text : `${unready.text}; it ${finding.text}` };
  }
  const { guard } = input;
  const isLeft = note.kind === 'outdated' && guard.kind !== 'act' && guard.code === 'not-opted-in';
  return isLeft ? { ...finding, text: `${finding.text}. ${trimStop(guard.message)}` } : finding;
}

/** Pods of an older revision that wait for their turn, none of which is ready: what they lack is the matter. */
function findUnreadyOutdated(
  { decision: { nodeView }, nowMs }: VerdictInput,
  note: RolloutNote,
): PodFinding | undefined {
  if (!WAITING_NOTES.has(note.kind)) return undefined;
  const { node, pods } = nodeView;
  const living = pods.filter(({ isTerminating }) => !isTerminating);
  const [pod] = living;
  if (pod === undefined || living.some(({ isReady }) => isReady)) return undefined;
  return describeUnready({ pod, node, nowMs });
}

const WAITING_NOTES: ReadonlySet<RolloutNote['kind']> = new Set<RolloutNote['kind']>([
  'waiting',
  'held-up',
  'outdated',
]);

/** A sentence as the end of another one, which brings the full stop. */
function trimStop(sentence: string): string {
  return sentence.replace(/\.$/, '');
}

function findCreating(input: VerdictInput, pod: string): Finding {
  return input.isCreated
    ? { code: 'Creating', pod, text: `${why(input)}; pod ${pod} is being created` }
    : {
        code: 'WaitingForBurst',
        text: `${why(input)}; its pod is created after the present batch`,
      };
}

function findDeleting(input: VerdictInput, pod: string): Finding {
  const { deletes, nodeView } = input.decision;
  const names = deletes.map(({ planned }) => planned.name);
  const sent = names.filter((name) => input.deleted.has(name));
  const reasons = [...new Set(deletes.map(({ planned }) => planned.reason))].join(', ');
  const cause =
    nodeView.placement === 'leave' ? why(input) : `has pods to be replaced (${reasons})`;
  return sent.length === 0
    ? { code: 'WaitingForBurst', pod, text: `${cause}; deletes follow the present batch` }
    : { code: 'Deleting', pod, text: `${cause}; deleting ${sent.join(', ')}` };
}

function describeWithheld(untilMs: number): Finding {
  const text =
    'has available pods that should go; they stay until requests that may have been forgotten are ' +
    'certainly dead';
  return { code: 'WaitingForCluster', text, untilMs };
}

function findSteady(input: VerdictInput): Finding {
  const { nodeView } = input.decision;
  const pod = nodeView.pods.find((each) => !each.isTerminating) ?? nodeView.pods[0];
  if (pod === undefined) return { code: 'NotWanted', text: `${why(input)}; no pod belongs there` };
  if (pod.isTerminating) {
    const next = nodeView.placement === 'run' ? 'then it is replaced' : 'none follows';
    const text = `${why(input)}; pod ${pod.name} has to be gone first, ${next}`;
    return { code: 'WaitingForTermination', pod: pod.name, text };
  }
  if (nodeView.placement === 'keep') {
    const text = `${why(input)}; pod ${pod.name} may stay, a lost one is not made again`;
    if (pod.isReady) return { code: 'KeptDespiteTaint', pod: pod.name, text };
    const unready = describeUnready({ pod, node: nodeView.node, nowMs: input.nowMs });
    return { ...unready, text: `${unready.text}; it ${text}` };
  }
  if (nodeView.placement === 'leave') {
    return { code: 'Deleting', pod: pod.name, text: `${why(input)}; deleting ${pod.name}` };
  }
  return describePod(input, pod);
}

function describePod(input: VerdictInput, pod: PodProjection): Finding {
  const { nodeView } = input.decision;
  const name = pod.name;
  if (pod.isReady) {
    const atMs = input.minReadyMs === 0 ? undefined : availableAtMs(pod, input.minReadyMs);
    if (atMs === undefined || atMs <= input.nowMs) {
      return { code: 'Running', pod: name, text: `has ready pod ${name}` };
    }
    const text = `has ready pod ${name}, which counts as available after minReadySeconds`;
    return { code: 'Running', pod: name, text, untilMs: atMs };
  }
  return describeUnready({ pod, node: nodeView.node, nowMs: input.nowMs });
}

function why(input: VerdictInput): string {
  const { reason, node } = input.decision.nodeView;
  return explainOnNode(reason, node);
}

/** The same verdict for a node whose DaemonSet cannot be acted upon at all. */
export function blockedVerdict(nodeView: NodeView, cause: string): Verdict {
  const { node, placement, reason } = nodeView;
  const message = `Node ${node.name} is not looked at: ${cause}.`;
  return { node: node.name, placement, reason, code: 'Blocked', message };
}
