/**
 * What a warm process remembers between runs: decoded slices by their stamps, sets of them by their last change,
 * paces of creates, timers just sent. Never needed for correctness: a cold process decides the same, only slower.
 *
 * Keys begin with the cluster's UID, so nothing of one cluster can answer for another (spec faults
 * 31). Least recently used sets leave when more than `objectsMax` projections are held, or sets without any.
 */
import type { Uid } from '../../../core/model/identifiers.ts';
import type { Stamp } from '../../../core/model/position.ts';
import type { Projection, Tombstone } from '../../../core/model/projections.ts';
import type { OlderTombstones } from '../../../core/model/view-items.ts';
import type { SliceRef } from '../../../ports/stores/view-store.ts';
import type { PodMetadata } from '../../../ports/cluster/cluster-access.ts';
/** What the slices of a set hold together. */
export interface SetContent {
  readonly objects: readonly Projection[];
  readonly gone: readonly Tombstone[];
}
/** One slice, as its stamp has it; `gone` with the older tombstones beside it. */
export interface WarmSlice extends SetContent {
  readonly stamp: Stamp;
  readonly older?: OlderTombstones;
}
/** A whole set, as it stood when `changed` was its last change. */
export interface WarmSet extends SetContent {
  readonly changed: Stamp;
  /** The same by slices: of a set that changed, most slices did not. */
  readonly slices: readonly WarmSlice[];
  /** How many of them had changed since this process saw the set before. */
  readonly movedCount: number;
}
/** Memory shared by all keys and clusters of one process. */
export interface ProcessCache {
  readonly sets: SetCache;
  /** Loads of node sets that are under way, so that ten keys of a cluster decode them once. */
  readonly loading: Map<string, Promise<WarmSet | undefined>>;
  readonly resends: Resends;
  readonly paces: Paces;
  readonly statusPatches: StatusPatches;
  readonly knownPods: KnownPods;
  /** Which UID a key had when it was read last. */
  readonly uids: Map<string, Uid>;
  /** Keys whose last run told a status and left nothing to do: that status comes back, and is nothing new. */
  readonly toldStatuses: Map<string, true>;
}
/** Least recently used sets, bounded by the number of projections they hold, and by their own number. */
export declare class SetCache {
  #private;
  constructor(objectsMax: number);
  /** The set if it is held exactly as of `changed`. */
  get(key: string, changed: Stamp): WarmSet | undefined;
  /** The set as it was held last, whenever that was. */
  last(key: string): WarmSet | undefined;
  /** Holds a set in place of what was held under its key. */
  put(key: string, set: WarmSet): void;
}
/** Key of a set in this memory. */
export declare function warmKey(ref: Omit<SliceRef, 'index'>, sliceCount: number): string;
/** A fresh memory; make one per process and share it. */
export declare function createProcessCache(options?: {
  readonly objectsMax?: number;
}): ProcessCache;
/** Whose pace it is: other pods may fare differently. */
export interface PaceKey {
  readonly clusterUid: string;
  readonly uid: string;
  readonly generation: number;
}
/**
 * How fast the creates of a DaemonSet went lately, so that the next run need not start at one: a rollout is many
 * runs with some ten creates each. A pace holds for one generation, for a few seconds, and only after a run in
 * which no create failed; the fence before each batch stays (protocol 7). What goes wrong after all went well costs no
 * more requests than one run may send: the burst (spec 2.1). Times are monotonic.
 */
export declare class Paces {
  #private;
  /** Size of the first batch: 1 if nothing is known, or not any more. */
  firstBatchSize(key: PaceKey, monotonicMs: number): number;
  /** Notes the batch size that a run ended with; undefined: something went wrong, start anew. */
  note(key: PaceKey, batchSize: number | undefined, monotonicMs: number): void;
}
/**
 * Due times that were sent again (protocol 12). A run close before a due time that a timer caused sends it once
 * more, because that timer may have been the one of the due time. Of many timers that arrive together one does so:
 * else each would leave a timer, and chains would never merge (L5). Forgets after a second, so a timer that comes
 * too early is always replaced. Knows the timers of looks that no state records, too.
 */
export declare class Resends {
  #private;
  /** Whether to send this due time of this key again; notes that it is sent. */
  take(key: string, dueAtMs: number, monotonicMs: number): boolean;
  /** Notes that this due time of this key was sent just now. */
  note(key: string, dueAtMs: number, monotonicMs: number): void;
  /** How long it takes until a look that nothing recorded, if one is on its way within that delay. */
  unrecordedWithin(
    key: string,
    at: {
      readonly monotonicMs: number;
      readonly delayMs: number;
    },
  ): number | undefined;
  /** Notes a look that nothing records. */
  noteUnrecorded(key: string, dueMonotonicMs: number): void;
}
/** Notes a value under its key, as the newest. */
export declare function remember<T>(memory: Map<string, T>, key: string, value: T): void;
/** What a warm process knows of that. Times are monotonic. */
export declare class StatusPatches {
  #private;
  /** False while the cluster refused one lately. */
  mayPatch(clusterUid: string, monotonicMs: number): boolean;
  /** A patch was refused, by whatever reads who writes: roles, webhooks, proxies. A PUT may be refused as well. */
  noteRefused(clusterUid: string, monotonicMs: number): void;
}
/** Of which cluster, and of which DaemonSet. */
export interface KnownPodsKey {
  readonly clusterUid: string;
  readonly uid: Uid;
}
/** What a warm process knows of pods. */
export declare class KnownPods {
  #private;
  /** A pod as it was listed; undefined: not in the last list, or that one is old. */
  find(key: KnownPodsKey, pod: Uid, monotonicMs: number): PodMetadata | undefined;
  /** Notes a list, in place of the one before; the oldest lists leave for it. */
  note(key: KnownPodsKey, pods: readonly PodMetadata[], monotonicMs: number): void;
}
