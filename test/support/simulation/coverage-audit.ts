/**
 * S20 from outside: what runs count of coverage is what the cluster had, all time is counted once, and the log says the same.
 *
 * At each write of a state: the numbers that it holds were true of the API server at some moment since its view was heard of, and the
 * seconds that it adds are those since the last write, by the numbers of that. In the end: they are true now, and the days recomputed
 * from the log are those that are stored. It knows nothing of how runs count.
 */
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { daysOfTraces, endOfTraceMs, tracesInOrder } from '../../../src/core/coverage/trace.ts';
import type { CoverageDays } from '../../../src/core/coverage/kept-days.ts';
import type { CoverageTrace, LogItem } from '../../../src/core/model/log-entry.ts';
import type { CoverageRecord, DaemonSetState } from '../../../src/core/model/state.ts';
import type { ClusterMeta } from '../../../src/core/model/view-items.ts';
import type { DaemonSetRef, ViewStore } from '../../../src/ports/stores/view-store.ts';
import { trueNodes, type TrueNodes } from '../coverage-truth.ts';
import type { SimulatedApiServer } from './api-server.ts';
import { policyOf } from './staged-pods.ts';

interface Moment extends TrueNodes {
  readonly atMs: number;
  readonly generation: number | undefined;
}

interface Counted {
  readonly coverage: CoverageRecord;
  readonly version: number;
}

/** A view may be as old as its watch, and some seconds more on the way. */
const OLDER_MS = 120_000;
/** In a wider world counting at each commit takes too long. */
const NODES_MAX = 40;

/** Watches one cluster. */
export class CoverageAudit {
  /** Numbers that were held against the cluster, and days that were recomputed. */
  judged = 0;
  recomputed = 0;
  readonly #api: SimulatedApiServer;
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #report: (text: string) => void;
  readonly #truth = new Map<string, Moment[]>();
  readonly #counted = new Map<string, Counted>();
  readonly #lost = new Set<string>();
  #meta: ClusterMeta | undefined;
  #restoredAtMs = Number.NEGATIVE_INFINITY;
  #isTooWide = false;

  constructor(
    api: SimulatedApiServer,
    clock: Pick<Clock, 'nowMs'>,
    report: (text: string) => void,
  ) {
    this.#api = api;
    this.#clock = clock;
    this.#report = report;
    api.subscribe((commit) => {
      if (commit === undefined) this.#restoredAtMs = clock.nowMs();
      if (commit?.kind === 'controllerrevisions') return;
      this.#noteTruth();
    });
  }

  /** META was written. */
  noteMeta(meta: ClusterMeta): void {
    if (meta.clusterUid === this.#api.clusterUid) this.#meta = meta;
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
      const { eligible, covered } = stored.coverage;
      const now = trueNodes(this.#api, set);
      const isCovered = hasPolicy(set) ? covered <= now.served : covered === now.served;
      if (eligible !== now.eligible || !isCovered) {
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

  #noteTruth(): void {
    if (this.#api.list('nodes').length > NODES_MAX) this.#isTooWide = true;
    if (this.#isTooWide) return;
    const atMs = this.#clock.nowMs();
    for (const set of this.#sets()) {
      const moments = this.#truth.get(set.metadata.uid) ?? [];
      const now = trueNodes(this.#api, set);
      const last = moments.at(-1);
      const { generation } = set.metadata;
      const isSame = last?.eligible === now.eligible && last.served === now.served;
      if (isSame && last.generation === generation) continue;
      moments.push({ atMs, generation, ...now });
      this.#truth.set(set.metadata.uid, moments);
    }
  }

  #noteState(uid: string, { coverage, log, version }: DaemonSetState): void {
    const last = this.#counted.get(uid);
    if (coverage === undefined) return;
    this.#counted.set(uid, { coverage, version });
    if (coverage === last?.coverage) return;
    // Versions begin anew where the state was lost, and so do counts.
    if (last !== undefined && (version <= 1 || log === undefined)) this.#lost.add(uid);
    this.#checkCount(uid, coverage, beforeOf(version, last));
  }

  #checkCount(uid: string, after: CoverageRecord, before: CoverageRecord | undefined): void {
    if (before !== undefined) this.#checkTime(uid, before, after);
    if (after.at === before?.at && after.covered === before.covered) return;
    this.#checkNumbers(uid, after);
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

  #checkNumbers(uid: string, { at, eligible, covered }: CoverageRecord): void {
    const set = this.#sets().find(({ metadata }) => metadata.uid === uid);
    const within = this.#momentsOf(uid, at * 1000);
    if (set === undefined || within === undefined || this.#isTooWide) return;
    this.judged += 1;
    const served = within.map((moment) => moment.served);
    const least = hasPolicy(set) ? 0 : Math.min(...served);
    const isCovered = covered >= least && covered <= Math.max(...served);
    if (isCovered && within.some((moment) => moment.eligible === eligible)) return;
    const seen = within.map((moment) => `${String(moment.served)}/${String(moment.eligible)}`);
    const told = `${String(covered)}/${String(eligible)}`;
    this.#report(`S20: ${set.metadata.name} counts ${told}, truly ${seen.join(' ')}`);
  }

  /**
   * What was true since a view of then was heard of; undefined: nothing can be compared. A watch that stands still shows nodes of then
   * and a template of now, which never were there together.
   */
  #momentsOf(uid: string, atMs: number): readonly Moment[] | undefined {
    const heardAtMs = Math.min(atMs, heardOf(this.#meta));
    const sinceMs = heardAtMs - OLDER_MS;
    const isLate = this.#clock.nowMs() - heardAtMs > OLDER_MS;
    if (sinceMs < this.#restoredAtMs || isLate) return undefined;
    const moments = this.#truth.get(uid) ?? [];
    // What was heard before the DaemonSet was there, or this audit, is of moments that were not compared.
    if (heardAtMs < (moments[0]?.atMs ?? Number.POSITIVE_INFINITY)) return undefined;
    const first = moments.findLastIndex((moment) => moment.atMs <= sinceMs);
    const within = moments.slice(Math.max(0, first));
    const templates = new Set(within.map(({ generation }) => generation));
    return templates.size === 1 ? within : undefined;
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
    this.recomputed += 1;
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
      if (property === 'writeMeta') {
        return async (meta: ClusterMeta) => {
          const result = await target.writeMeta(meta);
          if (result === 'written') audit().noteMeta(meta);
          return result;
        };
      }
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

function heardOf(meta: ClusterMeta | undefined): number {
  const { Node = 0, Pod = 0, DaemonSet = 0 } = meta?.heardAtMs ?? {};
  return Math.min(Node, Pod, DaemonSet);
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
