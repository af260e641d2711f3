/**
 * What a reader of the log sees: entries of items and of states in one order, each once, the oldest first.
 */
import { compareText } from '@rollcall/base/compare-text.ts';
import { defined } from '@rollcall/base/defined.ts';
import type { LeftOut, LogEntry, LogSubject, StateLog } from '../model/log-entry.ts';
import { entryIdentity } from './append-log.ts';

/** Entries and what they are about; `cluster`: its id, absent of the whole stack. */
export interface LogSource extends StateLog {
  readonly cluster?: string;
  readonly subject: LogSubject;
}

/** One thing that happened, and to what. */
export interface LogLine {
  readonly cluster?: string;
  readonly subject: LogSubject;
  readonly entry: LogEntry;
}

/** Of what time, and of whom. */
export interface LogQuestion {
  readonly sinceMs: number;
  readonly untilMs: number;
  /** Absent: of all. */
  readonly daemonSet?: { readonly namespace: string; readonly name: string };
  readonly node?: string;
}

/** Entries in order, and how much was only counted. */
export interface MergedLog {
  readonly lines: readonly LogLine[];
  readonly leftOut: readonly LeftOut[];
  /** Effects that were asked about by a node and do not name all of theirs. */
  readonly unnamed: number;
}

/** Merges them. An entry that stands in a state and in an item is told once, and as the one that knows more. */
export function mergeLog(sources: readonly LogSource[], question: LogQuestion): MergedLog {
  const byIdentity = new Map<string, LogLine>();
  const leftOut = new Map<string, LeftOut>();
  let unnamed = 0;
  const { sinceMs, untilMs } = question;
  for (const source of sources.filter(({ subject }) => isOf(subject, question))) {
    const { cluster, subject, entries, leftOut: counted } = source;
    const where = `${cluster ?? ''} ${subjectText(subject)}`;
    if (counted !== undefined && counted.toMs >= sinceMs && counted.fromMs <= untilMs) {
      leftOut.set(`${where} ${JSON.stringify(counted)}`, counted);
    }
    for (const entry of entries.filter(({ atMs }) => atMs >= sinceMs && atMs <= untilMs)) {
      const about = isAbout(entry, question.node);
      if (about === 'unnamed') unnamed += 1;
      if (about !== 'yes') continue;
      const identity = `${where} ${entryIdentity(entry)}`;
      const known = byIdentity.get(identity);
      if (known !== undefined && !isOpen(known.entry)) continue;
      byIdentity.set(identity, { ...defined({ cluster }), subject, entry });
    }
  }
  return { lines: [...byIdentity.values()].sort(byTime), leftOut: [...leftOut.values()], unnamed };
}

/** True of an effect of which nothing was told yet. */
function isOpen(entry: LogEntry): boolean {
  return entry.kind === 'effect' && entry.parts.every(({ came }) => came === 'unknown');
}

function isOf(subject: LogSubject, { daemonSet }: LogQuestion): boolean {
  if (daemonSet === undefined || !('name' in subject)) return true;
  return subject.namespace === daemonSet.namespace && subject.name === daemonSet.name;
}

function isAbout(entry: LogEntry, node: string | undefined): 'yes' | 'no' | 'unnamed' {
  if (node === undefined) return 'yes';
  if (entry.kind === 'halt') return entry.names.some((name) => name === node) ? 'yes' : 'no';
  if (entry.kind !== 'effect') return 'no';
  if (entry.parts.some(({ names }) => names.includes(node))) return 'yes';
  return entry.parts.some(({ names, count }) => names.length < count) ? 'unnamed' : 'no';
}

function byTime(left: LogLine, right: LogLine): number {
  return (
    left.entry.atMs - right.entry.atMs ||
    compareText(left.cluster ?? '', right.cluster ?? '') ||
    compareText(subjectText(left.subject), subjectText(right.subject))
  );
}

/** What it is about, in one word: `namespace/name`, or empty of a cluster or the stack. */
export function subjectText(subject: LogSubject): string {
  return 'name' in subject ? `${subject.namespace}/${subject.name}` : '';
}
