/**
 * An operator's order to the rollout of a fleet, as an edit of its record: pause, resume, approve, undo (issue 18).
 *
 * Pure; the caller writes the record by compare-and-set and applies the same order again to what it finds when it lost. So an
 * order names what its giver saw (generation, breach, gate): given by two people at once it does one thing, and it never touches a
 * release that they did not look at. Only a pause is of whatever is rolled out: it is always safe. An order opens no stage and
 * gives no cluster anything; the next step does, which is due at once. The gate in the record is what that step will find, so
 * that nobody reads the former one meanwhile.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { OrderNote } from '../../model/rollout-record.ts';
import { UNTOLD_MAX, decisionOf } from '../rollout/fleet-decision.ts';
import type { FleetDecisionKind, FleetGate, FleetRecord } from '../rollout/fleet-record.ts';
import { wayBackOf, withRefused, withoutBad } from '../rollout/way-back.ts';

/** What is asked for. */
export type FleetOrder =
  /** No stage opens and no cluster is given anything until it is lifted. */
  | { readonly kind: 'pause' }
  /** Lifts a pause and an undo, and overrules the breach of this time, if one was seen. */
  | {
      readonly kind: 'resume';
      readonly generation: number;
      readonly breachAtMs?: number;
      readonly why?: string;
    }
  /** What waits at this gate of this generation may go on; window, budget and evidence of what follows still count. */
  | { readonly kind: 'approve'; readonly generation: number; readonly stepIndex: number }
  /** Every cluster that has this generation goes back to what was proven before: to that generation. */
  | { readonly kind: 'undo'; readonly generation: number; readonly to: number };

/** Why an order was not carried out. Public; docs/cli.md lists them. */
export type FleetOrderRefusalCode =
  /** Another generation, breach, gate or proven release stands there by now. */
  | 'changed'
  /** There is no pause, no breach and no undo to lift. */
  | 'not-held'
  /** Nothing opens before a breach is resolved, or while clusters go back. */
  | 'halted'
  /** Nothing waits for approval. */
  | 'nothing-waits';

/** What comes of an order. */
export type FleetOrderResult =
  | { readonly kind: 'changed'; readonly record: FleetRecord }
  /** It stands so already. */
  | { readonly kind: 'unchanged'; readonly since?: OrderNote }
  | { readonly kind: 'refused'; readonly code: FleetOrderRefusalCode };

/** The record as the order leaves it. */
export function applyFleetOrder(
  record: FleetRecord,
  order: FleetOrder,
  note: OrderNote,
): FleetOrderResult {
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

/** What holds back more than a pause does, and is told instead of it (core/fleet/rollout/judge-stage.ts). */
const GRAVER: ReadonlySet<FleetGate['kind']> = new Set([
  'frozen',
  'returning',
  'returned',
  'breach',
]);

function pause(record: FleetRecord, note: OrderNote): FleetOrderResult {
  const { orders, gate } = record;
  if (orders.paused !== undefined) return { kind: 'unchanged', since: orders.paused };
  const shown: FleetGate = GRAVER.has(gate.kind) ? gate : { kind: 'paused' };
  return changed({ ...record, orders: { ...orders, paused: note }, gate: shown }, 'paused', note);
}

type Of<Kind> = Extract<FleetOrder, { readonly kind: Kind }>;

function resume(record: FleetRecord, order: Of<'resume'>, note: OrderNote): FleetOrderResult {
  if (record.release.generation !== order.generation) return refused('changed');
  const { paused, undo: undone, ...orders } = record.orders;
  const { breach } = record;
  // A breach that came after the look was not judged by anybody.
  if (breach !== undefined && breach.atMs !== order.breachAtMs) return refused('changed');
  if (breach === undefined && paused === undefined && undone === undefined) {
    const { resumed } = orders;
    return resumed === undefined ? refused('not-held') : { kind: 'unchanged', since: resumed };
  }
  const gate: FleetGate = { kind: 'next' };
  const lifted: FleetRecord = { ...record, orders, progressedAtMs: note.atMs, gate };
  const isBack =
    undone !== undefined || record.gate.kind === 'returning' || record.gate.kind === 'returned';
  const standing = isBack ? fromTheFirstStage(lifted, note) : lifted;
  if (breach === undefined) return changed(standing, 'resumed', note);
  const resumed = { ...note, breachAtMs: breach.atMs, breach, ...defined({ why: order.why }) };
  return changed(withoutBreach(standing, resumed), 'resumed', note);
}

/**
 * Clusters have gone back, perhaps all of them: what went well before is no evidence for giving it to them once more. They are dealt out
 * anew: who was out of reach meanwhile is in the ring by now, and would be given one release by it, and another by its stage.
 */
function fromTheFirstStage(record: FleetRecord, note: OrderNote): FleetRecord {
  const { approved: _ofThatTime, ...orders } = record.orders;
  const { wellSinceMs: _soaked, release, refused, ...rest } = record;
  const known = refused.filter(({ contentHash }) => contentHash !== release.contentHash);
  const start = { stage: -1, stages: [], stageOpenedAtMs: note.atMs };
  return { ...rest, release, refused: known, ...start, orders };
}

/** What led to the breach counts no more, nor is the content known to be bad. */
function withoutBreach(
  record: FleetRecord,
  resumed: NonNullable<FleetRecord['orders']['resumed']>,
): FleetRecord {
  const { breach: _overruled, wellSinceMs: _soaked, ...rest } = record;
  const { contentHash } = record.release;
  return {
    ...rest,
    refused: record.refused.filter((one) => one.contentHash !== contentHash),
    orders: { ...record.orders, resumed },
  };
}

function approve(record: FleetRecord, order: Of<'approve'>, note: OrderNote): FleetOrderResult {
  if (record.release.generation !== order.generation) return refused('changed');
  const { orders, gate } = record;
  const { approved } = orders;
  // Also once it has opened: the other one of two operators was a moment faster.
  if (approved !== undefined && approved.stepIndex >= order.stepIndex) {
    return { kind: 'unchanged', since: approved };
  }
  if (record.breach !== undefined || orders.undo !== undefined) return refused('halted');
  if (gate.kind !== 'approval' && gate.kind !== 'no-evidence') return refused('nothing-waits');
  if (gate.stepIndex !== order.stepIndex) return refused('changed');
  const agreed = { ...orders, approved: { ...note, stepIndex: order.stepIndex } };
  const next: FleetRecord = { ...record, orders: agreed, gate: { kind: 'next' } };
  return changed({ ...next, progressedAtMs: note.atMs }, 'approved', note);
}

function undo(record: FleetRecord, order: Of<'undo'>, note: OrderNote): FleetOrderResult {
  const { orders, gate, release } = record;
  if (release.generation !== order.generation) return refused('changed');
  if (wayBackOf(record)?.generation !== order.to) return refused('changed');
  const isStopped = record.breach?.cause === 'ReturnFailed';
  if (orders.undo !== undefined && !isStopped) return { kind: 'unchanged', since: orders.undo };
  // A pause holds stages, and whoever asks for the way back wants it now.
  const { paused: _lifted, ...others } = orders;
  const shown: FleetGate = gate.kind === 'frozen' ? gate : { kind: 'returning' };
  const { breach, ...rest } = record;
  const { contentHash } = release;
  const undone = {
    ...rest,
    // Asked for once more, clusters that failed on the way are tried again.
    ...defined({ breach: isStopped ? undefined : breach }),
    good: withoutBad(record.good, contentHash),
    refused: withRefused(record.refused, { contentHash, cause: 'Undone', atMs: note.atMs }),
    orders: { ...others, undo: note },
    gate: shown,
  };
  return changed(undone, 'rollback-started', note);
}

/** Due at once: the next turn of the schedule does what it means, and tells others of it. */
function changed(
  record: FleetRecord,
  kind: FleetDecisionKind,
  { by, atMs }: OrderNote,
): FleetOrderResult {
  const told = decisionOf(record, { kind, atMs, message: `${WORDS[kind] ?? kind} by ${by}` });
  return {
    kind: 'changed',
    record: {
      ...record,
      // What the last step may not have told yet stays.
      untold: [...record.untold, told].slice(-UNTOLD_MAX),
      dueAtMs: Math.min(record.dueAtMs, atMs),
    },
  };
}

const WORDS: Partial<Record<FleetDecisionKind, string>> = {
  'rollback-started': 'clusters go back to what was proven before, as ordered',
};

function refused(code: FleetOrderRefusalCode): FleetOrderResult {
  return { kind: 'refused', code };
}
