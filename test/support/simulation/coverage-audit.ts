/**
 * S20 from outside: all time is counted once, no more is covered than was, what runs count at rest is what the cluster has, and the log
 * says the same.
 *
 * At each write of a state the seconds that it adds are those since the last write, by the numbers of that; of those that it calls known no
 * more are covered than nodes had a serving pod at one moment of them. It knows nothing of how runs count.
 */
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { daysOfTraces, endOfTraceMs, tracesInOrder } from '../../../src/core/coverage/trace.ts';
import type { CoverageDays } from '../../../src/core/coverage/kept-days.ts';
import type { CoverageTrace, LogItem } from '../../../src/core/model/log-entry.ts';
import type { CoverageRecord, DaemonSetState } from '../../../src/core/model/state.ts';
import type { DaemonSetRef, ViewStore } from '../../../src/ports/stores/view-store.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { trueNodes, type TrueNodes } from '../coverage-truth.ts';
import type { SimulatedApiServer } from './api-server.ts';
import { policyOf } from './staged-pods.ts';

interface Moment extends TrueNodes {
  readonly atMs: number;
}

interface Counted {
  readonly coverage: CoverageRecord;
  readonly version: number;
}

/** Changes are told some seconds late. */
const LATE_MS = 5_000;
/** For so long a watch may stand still before its silence is known: what it would have told was not. */
const UNNOTICED_MS = 120_000;
/** In a wider world counting at each commit takes too long. */
const NODES_MAX = 40;

/** Watches one cluster. */
export class CoverageAudit {
  readonly #api: SimulatedApiServer;
  readonly #clock: Pick<Clock, 'nowMs'>;
  /** False where functions live in another hour: what they count until is of theirs. */
  readonly #isClockTrue: () => boolean;
  readonly #report: (text: string) => void;
  readonly #truth = new Map<string, Moment[]>();
  readonly #counted = new Map<string, Counted>();
  readonly #lost = new Set<string>();
  #isTooWide = false;

  constructor(
    api: SimulatedApiServer,
    { clock, isClockTrue }: { readonly clock: Pick<Clock, 'nowMs'>; isClockTrue: () => boolean },
    report: (text: string) => void,
  ) {
    this.#api = api;
    this.#clock = clock;
    this.#isClockTrue = isClockTrue;
    this.#report = report;
    api.subscribe((commit) => {
      if (commit?.kind !== 'controllerrevisions') this.#noteTruth();
    });
  }

  /** A state was written. */
  noteState({ clusterUid, uid }: DaemonSetRef, state: DaemonSetState): void {
    if (clusterUid === this.#api.clusterUid) this.#noteState(uid, state);
  }

  /** The table was lost: counts begin anew, and so does the log. */
  forget(): void {
    for (const uid of this.#counted.keys()) this.#lost.add(uid);
    this.#counted.clear();
  }

  /** What the table holds once all is at rest. */
  judge(table: Readonly<Record<string, unknown>>): void {
    for (const set of this.#sets()) {
      const { uid, name } = set.metadata;
      const stored = table[`STATE ${this.#api.clusterUid} ${uid}`] as DaemonSetState | undefined;
      if (stored?.coverage === undefined) continue;
      const { eligible, covered, putOffSince } = stored.coverage;
      const now = trueNodes(this.#api, set);
      const isCovered = hasPolicy(set) ? covered <= now.served : covered === now.served;
      // A count that is put off claims nothing: its time is unknown until a run sees a view of one moment.
      if (putOffSince === undefined && (eligible !== now.eligible || !isCovered)) {
        const told = `${String(covered)} of ${String(eligible)}`;
        const truth = `${String(now.served)} of ${String(now.eligible)}`;
        this.#report(`S20: ${name} counts ${told} covered at rest, truly ${truth}`);
      }
      if (!this.#lost.has(uid)) this.#recompute(uid, stored.coverage, table);
    }
  }

  #sets(): readonly KubernetesObject[] {
    const isGoing = ({ metadata }: KubernetesObject): boolean =>
      metadata.deletionTimestamp !== undefined;
    return this.#api.list('daemonsets').filter((set) => !isGoing(set));
  }

  #noteState(uid: string, { coverage, log, version }: DaemonSetState): void {
    const last = this.#counted.get(uid);
    if (coverage === undefined) return;
    this.#counted.set(uid, { coverage, version });
    if (coverage === last?.coverage) return;
    // Versions begin anew where the state was lost, and so do counts.
    if (last !== undefined && (version <= 1 || log === undefined)) this.#lost.add(uid);
    const before = beforeOf(version, last);
    if (last === undefined || before === undefined) return;
    this.#checkTime(uid, before, coverage);
    if (this.#isClockTrue()) this.#checkCovered(uid, before, coverage);
  }

  #noteTruth(): void {
    if (this.#api.list('nodes').length > NODES_MAX) this.#isTooWide = true;
    if (this.#isTooWide) return;
    const atMs = this.#clock.nowMs();
    for (const set of this.#sets()) {
      const moments = this.#truth.get(set.metadata.uid) ?? [];
      const now = trueNodes(this.#api, set);
      if (moments.at(-1)?.serving === now.serving) continue;
      moments.push({ atMs, ...now });
      this.#truth.set(set.metadata.uid, moments);
    }
  }

  /**
   * Of the time that is called known no more is covered than nodes had a serving pod at one of its moments. Which of them were to have
   * one is told by two other watches, each late by itself, so it is compared at rest.
   */
  #checkCovered(uid: string, before: CoverageRecord, after: CoverageRecord): void {
    const [covered = 0, uncovered = 0] = [0, 1].map((column) => addedIn(column, before, after));
    const moments = this.#truth.get(uid) ?? [];
    if (covered === 0 || this.#isTooWide) return;
    const sinceMs = before.at * 1000 - UNNOTICED_MS - LATE_MS;
    const first = moments.findLastIndex((moment) => moment.atMs <= sinceMs);
    const last = moments.findLastIndex((moment) => moment.atMs <= after.at * 1000 + 1000);
    const within = moments.slice(Math.max(0, first), last + 1);
    const most = Math.max(...within.map(({ serving }) => serving));
    const seconds = (covered + uncovered) / before.eligible;
    if (covered <= most * seconds) return;
    const told = `${String(covered)} node-seconds in ${String(seconds)} s (${String(before.covered)} of ${String(before.eligible)})`;
    this.#report(`S20: ${uid} counts ${told}, truly ${String(most)} nodes at most`);
  }

  /** Each second is counted once, by the numbers that held. */
  #checkTime(uid: string, before: CoverageRecord, after: CoverageRecord): void {
    const added = [0, 1, 2].map((column) => addedIn(column, before, after));
    const [covered = 0, uncovered = 0, unknown = 0] = added;
    const seconds = after.at - before.at;
    const isWhole = covered + uncovered + unknown === before.eligible * seconds;
    const isTrue = covered * (before.eligible - before.covered) === uncovered * before.covered;
    if (seconds >= 0 && isWhole && isTrue) return;
    const of = `${String(before.covered)} of ${String(before.eligible)}`;
    this.#report(`S20: ${uid} adds ${added.join('/')} for ${String(seconds)} s of ${of}`);
  }

  #recompute(
    uid: string,
    coverage: CoverageRecord,
    table: Readonly<Record<string, unknown>>,
  ): void {
    const traces = tracesInOrder(tracesOf(this.#api.clusterUid, uid, table));
    const isCut = traces.some((trace, index) => {
      const former = traces[index - 1];
      return former !== undefined && trace.at * 1000 !== endOfTraceMs(former);
    });
    const days = daysOfTraces(traces);
    if (days === undefined) return;
    const stored = sumsByDay([
      ...itemsOf(uid, table).flatMap(({ day, rows }) =>
        rows.map((row, index) => [day + index, row] as const),
      ),
      ...coverage.days.rows.map((row, back) => [coverage.days.day - back, row] as const),
    ]);
    const told = sumsByDay(days.rows.map((row, back) => [days.day - back, row] as const));
    if (isCut || told !== stored) {
      this.#report(`S20: the log of ${uid} tells ${told}, and ${stored} is stored`);
    }
  }
}

/** The same view; the audit of the present cluster hears of what is written. */
export function watchCoverage(view: ViewStore, audit: () => CoverageAudit): ViewStore {
  return new Proxy(view, {
    get: (target, property) => {
      if (property !== 'writeState') return Reflect.get(target, property) as unknown;
      return async (ref: DaemonSetRef, state: DaemonSetState) => {
        const result = await target.writeState(ref, state);
        if (result === 'written') audit().noteState(ref, state);
        return result;
      };
    },
  });
}

/** The count before that of this version. One that was written without an answer was not seen. */
function beforeOf(version: number, last: Counted | undefined): CoverageRecord | undefined {
  return version === (last?.version ?? 0) + 1 ? last?.coverage : undefined;
}

function hasPolicy(set: KubernetesObject): boolean {
  return policyOf(set) !== undefined;
}

/** What was added to a column, over the days that both hold. */
function addedIn(column: number, before: CoverageRecord, after: CoverageRecord): number {
  const oldest = after.days.day - after.days.rows.length + 1;
  const sumOf = ({ days }: CoverageRecord): number =>
    days.rows.reduce(
      (sum, row, back) => sum + (days.day - back >= oldest ? (row[column] ?? 0) : 0),
      0,
    );
  return sumOf(after) - sumOf(before);
}

/** A cluster that was rebuilt gives its UIDs again, so those of the former one are left out. */
function tracesOf(
  clusterUid: string,
  uid: string,
  table: Readonly<Record<string, unknown>>,
): readonly CoverageTrace[] {
  return Object.entries(table).flatMap(([key, stored]): readonly CoverageTrace[] => {
    const [part, cluster, of] = key.split(' ');
    if (cluster !== clusterUid) return [];
    if (part === 'STATE' && of === uid)
      return [(stored as DaemonSetState).log?.coverage].filter((each) => each !== undefined);
    if (part !== 'LOG') return [];
    const { subject, coverage } = stored as LogItem;
    const isMine = subject.kind === 'daemon-set' && subject.uid === uid;
    return isMine && coverage !== undefined ? [coverage] : [];
  });
}

function itemsOf(uid: string, table: Readonly<Record<string, unknown>>): readonly CoverageDays[] {
  return Object.entries(table).flatMap(([key, stored]) => {
    const days = stored as CoverageDays;
    return key.startsWith('COVERAGE ') && days.uid === uid ? [days] : [];
  });
}

function sumsByDay(rows: readonly (readonly [number, readonly number[]])[]): string {
  const byDay = new Map(rows.filter(([, row]) => row.some((each) => each > 0)));
  return JSON.stringify([...byDay].sort(([left], [right]) => left - right));
}
