/**
 * Describes what a rollout of nodes or of clusters waits for, in one vocabulary: kinds, phases, and words for people.
 *
 * `rollcall rollout status`, `rollcall fleet status`, the tables of `npm start` and Events say the same by it. Sentences hold absolute
 * times (UTC), so that they change only when something else does. Names and messages come from clusters and operators: the caller that
 * prints them takes control characters out. Nothing is decided here.
 */
import { counted } from '@rollcall/base/counted.ts';
import type { CanaryLoss, OrderNote } from '../model/rollout-record.ts';
import type { Gate } from '../model/staged-progress.ts';
import { namesOf } from '../health/breach.ts';

/** How it stands, in one word. Public; docs/reference/codes.md lists them. */
export type RolloutPhase =
  /** It goes on by itself. */
  | 'Progressing'
  /** It waits: for a window, an approval, its fleet, a canary, nodes, or an API server. */
  | 'Waiting'
  /** The policy or an order holds it. */
  | 'Paused'
  /** Evidence of harm stopped it. Look at the cause, then undo or resume it. */
  | 'Halted'
  /** Nodes or clusters go back to the last good release. */
  | 'Returning'
  /** They are back, and the release that they left is held. */
  | 'Returned'
  /** The fleet, or the whole stack, is frozen. */
  | 'Frozen'
  /** Its policy or document cannot be used. */
  | 'Invalid'
  /** Nothing acts there now; the rest is as of the last run. */
  | 'Stopped'
  /** Every desired pod is updated and available. */
  | 'Done';

/** The phase of each kind. */
export const PHASES: Readonly<Record<Gate['kind'], RolloutPhase>> = {
  updating: 'Progressing',
  settling: 'Progressing',
  soaking: 'Progressing',
  view: 'Progressing',
  unavailable: 'Progressing',
  unseen: 'Progressing',
  next: 'Progressing',
  lost: 'Waiting',
  approval: 'Waiting',
  window: 'Waiting',
  'no-canary': 'Waiting',
  'nodes-not-ready': 'Waiting',
  'no-evidence': 'Waiting',
  refused: 'Waiting',
  fleet: 'Waiting',
  paused: 'Paused',
  invalid: 'Invalid',
  frozen: 'Frozen',
  breach: 'Halted',
  returning: 'Returning',
  returned: 'Returned',
  done: 'Done',
};

/** A halt, as far as words tell of it. */
export interface HaltNote {
  readonly cause: string;
  readonly atMs: number;
  readonly message: string;
}

/** The owner of a gate, in words. */
export interface GateSubject {
  /** The kind of members. */
  readonly members: 'nodes' | 'clusters';
  /** `revision abc`, `generation 3`. */
  readonly release: string;
  readonly back: string;
  /** Of a way back: how many failed on it. Absent: none are counted. */
  readonly failedMembers?: number;
  /** `of step 2`. */
  readonly stepOf: (stepIndex: number) => string;
  readonly breach?: HaltNote;
  readonly orders: {
    readonly paused?: OrderNote;
    readonly undo?: OrderNote;
    readonly resumed?: { readonly breach: HaltNote };
  };
}

/** In one line: where it is, and what it waits for. `where` is undefined of what is about no step. */
export function summarize(gate: Gate, subject: GateSubject, where: string | undefined): string {
  const words = describeGate(gate, subject);
  if (where === undefined) return words;
  const { breach, orders } = subject;
  // Its phase says that it is halted, and a line that is cut says why.
  if (gate.kind === 'breach' && breach !== undefined) return `${describeHalt(breach)}; ${where}`;
  const cause = orders.resumed?.breach.cause;
  return `${where}: ${words}${cause === undefined ? '' : ` (${cause} overruled)`}`;
}

type Of<Kind> = Extract<Gate, { readonly kind: Kind }>;
type Words = { readonly [Kind in Gate['kind']]: (gate: Of<Kind>, by: GateSubject) => string };

/** Why the old pod of a node stays although every step is open, after the node's name or `1 node`. */
export const NOT_READY = 'is not Ready and is updated when it is back';
const NOT_READY_MANY = 'are not Ready and are updated when they are back';

const WORDS: Words = {
  updating: (gate, { members }) => {
    if (gate.pendingNodes === undefined) return `its ${members} are updating`;
    const [one, many] = ['node of its open steps is', 'nodes of its open steps are'];
    return `${counted(gate.pendingNodes, one, many)} to be updated`;
  },
  settling: (gate) => {
    if (gate.unwellNodes === undefined)
      return 'waits until all pods of its open steps are there and well';
    const nodes = counted(gate.unwellNodes, 'node');
    if (gate.sharedUntilMs === undefined) return `waits for ${nodes} to be well`;
    const failed = `pods of ${nodes} failed as pods of the former revision did`;
    return `soaks no sooner than ${timeText(gate.sharedUntilMs)}, as ${failed}`;
  },
  soaking: ({ untilMs }) => `soaks until ${timeText(untilMs)}`,
  view: () => 'waits for news of nodes and pods: silence is no success',
  unavailable: ({ missing }) => missing,
  unseen: () => 'a newer template waits for the next look',
  next: () => 'goes on with the next look',
  lost: ({ lostNodes, addsAtMs }) => {
    const held = `held, as ${counted(lostNodes, 'canary node')} went NotReady`;
    return addsAtMs === undefined
      ? `${held}: ${NO_OTHER}`
      : `${held}: another node goes in its place at ${timeText(addsAtMs)}`;
  },
  approval: ({ stepIndex }, { stepOf }) => `waits for approval ${stepOf(stepIndex)}`,
  window: ({ opensAtMs }) =>
    opensAtMs === undefined
      ? 'waits for its window, which does not open within eight days'
      : `waits for its window, which opens at ${timeText(opensAtMs)}`,
  'no-canary': () => 'waits for a node that can be its canary',
  'nodes-not-ready': ({ notReadyNodes }) =>
    `${counted(notReadyNodes, 'node')} ${notReadyNodes === 1 ? NOT_READY : NOT_READY_MANY}`,
  'no-evidence': ({ stage, stepIndex }, { stepOf }) =>
    `no cluster of stage ${stage} shows that it runs, which is no success: waits for approval ${stepOf(stepIndex)}`,
  refused: ({ cluster, message, askAtMs }) =>
    `none of its clusters is given it, because ${cluster} would refuse it: ${message}. Give it what it lacks (rights: rollcall fleet rights ${cluster}), or freeze it to go on without it. It is asked again at ${timeText(askAtMs)}`,
  fleet: ({ message }) => message,
  paused: (gate, { orders }) => {
    if (gate.by === 'policy') return 'paused by its policy (paused: true)';
    return `paused ${orders.paused === undefined ? 'by an operator' : describeNote(orders.paused)}`;
  },
  invalid: ({ message }) =>
    message === undefined
      ? 'held, because its policy is invalid'
      : `held, because it cannot be used as it is written: ${message}`,
  frozen: ({ by, why }) => `frozen by ${by}${why === '' ? '' : `: ${why}`}`,
  breach: (_gate, { breach }) =>
    breach === undefined ? 'halted' : `halted: ${describeHalt(breach)}`,
  returning: (_gate, by) => `${by.members} go back to ${by.back}${whyBack(by)}`,
  returned: (_gate, by) => {
    const { failedMembers = 0 } = by;
    const failed =
      failedMembers === 0 ? '' : ` but ${String(failedMembers)} that failed on the way`;
    const all = by.members === 'clusters' ? `all clusters within reach${failed}` : 'all nodes';
    return `${all} are back at ${by.back}; ${by.release} is held${whyBack(by)}`;
  },
  done: ({ keptNodes: kept = 0 }, { release }) => {
    const words = kept === 0 ? '' : `; ${counted(kept, 'node')} kept as the policy says`;
    return `${release} is rolled out${words}`;
  },
};

/** What it waits for, as the end of a sentence. */
export function describeGate<Kind extends Gate['kind']>(
  gate: Of<Kind> & { readonly kind: Kind },
  subject: GateSubject,
): string {
  const words: (gate: Of<Kind>, by: GateSubject) => string = WORDS[gate.kind];
  return words(gate, subject);
}

function whyBack({ orders, breach }: GateSubject): string {
  if (orders.undo !== undefined) return `, asked for ${describeNote(orders.undo)}`;
  return breach === undefined ? '' : ` (${describeHalt(breach)})`;
}

/** A halt, with its cause and its time. */
export function describeHalt({ cause, atMs, message }: HaltNote): string {
  return `${cause} at ${timeText(atMs)}: ${message}`;
}

/** The author and the time of an order. */
export function describeNote({ by, atMs }: OrderNote): string {
  return `by ${by} at ${timeText(atMs)}`;
}

/** The author, the overruled halt, and the reason. */
export function describeOverruled(
  note: OrderNote & { readonly breach: HaltNote; readonly why?: string },
): string {
  const why = note.why === undefined ? '' : ` (${note.why})`;
  return `${describeNote(note)}${why}, overruling ${describeHalt(note.breach)}`;
}

/** A time, in seconds, UTC. */
export function timeText(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`;
}

/** `n1 is not Ready and counts for nothing; n7 goes in its place`; empty where none is lost now. */
export function describeLosses(losses: readonly CanaryLoss[]): string {
  const now = losses.filter(({ isOver }) => isOver !== true);
  if (now.length === 0) return '';
  const isOne = now.length === 1;
  const lost = `${namesOf(now.map(({ node }) => node))} ${isOne ? 'is' : 'are'} not Ready and ${isOne ? 'counts' : 'count'} for nothing`;
  const added = now.flatMap((loss) => loss.added ?? []);
  if (added.length === 0) return lost;
  return `${lost}; ${namesOf(added)} ${added.length === 1 ? 'goes' : 'go'} in ${isOne ? 'its' : 'their'} place`;
}

/** Where no other node can be added. */
export const NO_OTHER =
  'no other node can go in its place, so mend it, delete it, or exclude it by the policy';

/** True if a node was lost with this look, or one was added in the place of another. */
export function hasNewLoss(before: readonly CanaryLoss[], after: readonly CanaryLoss[]): boolean {
  const known = new Map(before.map((loss) => [loss.node, loss]));
  return after.some(({ node, atMs, isOver, added }) => {
    const was = known.get(node);
    const isNew = isOver !== true && was?.atMs !== atMs;
    return isNew || (added !== undefined && was?.added !== added);
  });
}
