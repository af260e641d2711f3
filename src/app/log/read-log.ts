/**
 * Reads what happened: one partition for each cluster and day, and what still stands in states.
 *
 * Entries of a state get an item later than they happened, never before: so days are read from the first that was asked about to the
 * present one. What cannot be read is named, and hides nothing else.
 */
import { pagesOf } from '@rollcall/base/pages.ts';
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import { mergeLog } from '../../core/log/merge-log.ts';
import type { LogQuestion, LogSource, MergedLog } from '../../core/log/merge-log.ts';
import { LOG_DAYS_MAX, type LogItem, type OrderEntry } from '../../core/model/log-entry.ts';
import type { ClusterRegistration, FreezeNote } from '../../core/model/registration.ts';
import type { StopNote } from '../../core/status/outages.ts';
import type { Freeze } from '../../core/may-act/freeze.ts';
import type { ViewStore } from '../../ports/stores/view-store.ts';
import { readStates, type StateSources } from './read-states.ts';

const DAY_MS = 86_400_000;
/** Clusters, and within each days, read side by side. */
const AT_ONCE = 8;

export interface LogSources extends StateSources {
  readonly view: Pick<ViewStore, 'listLogItems'> & StateSources['view'];
  readonly registrations: readonly ClusterRegistration[];
  /** What stands frozen or stopped: told where its entry was lost. */
  readonly freeze: Freeze;
  readonly stop?: StopNote;
  readonly nowMs: number;
}

/** What was found. */
export interface FoundLog extends MergedLog {
  /** Sentences about what could not be read. */
  readonly unreadable: readonly string[];
}

/** Reads and merges it. Rejects when a table fails. */
export async function readLog(question: LogQuestion, sources: LogSources): Promise<FoundLog> {
  const found: LogSource[] = [];
  const unreadable: string[] = [];
  const into = { found, unreadable, question, sources };
  sources.seen?.beginLook();
  found.push(...standingFreezes(sources));
  await readDays(undefined, into);
  await sideBySide(sources.registrations, AT_ONCE, async (registration) => {
    await readDays(registration, into);
    const states = await readStates(registration, question, sources);
    found.push(...states.found);
    unreadable.push(...states.unreadable);
  });
  return { ...mergeLog(found, question), unreadable };
}

interface Reading {
  readonly found: LogSource[];
  readonly unreadable: string[];
  readonly question: LogQuestion;
  readonly sources: LogSources;
}

async function readDays(cluster: ClusterRegistration | undefined, reading: Reading): Promise<void> {
  const { question, sources, unreadable, found } = reading;
  const { view, nowMs } = sources;
  const days = daysOf(question.sinceMs, nowMs);
  await sideBySide(days, AT_ONCE, async (day) => {
    const pages = pagesOf((from) =>
      view.listLogItems(cluster?.clusterUid, { day, nowMs, fromMs: question.sinceMs, ...from }),
    );
    for await (const page of pages) {
      found.push(...page.items.map((item) => sourceOf(item, cluster)));
      unreadable.push(...page.unreadable);
    }
  });
}

function sourceOf(item: LogItem, cluster: ClusterRegistration | undefined): LogSource {
  return { ...item, ...(cluster === undefined ? {} : { cluster: cluster.id }) };
}

function daysOf(sinceMs: number, nowMs: number): readonly string[] {
  const first = Math.floor(Math.max(sinceMs, nowMs - LOG_DAYS_MAX * DAY_MS) / DAY_MS);
  const count = Math.floor(nowMs / DAY_MS) - first + 1;
  return Array.from({ length: Math.max(0, count) }, (_, index) =>
    new Date((first + index) * DAY_MS).toISOString().slice(0, 10),
  );
}

/** The items themselves: the process that froze or stopped may have died before it wrote the entry. */
function standingFreezes({ freeze, stop, registrations }: LogSources): readonly LogSource[] {
  const ofClusters = registrations.flatMap(({ id, isFrozen, frozen }): readonly LogSource[] =>
    isFrozen && frozen !== undefined
      ? [{ cluster: id, subject: { kind: 'cluster' }, entries: [freezeEntry(frozen)] }]
      : [],
  );
  const ofNames = Object.entries(freeze.daemonSets).map(([key, note]): LogSource => {
    const [namespace = '', name = ''] = key.split('/');
    return { subject: { kind: 'name', namespace, name }, entries: [freezeEntry(note)] };
  });
  const { all } = freeze;
  const ofStack: readonly LogSource[] =
    all === undefined ? [] : [{ subject: { kind: 'stack' }, entries: [freezeEntry(all)] }];
  const ofStop: readonly LogSource[] =
    stop === undefined ? [] : [{ subject: { kind: 'stack' }, entries: [stopEntry(stop)] }];
  return [...ofClusters, ...ofNames, ...ofStack, ...ofStop];
}

/** The entry of a freeze. */
export function freezeEntry({ by, why, atMs }: FreezeNote): OrderEntry {
  return { kind: 'order', order: 'freeze', atMs, by, why };
}

/** The entry of a stop of functions. */
export function stopEntry({ by, why, atMs, functions }: StopNote): OrderEntry {
  return { kind: 'order', order: 'stop-stack', atMs, by, why, functions };
}
