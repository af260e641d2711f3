/**
 * An operator's order to a rollout, of nodes or of clusters: pause, resume, approve, undo.
 *
 * Pure; its caller writes by compare-and-set, and judges the same order again by what it finds
 * when it lost. So an order names what its giver saw (release, breach, step): given by two people
 * at once it does one thing, and it never touches a rollout that they did not look at. Only a pause
 * is of whatever is rolled out: it is always safe. An order opens nothing and judges no evidence.
 */
import { defined } from '@rollcall/base/defined.ts';
import { BY_CHARACTERS_MAX } from '../model/registration.ts';
import type { OrderNote } from '../model/rollout-record.ts';

/** An order. `release` names the release that its author saw: a revision's hash, a generation as text. */
export type RolloutOrder =
  /** Nothing opens until it is lifted. */
  | { readonly kind: 'pause' }
  /** Lifts a pause and an undo, and overrules a breach: those of these times, which were seen (resumeOf). */
  | {
      readonly kind: 'resume';
      readonly release: string;
      readonly pausedAtMs?: number;
      readonly undoneAtMs?: number;
      readonly breachAtMs?: number;
      readonly why?: string;
    }
  /** This step may open; soak, window and budget of what follows still count. */
  | { readonly kind: 'approve'; readonly release: string; readonly stepIndex: number }
  /** Back to that good release, and this one is refused. */
  | {
      readonly kind: 'undo';
      readonly release: string;
      readonly to: string;
      /** A person changes the template, and all is held until then. Absent: Rollcall leads back. */
      readonly via?: 'template';
    };

/** Why an order was not carried out. Public; docs/reference/codes.md lists them. */
export type OrderRefusalCode =
  /** Another release, halt, pause or undo stands there by now. */
  | 'changed'
  /** There is no pause, halt or undo to lift. */
  | 'not-held'
  /** The rollout is halted or on its way back, so nothing opens. */
  | 'halted'
  /** The rollout is over. */
  | 'over'
  /** That step is not the next one. */
  | 'not-next'
  /** Nothing waits for approval. */
  | 'nothing-waits';

/** The result of an order. */
export type OrderResult<Record> =
  | { readonly kind: 'changed'; readonly record: Record }
  | OrderStands
  | { readonly kind: 'refused'; readonly code: OrderRefusalCode };

/** It stands so already, by that note where it has one. */
export interface OrderStands {
  readonly kind: 'unchanged';
  readonly since?: OrderNote;
}

interface OrderNotes<Resumed, Undo> {
  readonly paused?: OrderNote;
  readonly approved?: OrderNote & { readonly stepIndex: number };
  readonly resumed?: Resumed;
  readonly undo?: Undo;
}

/** The facts by which an order is judged. */
export interface Ordered<Resumed extends OrderNote, Undo extends OrderNote> {
  readonly release: string;
  readonly orders: OrderNotes<Resumed, Undo>;
  readonly breach: { readonly atMs: number } | undefined;
  /** The step that may be approved, and what is said of any other. */
  readonly approvable: { readonly stepIndex?: number | undefined; readonly else: OrderRefusalCode };
  /** The release that an undo leads to. */
  readonly back: string | undefined;
  /** True where an undo stands, and nothing stopped it. */
  readonly isUndone: boolean;
}

/** The orders as they stand afterwards; `resumed` and `undo` their home notes, with what is its own. */
type OrderVerdict<Resumed, Undo> =
  | { readonly kind: 'edit'; readonly orders: OrderNotes<Resumed, Undo> }
  | Exclude<OrderResult<never>, { readonly kind: 'changed' }>;

/** The resume of one who saw this. */
export function resumeOf(
  {
    release,
    orders: { paused, undo },
    breach,
  }: Pick<Ordered<OrderNote, OrderNote>, 'release' | 'orders' | 'breach'>,
  why?: string,
): Extract<RolloutOrder, { readonly kind: 'resume' }> {
  const seen = { pausedAtMs: paused?.atMs, undoneAtMs: undo?.atMs, breachAtMs: breach?.atMs };
  return { kind: 'resume', release, ...defined({ ...seen, why }) };
}

const NOT_PLAIN = /[^\p{L}\p{N} @._+/:=,()-]+/gu;

/** A note of who gives an order: cut, and without what a name does not hold. */
export function orderNote(by: string, atMs: number): OrderNote {
  const plain = by.replaceAll(NOT_PLAIN, '-').slice(0, BY_CHARACTERS_MAX);
  return { by: plain === '' ? 'unknown' : plain, atMs };
}

/** What the order comes to. */
export function judgeOrder<Resumed extends OrderNote, Undo extends OrderNote>(
  ordered: Ordered<Resumed, Undo>,
  order: RolloutOrder,
  note: OrderNote,
): OrderVerdict<Resumed, Undo> {
  const { orders, release } = ordered;
  if (order.kind === 'pause') {
    if (orders.paused !== undefined) return unchanged(orders.paused);
    return { kind: 'edit', orders: { ...orders, paused: note } };
  }
  if (release !== order.release) return refused('changed');
  switch (order.kind) {
    case 'resume':
      return judgeResume(ordered, order);
    case 'approve':
      return judgeApproval(ordered, order, note);
    case 'undo':
      return judgeUndo(ordered, order);
  }
}

type Of<Kind> = Extract<RolloutOrder, { readonly kind: Kind }>;

function judgeResume<Resumed extends OrderNote, Undo extends OrderNote>(
  { orders, breach }: Ordered<Resumed, Undo>,
  order: Of<'resume'>,
): OrderVerdict<Resumed, Undo> {
  const { paused, undo, ...others } = orders;
  // Its author judged nothing that came after the look.
  const held = [
    [breach, order.breachAtMs],
    [paused, order.pausedAtMs],
    [undo, order.undoneAtMs],
  ] as const;
  if (held.some(([now, seenAtMs]) => now !== undefined && now.atMs !== seenAtMs)) {
    return refused('changed');
  }
  if (breach !== undefined || paused !== undefined || undo !== undefined) {
    return { kind: 'edit', orders: others };
  }
  return others.resumed === undefined ? refused('not-held') : unchanged(others.resumed);
}

function judgeApproval<Resumed extends OrderNote, Undo extends OrderNote>(
  { orders, breach, approvable }: Ordered<Resumed, Undo>,
  { stepIndex }: Of<'approve'>,
  note: OrderNote,
): OrderVerdict<Resumed, Undo> {
  const { approved } = orders;
  // Also once it has opened: the other one of two operators was a moment faster.
  if (approved !== undefined && approved.stepIndex >= stepIndex) return unchanged(approved);
  if (breach !== undefined || orders.undo !== undefined) return refused('halted');
  if (approvable.stepIndex !== stepIndex) return refused(approvable.else);
  return { kind: 'edit', orders: { ...orders, approved: { ...note, stepIndex } } };
}

function judgeUndo<Resumed extends OrderNote, Undo extends OrderNote>(
  { orders, back, isUndone }: Ordered<Resumed, Undo>,
  { to }: Of<'undo'>,
): OrderVerdict<Resumed, Undo> {
  if (back !== to) return refused('changed');
  if (isUndone) return unchanged(orders.undo);
  // A pause holds steps, and an operator who asks for the way back wants it now.
  const { paused: _lifted, ...others } = orders;
  return { kind: 'edit', orders: others };
}

function unchanged(since: OrderNote | undefined): OrderStands {
  return { kind: 'unchanged', ...defined({ since }) };
}

function refused(code: OrderRefusalCode): OrderVerdict<never, never> {
  return { kind: 'refused', code };
}
