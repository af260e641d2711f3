/**
 * The view table: what one cluster looks like, and the state of each DaemonSet.
 *
 * All reads are strongly consistent, but those of `resync` (ADR 0034); all writes are single-item compare-and-set. A
 * write that finds another version than expected answers `lost` (a value); a table that fails or throttles beyond the
 * client's retries rejects, and no decision is made on a failed read (spec faults 32).
 * A write whose answer was lost is recognised by its own token and reported `written` (faults 33).
 */
import type { ClusterBreaker } from '../../core/model/breaker.ts';
import type { CoverageDays } from '../../core/coverage/kept-days.ts';
import type { LogItem } from '../../core/model/log-entry.ts';
import type { ResyncWalk } from '../../core/hints/resync-walk.ts';
import type { ClusterUid, Uid } from '../../core/model/identifiers.ts';
import type { Stamp } from '../../core/model/position.ts';
import type { DaemonSetState } from '../../core/model/state.ts';
import type {
  ClusterMeta,
  DaemonSetItem,
  DaemonSetPosition,
  NameItem,
  OlderTombstones,
  Slice,
} from '../../core/model/view-items.ts';
import type { SetId } from '../../core/model/watcher-message.ts';

/** A set other than `daemonsets`, which is stored by object. */
export type SlicedSet = Exclude<SetId, 'daemonsets'>;

/** Result of a compare-and-set. */
export type WriteResult = 'written' | 'lost';

/** Names a slice. */
export interface SliceRef {
  readonly clusterUid: ClusterUid;
  readonly set: SlicedSet;
  readonly index: number;
}

/** Names what belongs to one DaemonSet. */
export interface DaemonSetRef {
  readonly clusterUid: ClusterUid;
  readonly uid: Uid;
}

/** Which page of a cluster's names. */
export interface NamePageOptions {
  readonly cursor?: string;
  readonly limit: number;
  /** Also names under which no DaemonSet stands any more: for ingest's sweep. */
  readonly includeDeleted?: boolean;
}

/** A page of names; a cursor when there is more. */
export interface NamePage {
  readonly names: readonly NameItem[];
  readonly cursor?: string;
}

/** The part of the view that `reconcile` needs; ingest needs the rest below. */
export interface ViewReader {
  readMeta(cluster: ClusterUid): Promise<ClusterMeta | undefined>;
  readName(cluster: ClusterUid, key: NamespacedName): Promise<NameItem | undefined>;
  /** Names of a cluster's DaemonSets in order (deleted ones left out unless asked for), by pages. */
  listNames(cluster: ClusterUid, options: NamePageOptions): Promise<NamePage>;
  readPosition(ref: DaemonSetRef): Promise<DaemonSetPosition | undefined>;
  readDaemonSet(ref: DaemonSetRef): Promise<DaemonSetItem | undefined>;
  /** Undefined when the item does not exist: a missing slice of a live set means incomplete. */
  readSlice(ref: SliceRef): Promise<Slice | undefined>;
  /** Tombstones that its slice has no room for; undefined when the item does not exist. */
  readOlderTombstones(ref: SliceRef): Promise<OlderTombstones | undefined>;
}

/** namespace and name. */
export interface NamespacedName {
  readonly namespace: string;
  readonly name: string;
}

/** The writes of `ingest`. */
export interface ViewWriter {
  /** If the stored version is `meta.version` (0: none yet); stored with version + 1. Leaves attributes of others. */
  writeMeta(meta: ClusterMeta): Promise<WriteResult>;
  /** Write units of what this process wrote of clusters so far, by sizes; without META and states. */
  readonly writtenUnits: ReadonlyMap<ClusterUid, number>;
  /** If the stored stamp is still `expected` (undefined: no item). */
  writeSlice(ref: SliceRef, slice: Slice, expected: Stamp | undefined): Promise<WriteResult>;
  /** If the stored version is `older.version` (0: none yet); stored with version + 1. */
  writeOlderTombstones(ref: SliceRef, older: OlderTombstones): Promise<WriteResult>;
  /**
   * Removes a slice if the stored stamp is still `expected`, and then the older tombstones beside it; `written` also
   * when it is gone.
   */
  removeSlice(ref: SliceRef, expected: Stamp): Promise<WriteResult>;
  /** Raises the position's stamps to at least these; never lowers one. */
  raisePosition(ref: DaemonSetRef, position: Partial<DaemonSetPosition>): Promise<void>;
  /** This and the name: if the stored stamp is older; else `lost`. */
  writeDaemonSet(ref: DaemonSetRef, item: DaemonSetItem): Promise<WriteResult>;
  writeName(cluster: ClusterUid, item: NameItem): Promise<WriteResult>;
  /** Removes a name whose stored stamp is still the item's; `written` also when it is gone. */
  removeName(cluster: ClusterUid, item: NameItem): Promise<WriteResult>;
  /** Removes what a deleted DaemonSet left: position, object, state. */
  removeDaemonSet(ref: DaemonSetRef): Promise<void>;
}

/** The state item of a DaemonSet. */
export interface StateStore {
  /** Undefined when there is no item (first run, or lost: protocol 6). */
  readState(ref: DaemonSetRef): Promise<DaemonSetState | undefined>;
  /** Likewise by `state.version`. */
  writeState(ref: DaemonSetRef, state: DaemonSetState): Promise<WriteResult>;
}

/** Entries of `rollcall log` that have a place of their own; each item goes by itself after thirty days (ADR 0082). */
export interface LogStore {
  /** Without a condition: the same item again is the same. */
  putLogItem(cluster: ClusterUid | undefined, item: LogItem): Promise<void>;
  /**
   * A page of one day (UTC, `2026-11-28`) of a cluster, or of the stack; none that has expired, and what cannot be read as a reason.
   * `fromMs`: items whose newest entry is older are not asked for.
   */
  listLogItems(
    cluster: ClusterUid | undefined,
    page: {
      readonly day: string;
      readonly cursor?: string;
      readonly fromMs?: number;
      readonly nowMs: number;
    },
  ): Promise<LogPage>;
}

/** Days of coverage that left their states, beside the log; each item goes by itself after a year (core/coverage). */
export interface CoverageStore {
  /** Without a condition: the same days again are the same. */
  putCoverageDays(cluster: ClusterUid, days: CoverageDays): Promise<void>;
  /** A page of a cluster's items whose first day is that one or a later one; what cannot be read as a reason. */
  listCoverageDays(
    cluster: ClusterUid,
    page: { readonly fromDay: number; readonly cursor?: string },
  ): Promise<CoveragePage>;
}

/** A page of items. */
export interface CoveragePage {
  readonly items: readonly CoverageDays[];
  readonly unreadable: readonly string[];
  readonly cursor?: string;
}

/** A page of items. */
export interface LogPage {
  readonly items: readonly LogItem[];
  readonly unreadable: readonly string[];
  readonly cursor?: string;
}

/** True of what a store rejects with where an item is too large for it. Nothing was written then. */
export function isItemTooLarge(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'item-too-large';
}

/**
 * The circuit breaker of a cluster: an attribute of its own beside META, where `ClusterMeta.breaker` has it for each caller that
 * reads that. Written on changes alone; losing it is harmless (core/breaker.ts).
 */
export interface BreakerStore {
  /** The breaker alone, for who needs nothing else of META; undefined: closed. */
  readBreaker(cluster: ClusterUid): Promise<ClusterBreaker | undefined>;
  /** Likewise by `breaker.version`; `lost` also without META: nothing was heard of the cluster. */
  writeBreaker(cluster: ClusterUid, breaker: ClusterBreaker): Promise<WriteResult>;
}

/**
 * The walk of `resync` between its invocations: one item for the whole fleet, two small writes a minute. Losing it costs
 * one walk that looks at all due times of the last quarter of an hour (core/resync-walk.ts).
 */
export interface WalkStore {
  /** Undefined when there is none yet, or none that can be read. */
  readWalk(): Promise<ResyncWalk | undefined>;
  /** Likewise by `walk.version`. */
  writeWalk(walk: ResyncWalk): Promise<WriteResult>;
}

/** The whole view table. */
export type ViewStore = ViewReader &
  ViewWriter &
  StateStore &
  BreakerStore &
  WalkStore &
  LogStore &
  CoverageStore;
