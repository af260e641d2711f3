/**
 * Entries of what a run decided, told from the state before its write and after it: a rollout begins, a step opens, it halts, it goes
 * back; a mass removal is held; the whole DaemonSet waits.
 *
 * What a person ordered has an entry by who ordered (order-entries in app/rollout): the state does not keep every order.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { LogEntry } from '../model/log-entry.ts';
import type { RolloutRecord } from '../model/rollout-record.ts';
import type { DaemonSetState } from '../model/state.ts';
import { loggedText } from './append-log.ts';

/** Nodes that a halt names at most. */
const NAMES_MAX = 16;

type Part = Pick<DaemonSetState, 'rollout' | 'shrink' | 'retry'>;

/** What this write tells. */
export function transitionEntries(from: Part, to: Part, atMs: number): readonly LogEntry[] {
  return [
    ...(to.rollout === undefined ? [] : rolloutEntries(from.rollout, to.rollout, atMs)),
    ...removalEntries(from, to),
    ...waitEntries(from, to, atMs),
  ];
}

function rolloutEntries(
  before: RolloutRecord | undefined,
  after: RolloutRecord,
  atMs: number,
): readonly LogEntry[] {
  return [
    ...beginningEntries(before, after, atMs),
    ...haltEntries(before, after),
    ...returnEntries(before, after, atMs),
  ];
}

function beginningEntries(
  before: RolloutRecord | undefined,
  { hash, older, step, isReturn }: RolloutRecord,
  atMs: number,
): readonly LogEntry[] {
  // One that ran everywhere when its policy was first seen began long ago.
  if (before === undefined && step.kind === 'done') return [];
  const isNew = before?.hash !== hash;
  const { kind, name, index, openedAtMs } = step;
  // A return has no steps: that it goes back, and that all are back, have entries of their own.
  const isOpened = kind !== 'waiting' && !isReturn && before?.step.openedAtMs !== openedAtMs;
  // A step opens at the time of the plan, which is before that of the write.
  const beganAtMs = isOpened ? Math.min(atMs, openedAtMs) : atMs;
  return [
    ...(isNew ? [{ kind: 'rollout', atMs: beganAtMs, hash, ...defined({ older }) } as const] : []),
    ...(isOpened ? [{ kind: 'step', atMs: openedAtMs, step: kind, name, index } as const] : []),
  ];
}

function haltEntries(
  before: RolloutRecord | undefined,
  { breach }: RolloutRecord,
): readonly LogEntry[] {
  if (breach === undefined || breach.atMs === before?.breach?.atMs) return [];
  const { cause, atMs, nodes } = breach;
  const names = nodes.slice(0, NAMES_MAX);
  return [{ kind: 'halt', atMs, cause, message: loggedText(breach.message), names }];
}

function returnEntries(
  before: RolloutRecord | undefined,
  { hash, isReturn, returnedAtMs }: RolloutRecord,
  atMs: number,
): readonly LogEntry[] {
  const wasReturn = before?.hash === hash && before.isReturn;
  const isOver = returnedAtMs !== undefined && returnedAtMs !== before?.returnedAtMs;
  return [
    ...(isReturn && !wasReturn ? [{ kind: 'return', atMs, isOver: false } as const] : []),
    ...(isOver ? [{ kind: 'return', atMs: returnedAtMs, isOver: true } as const] : []),
  ];
}

function removalEntries({ shrink: before }: Part, { shrink: after }: Part): readonly LogEntry[] {
  const held = after?.held;
  if (held === undefined || held.token === before?.held?.token) return [];
  const { heldAtMs, pods, cause, author } = held;
  const manager = author?.manager;
  return [
    { kind: 'removal', atMs: heldAtMs, pods, cause: loggedText(cause), ...defined({ manager }) },
  ];
}

function waitEntries(
  { retry: before }: Part,
  { retry: after }: Part,
  atMs: number,
): readonly LogEntry[] {
  if (after === undefined || after.code === before?.code) return [];
  return [{ kind: 'wait', atMs, code: after.code }];
}
