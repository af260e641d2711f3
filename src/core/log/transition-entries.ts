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
  const { hash, older, step, breach } = after;
  const entries: LogEntry[] = [];
  const isNew = before?.hash !== hash;
  // One that ran everywhere when its policy was first seen began long ago.
  const isBaseline = before === undefined && step.kind === 'done';
  if (isNew && !isBaseline) entries.push({ kind: 'rollout', atMs, hash, ...defined({ older }) });
  const isOpened =
    step.kind !== 'waiting' && !isBaseline && before?.step.openedAtMs !== step.openedAtMs;
  if (isOpened) {
    const { kind, name, index, openedAtMs } = step;
    entries.push({ kind: 'step', atMs: openedAtMs, step: kind, name, index });
  }
  if (breach !== undefined && breach.atMs !== before?.breach?.atMs) {
    const { cause, message, nodes } = breach;
    const names = nodes.slice(0, NAMES_MAX);
    entries.push({ kind: 'halt', atMs: breach.atMs, cause, message: loggedText(message), names });
  }
  if (after.isReturn && (isNew || before?.isReturn !== true)) {
    entries.push({ kind: 'return', atMs, isOver: false });
  }
  const { returnedAtMs } = after;
  if (returnedAtMs !== undefined && returnedAtMs !== before?.returnedAtMs) {
    entries.push({ kind: 'return', atMs: returnedAtMs, isOver: true });
  }
  return entries;
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
