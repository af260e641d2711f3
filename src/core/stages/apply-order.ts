/**
 * An operator's order (core/rollout/orders.ts) as an edit of the record of a DaemonSet.
 *
 * It opens no step; the next run does, by what is recorded here.
 */
import { defined } from '@rollcall/base/defined.ts';
import { overruleTrial } from '../health/trial.ts';
import type { OrderNote, RolloutOrders, RolloutRecord } from '../model/rollout-record.ts';
import { nextStepOf } from '../rollout/approval.ts';
import { leaveFor, wayBackOf } from '../rollout/good-releases.ts';
import { knownBad, refuseRelease } from '../rollout/known-bad.ts';
import { judgeOrder } from '../rollout/orders.ts';
import type { OrderResult, Ordered, RolloutOrder } from '../rollout/orders.ts';

type Of<Kind> = Extract<RolloutOrder, { readonly kind: Kind }>;

/** The record as the order leaves it. */
export function applyOrder(
  record: RolloutRecord,
  order: RolloutOrder,
  note: OrderNote,
): OrderResult<RolloutRecord> {
  const verdict = judgeOrder(orderedOf(record, order), order, note);
  if (verdict.kind !== 'edit') return verdict;
  const { orders } = verdict;
  const progressed = { ...record, orders, step: { ...record.step, progressedAtMs: note.atMs } };
  switch (order.kind) {
    case 'pause':
      return { kind: 'changed', record: { ...record, orders } };
    case 'resume':
      return { kind: 'changed', record: resume(progressed, order, note) };
    case 'approve':
      return { kind: 'changed', record: progressed };
    case 'undo':
      return { kind: 'changed', record: undo(record, { order, orders, note }) };
  }
}

function orderedOf(
  record: RolloutRecord,
  order: RolloutOrder,
): Ordered<NonNullable<RolloutOrders['resumed']>, NonNullable<RolloutOrders['undo']>> {
  const { id, hash, orders, breach, step, refused } = record;
  const isOver = step.kind === 'done';
  const back = wayBackOf(record)?.hash;
  const isRefused = breach !== undefined && refused.some((one) => one.id === id);
  const isForPerson = order.kind === 'undo' && order.via === 'template';
  return {
    release: hash,
    orders,
    breach,
    approvable: { stepIndex: nextStepOf(record), else: isOver ? 'over' : 'not-next' },
    back,
    isUndone: (orders.undo !== undefined && orders.undo.to === back) || (isForPerson && isRefused),
  };
}

/** The evidence of a breach counts no more: neither in the soak, nor in the e-value, nor as a revision known to be bad. */
function resume(record: RolloutRecord, order: Of<'resume'>, note: OrderNote): RolloutRecord {
  const refused = record.refused.filter(({ id }) => id !== record.id);
  const { breach, step, trial, orders, ...rest } = record;
  if (breach === undefined) return { ...record, refused };
  const { wellSinceMs: _soaked, soaksLost: _lost, ...fresh } = step;
  return {
    ...rest,
    refused,
    step: fresh,
    trial: overruleTrial(trial),
    orders: { ...orders, resumed: { ...note, breach, ...defined({ why: order.why }) } },
  };
}

/** By pods, where Rollcall makes them; else it is held until a person changed the template. */
function undo(
  record: RolloutRecord,
  { order, orders, note }: Readonly<{ order: Of<'undo'>; orders: RolloutOrders; note: OrderNote }>,
): RolloutRecord {
  const { to, via } = order;
  const { atMs } = note;
  const left = {
    ...record,
    refused: refuseRelease(record, { cause: 'Undone', atMs }),
    good: goodAfterUndo(record, to, atMs),
  };
  if (via === undefined) return { ...left, orders: { ...orders, undo: { ...note, to } } };
  return {
    ...left,
    breach: record.breach ?? knownBad({ hash: record.hash, cause: 'Undone' }, atMs),
  };
}

/** An operator may go back to any good release, however long ago it was left. */
function goodAfterUndo(
  { id, good }: RolloutRecord,
  to: string,
  nowMs: number,
): RolloutRecord['good'] {
  const known = good.map((each) => (each.hash === to ? { ...each, leftAtMs: nowMs } : each));
  const back = known.find(({ hash }) => hash === to);
  return back === undefined ? known : leaveFor(known, { from: id, to: back.id, nowMs });
}
