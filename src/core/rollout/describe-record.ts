/**
 * A staged rollout in words: the same in `rollcall rollout status`, the table of `npm start`, events and explanations.
 *
 * Sentences hold absolute times (UTC), so that they change only when something else does. Names of nodes and revisions
 * are what a cluster said: whoever prints them takes control characters out. Nothing is decided here (gate.ts,
 * shown-evidence.ts).
 */
import { counted } from '@rollcall/base/counted.ts';
import { NO_OTHER, describeLosses } from '../proof/describe-losses.ts';
import type { Breach, BreachCause, OrderNote, RolloutRecord } from '../model/rollout-record.ts';
import { olderWords } from '../releases/good-releases.ts';
import { SOAKS_LOST_MAX } from '../proof/soak.ts';
import type { ShownGate } from './gate.ts';
import { silenceOf } from './shown-evidence.ts';
import type { ShownEvidence, SideCounts } from './shown-evidence.ts';

/** In one line: the step, the nodes, the gate. */
export function summarizeRecord(record: RolloutRecord, gate: ShownGate): string {
  const words = describeGate(gate, record);
  const isAboutStep = gate.kind !== 'undone' && gate.kind !== 'unseen' && gate.kind !== 'done';
  if (!isAboutStep) return words;
  const { soaksLost = 0 } = record.step;
  const soaks = soaksLost < SOAKS_LOST_MAX ? '' : `, soak begun anew ${String(soaksLost)} times`;
  const where = `${describeStep(record)}, ${describeNodes(record)}${soaks}`;
  const { breach, orders } = record;
  // Its phase says that it is halted, and a line that is cut says why.
  if (gate.kind === 'breach' && breach !== undefined) return `${describeBreach(breach)}; ${where}`;
  const overruled =
    orders.resumed === undefined ? '' : ` (${orders.resumed.breach.cause} overruled)`;
  const older = record.older === undefined ? '' : `; ${olderWords(record.older)}`;
  return `${where}: ${words}${overruled}${older}`;
}

/** The step that was opened last. */
export function describeStep({
  step,
  canary,
  groups,
  isReturn,
  losses = [],
}: RolloutRecord): string {
  switch (step.kind) {
    case 'waiting':
      return 'no step is open yet';
    case 'canary': {
      const lost = describeLosses(losses);
      return `canary of ${counted(canary.length, 'node')}${lost === '' ? '' : ` (${lost})`}`;
    }
    case 'done':
      return isReturn ? 'all steps are open, back to a good release' : 'all steps are done';
    case 'group': {
      const of = groups === undefined ? '' : ` of ${String(groups)}`;
      return `step ${String(step.index)}${of}${step.name === '' ? '' : ` (${step.name})`}`;
    }
  }
}

/** How many nodes run the new revision. */
function describeNodes({ step, baseNodes }: RolloutRecord): string {
  return `${String(step.updatedNodes)} of ${counted(baseNodes, 'node')} updated`;
}

/** Why the old pod of a node stays although every step is open, after the node's name or `1 node`. */
export const NOT_READY = 'is not Ready and is updated when it is back';
const NOT_READY_MANY = 'are not Ready and are updated when they are back';

/** What needs neither numbers nor notes. */
const PLAIN = {
  view: 'waits for news of nodes and pods: silence is no success',
  'no-canary': 'waits for a node that can be its canary',
  unseen: 'a newer template waits for the next look',
  next: 'the next step opens with the next look',
  'policy-invalid': 'held, because its policy is invalid',
} as const;

function isPlain(gate: ShownGate): gate is Extract<ShownGate, { kind: keyof typeof PLAIN }> {
  return Object.hasOwn(PLAIN, gate.kind);
}

/** What it waits for, as the end of a sentence. */
export function describeGate(gate: ShownGate, record: RolloutRecord): string {
  if (isPlain(gate)) return PLAIN[gate.kind];
  if (isEnd(gate)) return describeEnd(record, gate);
  switch (gate.kind) {
    case 'updating':
    case 'settling':
    case 'lost':
      return describePods(gate);
    case 'soaking':
    case 'approval':
    case 'window':
      return describeWait(gate);
    case 'fleet':
    case 'paused':
    case 'breach':
    case 'undone':
      return describeHold(gate, record);
  }
}

function describeWait(gate: Of<'soaking' | 'approval' | 'window'>): string {
  if (gate.kind === 'soaking') return `soaks until ${timeText(gate.untilMs)}`;
  if (gate.kind === 'approval') return `waits for approval of step ${String(gate.stepIndex)}`;
  const { opensAtMs } = gate;
  return opensAtMs === undefined
    ? 'waits for its window, which does not open within eight days'
    : `waits for its window, which opens at ${timeText(opensAtMs)}`;
}

type Of<Kind> = Extract<ShownGate, { readonly kind: Kind }>;

function describePods(gate: Of<'updating' | 'settling' | 'lost'>): string {
  if (gate.kind === 'lost') return describeLost(gate);
  if (gate.kind === 'updating') {
    const [one, many] = ['node of its open steps is', 'nodes of its open steps are'];
    return `${counted(gate.pendingNodes, one, many)} to be updated`;
  }
  if (!('unwellNodes' in gate)) return 'waits until all pods of its open steps are there and well';
  const nodes = counted(gate.unwellNodes, 'node');
  if (gate.sharedUntilMs === undefined) return `waits for ${nodes} to be well`;
  const failed = `pods of ${nodes} failed as pods of the former revision did`;
  return `soaks no sooner than ${timeText(gate.sharedUntilMs)}, as ${failed}`;
}

function describeLost({ lostNodes, addsAtMs }: Of<'lost'>): string {
  const held = `held, as ${counted(lostNodes, 'canary node')} went NotReady`;
  return addsAtMs === undefined
    ? `${held}: ${NO_OTHER}`
    : `${held}: another node goes in its place at ${timeText(addsAtMs)}`;
}

type End = Of<'done' | 'unavailable' | 'nodes-not-ready'>;

function isEnd(gate: ShownGate): gate is End {
  return ['done', 'unavailable', 'nodes-not-ready'].includes(gate.kind);
}

function describeEnd({ hash }: RolloutRecord, gate: End): string {
  if (gate.kind === 'unavailable') return gate.missing;
  if (gate.kind === 'nodes-not-ready') {
    const { notReadyNodes } = gate;
    return `${counted(notReadyNodes, 'node')} ${notReadyNodes === 1 ? NOT_READY : NOT_READY_MANY}`;
  }
  const keptNodes = 'keptNodes' in gate ? gate.keptNodes : 0;
  const kept = keptNodes === 0 ? '' : `; ${counted(keptNodes, 'node')} kept as the policy says`;
  return `revision ${hash} is rolled out${kept}`;
}

/** What only a person ends. */
function describeHold(
  gate: Of<'fleet' | 'paused' | 'breach' | 'undone'>,
  { orders, breach }: RolloutRecord,
): string {
  switch (gate.kind) {
    case 'fleet':
      return gate.message;
    case 'paused':
      if (gate.by === 'policy') return 'paused by its policy (paused: true)';
      return `paused ${orders.paused === undefined ? 'by an operator' : describeNote(orders.paused)}`;
    case 'breach':
      return `halted${breach === undefined ? '' : `: ${describeBreach(breach)}`}`;
    case 'undone': {
      const { undo } = orders;
      const why = undo === undefined ? '' : ` ${undo.to}, asked for ${describeNote(undo)}`;
      return `goes back to the proven revision${why}`;
    }
  }
}

/** After an undo, when no node runs the template's revision any more. */
export function describeReturned({ hash, orders }: RolloutRecord): string {
  const to = orders.undo === undefined ? 'a proven revision' : `revision ${orders.undo.to}`;
  return `all nodes are back at ${to}; ${hash}, which the template has, is held`;
}

/** A breach, with its cause and its time; its message names nodes. */
export function describeBreach({ cause, atMs, message }: Breach): string {
  return `${cause} at ${timeText(atMs)}: ${message}`;
}

/** Who gave an order, and when. */
export function describeNote({ by, atMs }: OrderNote): string {
  return `by ${by} at ${timeText(atMs)}`;
}

/** Who overruled which breach, and why. */
export function describeOverruled(
  note: OrderNote & { readonly why?: string },
  breach: string,
): string {
  const why = note.why === undefined ? '' : ` (${note.why})`;
  return `${describeNote(note)}${why}, overruling ${breach}`;
}

/** Halts that count nodes; by all others the nodes that were lost say nothing. */
const BY_NODES: readonly BreachCause[] = ['NodesFailed', 'Unexplained'];

/** Nodes that were lost, E, and what silence, a lack of controls or a void test means; nothing of a halt for another cause. */
export function describeEvidence(
  evidence: ShownEvidence,
  breach: Pick<Breach, 'cause'> | undefined,
): readonly string[] {
  if (breach !== undefined && !BY_NODES.includes(breach.cause)) return [];
  const { eValue, haltsAt, updated, others, outside, silence } = evidence;
  const sides = `nodes lost: ${sideText(updated)} updated, ${sideText(others)} others`;
  const left = outside === 0 ? '' : `, ${String(outside)} before their turn`;
  return [
    `${sides}${left}; E = ${eText(eValue)}, halts at ${String(haltsAt)}`,
    ...evidence.failures.map(
      ({ node, isUpdated, atMs }) =>
        `${isUpdated ? 'updated' : 'other'} node ${node} was lost at ${timeText(atMs)}`,
    ),
    ...(eValue >= haltsAt && updated.bad < 2
      ? ['one updated node that is lost halts nothing: a second one does']
      : []),
    ...describeWeakness(evidence),
    ...(silence === undefined ? [] : [describeSilence(silence.nodes)]),
  ];
}

/** Why the test of nodes says less than it could. */
function describeWeakness({ isVoid, isWithoutControls }: ShownEvidence): readonly string[] {
  const lines: string[] = [];
  if (isVoid) {
    lines.push(
      'too many nodes are lost to be remembered: the test of nodes stands still, and proves nothing more in this rollout',
    );
  }
  if (isWithoutControls) {
    lines.push(
      'an updated node was lost where no other is left to compare it with: the test of nodes counts it for nothing',
    );
  }
  return lines;
}

/** What so many nodes that were not lost prove, and what not. */
function describeSilence(nodes: number): string {
  const { sharePercentMax } = silenceOf(nodes);
  const are = counted(nodes, 'updated node is', 'updated nodes are');
  return `that ${are} not lost proves only that fewer than ${String(sharePercentMax)} % would be (95 % certain)`;
}

function sideText({ bad, good }: SideCounts): string {
  return `${String(bad)} of ${String(bad + good)}`;
}

function eText(eValue: number): string {
  return eValue >= 100 ? String(Math.round(eValue)) : eValue.toFixed(1);
}

/** A time, in seconds, UTC. */
export function timeText(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`;
}
