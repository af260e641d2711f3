/**
 * Messages of a cluster: the body of one message of events.fifo, and that of its renewer to `credential`.
 *
 * A message carries the newest state per object (deltas), or whole slices of a snapshot. Only the
 * last message of a flush (the *cut*) carries marks and set hashes, and closes it (protocol 2). The
 * header travels uncompressed beside the compressed body, so that a dead letter can be read.
 * A set is where an object is stored: all nodes of the cluster, or what belongs to one DaemonSet.
 */
import type {
  ClusterId,
  ClusterUid,
  Epoch,
  Incarnation,
  ResourceVersion,
  Uid,
} from './identifiers.ts';
import type { Projection, WatchedKind } from './projections.ts';

/** Version of the message schema that this release writes. */
export const MESSAGE_SCHEMA = 1;

/**
 * The set an object is stored in: `nodes` and `daemonsets` are one set per cluster; the pods and the
 * revisions of a DaemonSet are one set per DaemonSet UID.
 */
export type SetId = 'nodes' | 'daemonsets' | `pods/${string}` | `revisions/${string}`;

/** One membership of an object in a set with the hash under which it was (or is) sent. */
export interface Membership {
  readonly set: SetId;
  /** 48-bit hash of (set, uid, projection without resourceVersion): see set-hash.ts. */
  readonly hash: number;
}

/** The newest state of one object, and where it was last sent to. */
export interface Delta {
  readonly of: WatchedKind;
  readonly uid: Uid;
  /** Name (and namespace) of the object: picks the slice, also for a deletion. */
  readonly name: string;
  readonly namespace?: string;
  /** The newest projection; null when the object is gone or belongs to no set any more. */
  readonly object: Projection | null;
  /** Sets in which the object now stands, with the hash as sent here. */
  readonly sets: readonly Membership[];
  /** Sets in which it was last sent, with the hash it was sent with; it is removed where not in `sets`. */
  readonly formerSets: readonly Membership[];
}

/** How far each type has been read, or absent when it has never been listed. */
export type Marks = Readonly<Partial<Record<WatchedKind, ResourceVersion>>>;

/** Per type: sum modulo 2^48 of the hashes of every membership sent. */
export type SetHashes = Readonly<Record<WatchedKind, number>>;

/** The end of a flush: everything up to the marks has been sent. */
export interface Cut {
  readonly marks: Marks;
  readonly hashes: SetHashes;
  /** Milliseconds since each type's stream last received a byte, when this was built. */
  readonly silentMs: Readonly<Partial<Record<WatchedKind, number>>>;
}

/** Names of DaemonSets (`<namespace>/<name>`) after one and up to another, by code units; without one it is open there. */
export interface NameRange {
  readonly after?: string;
  readonly upTo?: string;
}

/** One slice of a snapshot, whole. */
export interface SnapshotSlice {
  readonly set: SetId;
  /** 0 … sliceCount−1; `revisions/…` has index 0 alone, `daemonsets` portions of any number. */
  readonly index: number;
  /** Of a portion of `daemonsets`: the range of names in which it holds all that exist. */
  readonly covers?: NameRange;
  /** With the hash of each membership as sent. */
  readonly objects: readonly { readonly object: Projection; readonly hash: number }[];
}

/** First message of an epoch, or of a new snapshot inside one. */
export interface AnnouncementBody {
  readonly kind: 'announcement';
  /** Slices per set that the snapshot will have: 1, 4 or 16. */
  readonly sliceCount: number;
  /** Why: start, resync (six-hourly), requested, threshold (slice count changed), restored (etcd went back). */
  readonly reason: 'start' | 'periodic' | 'requested' | 'threshold' | 'restored' | 'refused-body';
  /** Echo of the Lease annotation that asked for it. */
  readonly requestId?: string;
  /** The holder of the Lease while the watcher stands by: no snapshot follows (ADR 0024). */
  readonly standsBy?: string;
}

/** More are not named: every key is looked at. */
export const AFFECTED_KEYS_MAX = 200;

/**
 * Keys that the node changes of a message concern: the DaemonSets whose placement on one of these nodes moved (protocol
 * 20). Decided by the watcher (ADR 0079).
 */
export interface AffectedKeys {
  /** PLACEMENT_RULES of the watcher that decided; under other rules every key is looked at. */
  readonly rules: number;
  readonly keys: readonly { readonly namespace: string; readonly name: string }[];
}

/** Newest states since the last flush; without a cut, more of the same flush follows. */
export interface ChangesBody {
  readonly kind: 'changes';
  readonly deltas: readonly Delta[];
  /** Absent: it changes no node, or its nodes concern every key. */
  readonly affected?: AffectedKeys;
  /** Sets of which nothing was sent since the announcement: what is stored there is of before, and goes. */
  readonly begun?: readonly SetId[];
  readonly cut?: Cut;
}

/** Whole slices of the snapshot announced last. */
export interface SlicesBody {
  readonly kind: 'slices';
  readonly slices: readonly SnapshotSlice[];
}

/** Closes a snapshot: every portion and every slice was sent. It names none of them, so it never grows (ADR 0079). */
export interface ManifestBody {
  readonly kind: 'manifest';
  /** seq of the announcement that this closes. */
  readonly announcedSeq: number;
  readonly sliceCount: number;
  readonly cut: Cut;
}

/** Body of a message. A heartbeat is `changes` without deltas and with a cut. */
export type WatcherBody = AnnouncementBody | ChangesBody | SlicesBody | ManifestBody;

/** Header of a message: readable without decompressing. */
export interface WatcherHeader {
  readonly schema: typeof MESSAGE_SCHEMA;
  readonly cluster: ClusterId;
  readonly clusterUid: ClusterUid;
  readonly epoch: Epoch;
  readonly incarnation: Incarnation;
  /** Grows by one with each message of an epoch, from 1 (the announcement). */
  readonly seq: number;
}

/** A whole message. */
export interface WatcherMessage extends WatcherHeader {
  readonly body: WatcherBody;
}

// A renewer sends a new token for the functions, sealed for this cluster alone. The times are the token's own, repeated
// outside of the seal: by them an outdated message is refused without a call to the key service. They decide nothing else.

/** Version of the message's schema; another one is refused, never guessed at. */
export const CREDENTIAL_SCHEMA = 1;

/** A message of the credentials queue. */
export interface CredentialMessage {
  readonly schema: typeof CREDENTIAL_SCHEMA;
  readonly cluster: ClusterId;
  readonly clusterUid: ClusterUid;
  readonly purpose: 'act' | 'ask';
  /** base64. */
  readonly ciphertext: string;
  /** Milliseconds since 1970. */
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
}
