/**
 * Items of the view table, decoded: the cluster's META with positions, a DaemonSet's object, slices.
 *
 * Everything here is a cache that a snapshot rebuilds. `ingest` is its only writer, except for the
 * attributes named otherwise. Shapes of stored items (keys, compression) are the adapter's business.
 */
import type { DailyCounts } from '../cost/daily.ts';
import type { ClusterBreaker } from './breaker.ts';
import type { ClusterUid, Epoch, Incarnation, Uid } from './identifiers.ts';
import { ZERO_STAMP, type Stamp } from './position.ts';
import type { DaemonSetOutline, Projection, WatchedKind, Tombstone } from './projections.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { Marks, SetHashes } from './watcher-message.ts';

/** A snapshot that was announced and is not closed yet. */
export interface SnapshotProgress {
  readonly announcedSeq: number;
  /** META.broken when it was announced: must be unchanged at the manifest (protocol 18). */
  readonly brokenAtAnnouncement: number;
  readonly sliceCount: number;
  readonly requestId?: string;
  /** SentTimestamp of the announcement. */
  readonly announcedAtMs: number;
  /** True after a loss: every slice is rewritten, also where nothing differs (protocol 18). */
  readonly isAfterLoss: boolean;
  /** Sum of what this snapshot's slices, and its deltas, carried. */
  readonly hashes: SetHashes;
}

/** The holder of the Lease while a watcher stands by. */
export interface WatcherStandsBy {
  /** The installation, or the holder's own name where the Lease names none. */
  readonly holder: string;
  /** SentTimestamp of the first message that said so. */
  readonly sinceMs: number;
}

/** A message that was applied. */
export interface AppliedMessage {
  readonly stamp: Stamp;
  readonly sentAtMs: number;
}

/** META: what is known about a cluster as a whole. */
export interface ClusterMeta {
  /** Compare-and-set counter; 0 means: no item yet. */
  readonly version: number;
  readonly clusterUid: ClusterUid;
  readonly era: number;
  readonly epoch: Epoch;
  readonly incarnation: Incarnation;
  readonly seq: number;
  readonly isComplete: boolean;
  readonly incompleteReason?: string;
  /** True between the first message of a flush and its cut: no deletes meanwhile (protocol 2). */
  readonly isCutOpen: boolean;
  /** Raised by each loss. */
  readonly broken: number;
  readonly snapshot?: SnapshotProgress;
  /** `broken` when the view last became complete: a difference means that a loss followed. */
  readonly brokenWhenComplete?: number;
  /** seq of the announcement whose snapshot last made the view complete, in the present epoch. */
  readonly announcedSeq?: number;
  /** SentTimestamp of that announcement: takeover demands one after its probe (protocol 9). */
  readonly announcedAtMs?: number;
  readonly sliceCount: number;
  readonly marks: Marks;
  readonly hashes: SetHashes;
  /** SentTimestamp of the last applied message. */
  readonly lastSentAtMs: number;
  /**
   * Two messages of before, each some minutes older than the next, so that a reader can tell what has been in the view
   * for so long; absent: not known yet.
   */
  readonly earlier?: { readonly first: AppliedMessage; readonly second: AppliedMessage };
  /** Per type: when its watch was last known to have received bytes. */
  readonly heardAtMs: Readonly<Partial<Record<WatchedKind, number>>>;
  /** Sum of all gaps in that, of nodes or pods, beyond the silence bound (`unheardAfter`); absent: there was none. */
  readonly unheardMs?: number;
  readonly nodesChanged: Stamp;
  /** Where the list of DaemonSets (which uid under which name) last changed; not their contents. */
  readonly daemonSetsChanged: Stamp;
  /** Positions that META keeps (ADR 0076); a DaemonSet without one here has an item of its own. Absent: all have. */
  readonly positions?: Positions;
  /** When a snapshot was last asked for, and why hash mismatches are rate-limited (protocol 19). */
  readonly snapshotRequestedAtMs?: number;
  readonly hashSnapshotAtMs?: number;
  /** When the Lease was last read live because of a lower epoch (protocol 15). */
  readonly leaseCheckedAtMs?: number;
  /** The sender of that message: another incarnation may be checked sooner. */
  readonly leaseCheckedFor?: Incarnation;
  /**
   * The watcher of this stack stands by, as another installation holds its Lease (ADR 0024); any other message of it
   * clears this.
   */
  readonly watcherStandsBy?: WatcherStandsBy;
  /** Messages by day (core/cost/counted.ts): nothing is decided on them. Absent: none was counted yet. */
  readonly days?: DailyCounts;
  /** Written by each function that talks to the API server; ingest only reads it. Absent, also when unreadable: closed. */
  readonly breaker?: ClusterBreaker;
}

/** Which DaemonSet stands under a name. */
export interface NameItem {
  readonly namespace: string;
  readonly name: string;
  /** Null once it was deleted, until the item is removed. */
  readonly uid: Uid | null;
  /** DaemonSets that stood here before and whose items are not removed yet (protocol 18). */
  readonly formerUids?: readonly Uid[];
  readonly stamp: Stamp;
}

/** Position of a DaemonSet: the highest stamps of its slices. */
export interface DaemonSetPosition {
  readonly podsChanged: Stamp;
  readonly revisionsChanged: Stamp;
}

/** Of a DaemonSet that has none anywhere: older than every change. */
export const NO_POSITION: DaemonSetPosition = {
  podsChanged: ZERO_STAMP,
  revisionsChanged: ZERO_STAMP,
};

/** Positions by UID. */
export type Positions = Readonly<Record<Uid, DaemonSetPosition>>;

/** The one of a DaemonSet, if it is among them: UIDs come from outside, so only own members count. */
export function positionIn(
  positions: Positions | undefined,
  uid: Uid,
): DaemonSetPosition | undefined {
  return positions !== undefined && Object.hasOwn(positions, uid) ? positions[uid] : undefined;
}

/** DAEMONSET: the object as last sent; null object once deleted. */
export interface DaemonSetItem {
  readonly stamp: Stamp;
  readonly object: DaemonSetObject | null;
  /** Set when the object travelled opaque: decide on a live read only. */
  readonly opaqueReason?: string;
  /** The outline of one that travelled opaque: for people, no run decides by it. */
  readonly outline?: DaemonSetOutline;
}

/** The object as far as it can be told, perhaps without its template; null: nothing is known of it. */
export function toldObject({ object, outline }: DaemonSetItem): DaemonSetObject | null {
  return object ?? outline?.object ?? null;
}

/** A slice: projections with the hash that each was sent under. */
export interface Slice {
  readonly stamp: Stamp;
  readonly objects: readonly { readonly object: Projection; readonly hash: number }[];
  /** Its pods that are gone (core/pod/tombstones.ts), in no set hash; absent: none. */
  readonly gone?: readonly Tombstone[];
  /** Which older tombstones it has beside these; absent: none that are needed. */
  readonly older?: OlderTombstonesRef;
}

/** Tombstones that a slice has no room for: an item of their own, written before the slice lets go of them (ADR 0076). */
export interface OlderTombstones {
  /** Compare-and-set counter; 0 means: no item yet. */
  readonly version: number;
  readonly gone: readonly Tombstone[];
}

/** The slice's note about the item of its older tombstones. */
export interface OlderTombstonesRef {
  /** That item has at least this version: a later one holds all of it, and what the slice holds beside. */
  readonly version: number;
  /** When the last of them went: ten minutes later that item is of no use. */
  readonly goneAtMs: number;
}
