/**
 * An operator's order (core/rollout/orders.ts) as an edit of the record of a fleet's rollout.
 *
 * It gives no cluster anything; the next step does, which is due at once. The gate in the record is
 * the result of that step, so that no reader sees the former one meanwhile.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { OrderNote } from '../../model/rollout-record.ts';
import { NO_COUNTS } from './begin-rollout.ts';
import { noteRefused } from '../../rollout/known-bad.ts';
import { judgeOrder } from '../../rollout/orders.ts';
import type { OrderResult, Ordered, RolloutOrder } from '../../rollout/orders.ts';
import { UNTOLD_MAX, decisionOf } from './fleet-decision.ts';
import type { FleetDecisionKind, FleetGate, FleetOrders, FleetRecord } from './fleet-record.ts';
import { wayBackOf, withoutBad } from './way-back.ts';

/** Gates that hold more than a pause does, and are reported instead of it (judge-stage.ts). */
const GRAVER: ReadonlySet<FleetGate['kind']> = new Set([
  'frozen',
  'returning',
  'returned',
  'breach',
]);

/** The record as the order leaves it. */
export function applyFleetOrder(
  record: FleetRecord,
  order: RolloutOrder,
  note: OrderNote,
): OrderResult<FleetRecord> {
  const verdict = judgeOrder(orderedOf(record), order, note);
  if (verdict.kind !== 'edit') return verdict;
  const { orders } = verdict;
  const opened: FleetRecord = {
    ...record,
    orders,
    gate: { kind: 'next' },
    progressedAtMs: note.atMs,
  };
  switch (order.kind) {
    case 'pause': {
      const { gate } = record;
      const shown: FleetGate = GRAVER.has(gate.kind) ? gate : { kind: 'paused' };
      return changed({ ...record, orders, gate: shown }, 'paused', note);
    }
    case 'resume': {
      const { kind } = record.gate;
      const isBack =
        record.orders.undo !== undefined || kind === 'returning' || kind === 'returned';
      const standing = isBack ? fromTheFirstStage(opened, note) : opened;
      return changed(withoutBreach(standing, order.why, note), 'resumed', note);
    }
    case 'approve':
      return changed(opened, 'approved', note);
    case 'undo':
      return changed(undone({ ...record, orders }, note), 'rollback-started', note);
  }
}

/** The facts by which an order to it is judged. Its gate alone says which approval may be given. */
export function orderedOf(
  record: FleetRecord,
): Ordered<NonNullable<FleetOrders['resumed']>, OrderNote> {
  const { release, orders, breach, gate } = record;
  const isWaiting = gate.kind === 'approval' || gate.kind === 'no-evidence';
  const back = wayBackOf(record);
  return {
    release: String(release.generation),
    orders,
    breach,
    approvable: isWaiting
      ? { stepIndex: gate.stepIndex, else: 'not-next' }
      : { else: gate.kind === 'done' ? 'over' : 'nothing-waits' },
    back: back && String(back.generation),
    isUndone: orders.undo !== undefined && !isReturnStopped(record),
  };
}

function isReturnStopped({ breach }: FleetRecord): boolean {
  return breach?.cause === 'ReturnFailed';
}

/**
 * Clusters have gone back, perhaps all of them: what went well before is no evidence for giving it
 * to them once more. They are assigned anew: who was out of reach meanwhile is in the ring by now,
 * and would be given one release by it, and another by its stage.
 */
function fromTheFirstStage(record: FleetRecord, note: OrderNote): FleetRecord {
  const { approved: _ofThatTime, ...orders } = record.orders;
  const { wellSinceMs: _soaked, release, refused, ...rest } = record;
  const known = refused.filter(({ contentHash }) => contentHash !== release.contentHash);
  const start = { stage: -1, stages: [], stageOpenedAtMs: note.atMs, counts: NO_COUNTS };
  return { ...rest, release, refused: known, ...start, orders };
}

/** The evidence of a breach counts no more, and the content is no longer known to be bad. */
function withoutBreach(record: FleetRecord, why: string | undefined, note: OrderNote): FleetRecord {
  const { breach, wellSinceMs: _soaked, ...rest } = record;
  if (breach === undefined) return record;
  const { contentHash } = record.release;
  return {
    ...rest,
    refused: record.refused.filter((one) => one.contentHash !== contentHash),
    orders: {
      ...record.orders,
      resumed: { ...note, breach, ...defined({ why }) },
    },
  };
}

function undone(record: FleetRecord, note: OrderNote): FleetRecord {
  const { gate, release, breach, ...rest } = record;
  const { contentHash } = release;
  const bad = { contentHash, cause: 'Undone', atMs: note.atMs } as const;
  return {
    ...rest,
    release,
    // Asked for once more, clusters that failed on the way are tried again.
    ...defined({ breach: isReturnStopped(record) ? undefined : breach }),
    good: withoutBad(record.good, contentHash),
    refused: noteRefused(record.refused, bad, 'contentHash'),
    orders: { ...record.orders, undo: note },
    gate: gate.kind === 'frozen' ? gate : { kind: 'returning' },
  };
}

/** Due at once: the next turn of the schedule does what it means, and tells others of it. */
function changed(
  record: FleetRecord,
  kind: FleetDecisionKind,
  { by, atMs }: OrderNote,
): OrderResult<FleetRecord> {
  const told = decisionOf(record, { kind, atMs, message: `${WORDS[kind] ?? kind} by ${by}` });
  return {
    kind: 'changed',
    record: {
      ...record,
      // Decisions that the last step may not have published stay.
      untold: [...record.untold, told].slice(-UNTOLD_MAX),
      dueAtMs: Math.min(record.dueAtMs, atMs),
    },
  };
}

const WORDS: Partial<Record<FleetDecisionKind, string>> = {
  'rollback-started': 'clusters go back to what was good before, as ordered',
};
