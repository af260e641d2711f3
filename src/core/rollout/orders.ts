/**
 * An operator's order to a staged rollout, as an edit of its record: pause, resume, approve, undo (issue 17).
 *
 * Pure; the caller writes the record by compare-and-set and applies the same order again to what it finds when it lost.
 * So an order names what its giver saw (revision, breach, step): given by two people at once it does one thing, and it
 * never touches a rollout that they did not look at. Only a pause is of whatever is rolled out: it is always safe. Orders
 * open no step and judge no evidence; the stage engine does, by what is recorded here.
 */
import { defined } from '@rollcall/base/defined.ts';
import { overruleTrial } from '../health/trial.ts';
import { BY_CHARACTERS_MAX } from '../model/registration.ts';
import type { OrderNote, ProvenRevision, RolloutRecord } from '../model/rollout-record.ts';
import { leaveFor } from './good-releases.ts';
import { knownBad, refuseRelease } from './known-bad.ts';
import { nextStepOf } from './approval.ts';

/** What is asked for. */
export type RolloutOrder =
  /** No step opens until it is lifted. */
  | { readonly kind: 'pause' }
  /** Lifts a pause and an undo, and overrules the breach of this time, if one was seen. */
  | {
      readonly kind: 'resume';
      readonly hash: string;
      readonly breachAtMs?: number;
      readonly why?: string;
    }
  /** This step of this revision may open; its soak, window and budget still count. */
  | { readonly kind: 'approve'; readonly hash: string; readonly stepIndex: number }
  /**
   * Back from this revision to that good one, and this one is refused. By pods, where Rollcall makes them; else the template is a
   * person's to change, and everything is held until then.
   */
  | {
      readonly kind: 'undo';
      readonly hash: string;
      readonly to: string;
      readonly via: 'pods' | 'template';
    };

/** Why an order was not carried out. Public; docs/cli.md lists them. */
export type OrderRefusalCode =
  /** Another revision, breach or proven revision stands there by now. */
  | 'changed'
  /** There is no pause and no breach to lift. */
  | 'not-held'
  /** Nothing opens before a breach is resolved. */
  | 'halted'
  /** The rollout is over. */
  | 'over'
  /** It is not the step after the open one. */
  | 'not-next';

/** What comes of an order. */
export type OrderResult =
  | { readonly kind: 'changed'; readonly record: RolloutRecord }
  /** It stands so already. */
  | { readonly kind: 'unchanged'; readonly since?: OrderNote }
  | { readonly kind: 'refused'; readonly code: OrderRefusalCode };

const NOT_PLAIN = /[^\p{L}\p{N} @._+/:=,()-]+/gu;

/** A note of who gives an order: cut, and without what a name does not hold. */
export function orderNote(by: string, atMs: number): OrderNote {
  const plain = by.replaceAll(NOT_PLAIN, '-').slice(0, BY_CHARACTERS_MAX);
  return { by: plain === '' ? 'unknown' : plain, atMs };
}

/** The record as the order leaves it. */
export function applyOrder(
  record: RolloutRecord,
  order: RolloutOrder,
  note: OrderNote,
): OrderResult {
  switch (order.kind) {
    case 'pause':
      return pause(record, note);
    case 'resume':
      return resume(record, order, note);
    case 'approve':
      return approve(record, order, note);
    case 'undo':
      return undo(record, order, note);
  }
}

function pause(record: RolloutRecord, note: OrderNote): OrderResult {
  const { orders } = record;
  if (orders.paused !== undefined) return { kind: 'unchanged', since: orders.paused };
  return { kind: 'changed', record: { ...record, orders: { ...orders, paused: note } } };
}

type Of<Kind> = Extract<RolloutOrder, { readonly kind: Kind }>;

function resume(record: RolloutRecord, order: Of<'resume'>, note: OrderNote): OrderResult {
  if (record.hash !== order.hash) return refused('changed');
  const { paused, undo: undone, ...orders } = record.orders;
  const { breach } = record;
  // A breach that came after the look was not judged by anybody.
  if (breach !== undefined && breach.atMs !== order.breachAtMs) return refused('changed');
  if (breach === undefined && paused === undefined && undone === undefined) {
    const { resumed } = orders;
    return resumed === undefined ? refused('not-held') : { kind: 'unchanged', since: resumed };
  }
  const step = { ...record.step, progressedAtMs: note.atMs };
  const others = record.refused.filter(({ id }) => id !== record.id);
  const lifted = { ...record, step, orders, refused: others };
  if (breach === undefined) return { kind: 'changed', record: lifted };
  const { why } = order;
  return {
    kind: 'changed',
    record: withoutBreach(lifted, { ...note, breach, ...defined({ why }) }),
  };
}

/** What led to the breach counts no more: neither in the soak, nor in the e-value, nor as a revision known to be bad. */
function withoutBreach(
  record: RolloutRecord,
  note: NonNullable<RolloutRecord['orders']['resumed']>,
): RolloutRecord {
  const { breach: _overruled, step, trial, orders, ...rest } = record;
  const { wellSinceMs: _soaked, soaksLost: _lost, ...fresh } = step;
  return {
    ...rest,
    step: fresh,
    trial: overruleTrial(trial),
    orders: { ...orders, resumed: note },
  };
}

function approve(record: RolloutRecord, order: Of<'approve'>, note: OrderNote): OrderResult {
  if (record.hash !== order.hash) return refused('changed');
  const { step, orders } = record;
  const { approved } = orders;
  const { stepIndex } = order;
  // Also once it has opened: the other one of two operators was a moment faster.
  if (approved !== undefined && approved.stepIndex >= stepIndex) {
    return { kind: 'unchanged', since: approved };
  }
  if (record.breach !== undefined || orders.undo !== undefined) return refused('halted');
  if (step.kind === 'done') return refused('over');
  if (stepIndex !== nextStepOf(record)) return refused('not-next');
  const progressed = { ...step, progressedAtMs: note.atMs };
  return {
    kind: 'changed',
    record: {
      ...record,
      step: progressed,
      orders: { ...orders, approved: { ...note, stepIndex } },
    },
  };
}

/** The release that an undo leads to: the good one that this rollout left. */
export function wayBackOf({ hash, former }: RolloutRecord): ProvenRevision | undefined {
  return former?.hash === hash ? undefined : former;
}

function undo(record: RolloutRecord, order: Of<'undo'>, note: OrderNote): OrderResult {
  const { to, via } = order;
  const back = wayBackOf(record);
  if (record.hash !== order.hash || back?.hash !== to) return refused('changed');
  const { orders, breach } = record;
  if (orders.undo?.to === to) return { kind: 'unchanged', since: orders.undo };
  const { atMs } = note;
  const isRefused = breach !== undefined && record.refused.some(({ id }) => id === record.id);
  if (via === 'template' && isRefused) return { kind: 'unchanged' };
  const left = {
    ...record,
    refused: refuseRelease(record, { cause: 'Undone', atMs }),
    good: goodAfterUndo(record, to, atMs),
  };
  if (via === 'template') {
    const held = knownBad({ hash: order.hash, cause: 'Undone' }, atMs);
    return { kind: 'changed', record: { ...left, breach: breach ?? held } };
  }
  // A pause holds steps, and whoever asks for the way back wants it now.
  const { paused: _lifted, ...others } = orders;
  return { kind: 'changed', record: { ...left, orders: { ...others, undo: { ...note, to } } } };
}

/** Whoever asks for a good release may have it, however long ago it was left. */
function goodAfterUndo(
  { id, good }: RolloutRecord,
  to: string,
  nowMs: number,
): RolloutRecord['good'] {
  const known = good.map((each) => (each.hash === to ? { ...each, leftAtMs: nowMs } : each));
  const back = known.find(({ hash }) => hash === to);
  return back === undefined ? known : leaveFor(known, { from: id, to: back.id, nowMs });
}

function refused(code: OrderRefusalCode): OrderResult {
  return { kind: 'refused', code };
}
