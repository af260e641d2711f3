/**
 * Adds entries to those of a state, and says which of them get an item of their own.
 *
 * All of them have 4,096 characters of JSON, so less than 4 KB of an item once compressed. What does not fit loses names first, then is
 * only counted. Few characters stand there long: each is paid again by every write of the state.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { EffectEntry, LeftOut, LogEntry, StateLog } from '../model/log-entry.ts';
import type { DaemonSetState } from '../model/state.ts';

/** Bound of a state's entries, in characters of JSON. */
export const LOG_CHARACTERS_MAX = 4096;
/** From here on they get an item: a unit of writing more often, and as much less in each write of the state. */
const FLUSH_CHARACTERS_MIN = 512;
/** Of the operators' and the rules' sentences. */
const TEXT_CHARACTERS_MAX = 300;

/** A sentence as an entry holds it. */
export function loggedText(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, ' ').slice(0, TEXT_CHARACTERS_MAX);
}

/** The log with these entries: one that is there already, by its identity, is replaced. The very same without any. */
export function appendLog(
  log: StateLog | undefined,
  added: readonly LogEntry[],
): StateLog | undefined {
  if (added.length === 0) return log;
  const byIdentity = new Map((log?.entries ?? []).map((entry) => [entryIdentity(entry), entry]));
  for (const entry of added) byIdentity.set(entryIdentity(entry), entry);
  const entries = [...byIdentity.values()].sort((left, right) => left.atMs - right.atMs);
  return boundLog({ ...log, entries });
}

/** What tells entries of one subject apart. */
export function entryIdentity(entry: LogEntry): string {
  switch (entry.kind) {
    case 'effect':
      return `${entry.kind}/${entry.effect}/${String(entry.run)}/${String(entry.atMs)}`;
    case 'step':
      return `${entry.kind}/${String(entry.index)}/${String(entry.atMs)}`;
    case 'return':
      return `${entry.kind}/${String(entry.isOver)}/${String(entry.atMs)}`;
    case 'order':
      return `${entry.kind}/${entry.order}/${String(entry.atMs)}`;
    case 'fleet':
      return `${entry.kind}/${entry.decision}/${entry.cluster ?? ''}/${String(entry.atMs)}`;
    default:
      return `${entry.kind}/${String(entry.atMs)}`;
  }
}

export function requestsOf(entry: LogEntry): number {
  return entry.kind === 'effect' ? entry.parts.reduce((sum, { count }) => sum + count, 0) : 0;
}

function sizeOf(part: unknown): number {
  return JSON.stringify(part).length + 1;
}

function sizeOfAll(entries: readonly LogEntry[]): number {
  return entries.reduce((sum, entry) => sum + sizeOf(entry), 0);
}

/** Room for the frame around the entries and the counts of those that are left out. */
const FRAME_CHARACTERS = 200;

function boundLog(log: StateLog): StateLog {
  const entries = [...log.entries];
  let { leftOut } = log;
  let size = sizeOfAll(entries) + FRAME_CHARACTERS;
  for (const [index, entry] of entries.entries()) {
    if (size <= LOG_CHARACTERS_MAX) break;
    const short = withoutNames(entry);
    size += sizeOf(short) - sizeOf(entry);
    entries[index] = short;
  }
  while (size > LOG_CHARACTERS_MAX) {
    const oldest = entries.shift();
    if (oldest === undefined) break;
    size -= sizeOf(oldest);
    leftOut = countLeftOut(leftOut, oldest);
  }
  return { entries, ...defined({ leftOut, coverage: log.coverage }) };
}

function withoutNames(entry: LogEntry): LogEntry {
  if (entry.kind === 'halt') return { ...entry, names: [] };
  if (entry.kind !== 'effect') return entry;
  const parts = entry.parts.map((part): EffectEntry['parts'][number] => ({ ...part, names: [] }));
  return { ...entry, parts };
}

function countLeftOut(leftOut: LeftOut | undefined, entry: LogEntry): LeftOut {
  const { entries = 0, requests = 0, fromMs = entry.atMs, toMs = entry.atMs } = leftOut ?? {};
  return {
    entries: entries + 1,
    requests: requests + requestsOf(entry),
    fromMs: Math.min(fromMs, entry.atMs),
    toMs: Math.max(toMs, entry.atMs),
  };
}

export interface LoggedChange {
  readonly from: Pick<DaemonSetState, 'log' | 'rollout'>;
  readonly to: Pick<DaemonSetState, 'log' | 'rollout'>;
}

/**
 * The entries that leave the state with this write, for an item of their own; undefined: none do. Only what stands in the
 * stored state leaves, so two runs that both write the item write the same, and a run that loses its write has told nothing
 * that did not happen.
 */
export function leavingLog({ from, to }: LoggedChange): StateLog | undefined {
  const stored = new Set(from.log?.entries);
  const entries = (to.log?.entries ?? []).filter((entry) => stored.has(entry));
  const leftOut = standing('leftOut', from.log, to.log);
  const coverage = standing('coverage', from.log, to.log);
  if (entries.length === 0 && leftOut === undefined && coverage === undefined) return undefined;
  const size = sizeOfAll(entries) + (coverage === undefined ? 0 : sizeOf(coverage));
  const isDue = size >= FLUSH_CHARACTERS_MIN || isStepOver(from, to);
  return isDue ? { entries, ...defined({ leftOut, coverage }) } : undefined;
}

/** What stands in the stored log, and is the very same in the next one. */
function standing<Part extends 'leftOut' | 'coverage'>(
  part: Part,
  from: StateLog | undefined,
  to: StateLog | undefined,
): StateLog[Part] | undefined {
  return from?.[part] === to?.[part] ? from?.[part] : undefined;
}

function isStepOver(
  { rollout: before }: LoggedChange['from'],
  { rollout: after }: LoggedChange['to'],
): boolean {
  return before !== undefined && after !== undefined && before.step.index !== after.step.index;
}

/** The state without them. */
export function withoutLeft(state: DaemonSetState, left: StateLog): DaemonSetState {
  const { log, ...rest } = state;
  if (log === undefined) return state;
  const gone = new Set(left.entries);
  const entries = log.entries.filter((entry) => !gone.has(entry));
  const leftOut = log.leftOut === left.leftOut ? undefined : log.leftOut;
  const coverage = log.coverage === left.coverage ? undefined : log.coverage;
  if (entries.length === 0 && leftOut === undefined && coverage === undefined) return rest;
  return { ...rest, log: { entries, ...defined({ leftOut, coverage }) } };
}

/** The state without any, where it is too large for its item: the log is the first to go. Undefined: it has none. */
export function withoutLog(state: DaemonSetState): DaemonSetState | undefined {
  const { log, ...rest } = state;
  return log === undefined ? undefined : rest;
}

/** The state with these entries. */
export function withEntries(state: DaemonSetState, added: readonly LogEntry[]): DaemonSetState {
  if (added.length === 0) return state;
  return { ...state, ...defined({ log: appendLog(state.log, added) }) };
}
