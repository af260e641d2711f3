/**
 * A cluster's API server as the watcher sees it: raw list pages, watch streams, its Lease.
 *
 * The adapter moves bytes and classifies failures; resuming, relisting, back-off and liveness are the
 * watcher's own (design 2). Objects are raw JSON and are projected at once by the caller.
 */
import type { ClusterUid, ResourceVersion } from '../../core/model/identifiers.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { WatchedKind } from '../../core/model/projections.ts';

/** Why a request or stream failed. */
export interface SourceFailure {
  /** expired: 410, relist. unsupported: WatchList not available. unauthorized: 401/403. */
  readonly kind: 'expired' | 'unsupported' | 'unauthorized' | 'throttled' | 'unavailable';
  readonly message: string;
  readonly retryAfterMs?: number;
}

/** One page of a list, without its items: those were told while it arrived. */
export interface ListPage {
  readonly resourceVersion: ResourceVersion;
  readonly continueToken?: string;
}

/** One frame of a watch stream. `alive` reports bytes that completed no event. */
export type WatchFrame =
  | { readonly kind: 'added' | 'modified' | 'deleted'; readonly object: KubernetesObject }
  | {
      readonly kind: 'bookmark';
      readonly resourceVersion: ResourceVersion;
      /** Ends the initial events of a WatchList. */
      readonly isInitialEventsEnd: boolean;
    }
  | { readonly kind: 'undecodable'; readonly message: string }
  | { readonly kind: 'failed'; readonly failure: SourceFailure }
  | { readonly kind: 'ended' };

/** Options of a watch. */
export interface WatchOptions {
  readonly resourceVersion?: ResourceVersion;
  /** Server-side time-out; the stream ends cleanly after it. */
  readonly timeoutSeconds: number;
  /** WatchList: initial events, then a bookmark that ends them. */
  readonly sendInitialEvents: boolean;
  /** Aborting ends the stream promptly, whatever it waits for. */
  readonly signal: AbortSignal;
  /** Called whenever bytes arrive: liveness is the time since the last byte. */
  readonly onBytes: () => void;
}

/** Answer of a request that may fail in expected ways. */
export type SourceAnswer<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | { readonly kind: 'failed'; readonly failure: SourceFailure };

/** Answer of a write to the Lease. */
export type LeaseWrite =
  | { readonly kind: 'written'; readonly lease: KubernetesObject }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'ambiguous'; readonly message: string }
  | { readonly kind: 'failed'; readonly failure: SourceFailure };

/** What a watcher needs of its cluster. */
export interface WatchSource {
  /** UID of the namespace kube-system. */
  getClusterUid(): Promise<SourceAnswer<ClusterUid>>;
  /** One page; never resourceVersion=0. Rejects when an item cannot be read, or `onItem` throws. */
  listPage(
    kind: WatchedKind,
    options: {
      readonly limit: number;
      readonly continueToken?: string;
      readonly signal: AbortSignal;
      /** Called for each item, in order. Counts only once the answer is `ok`: a page may break off. */
      readonly onItem: (item: KubernetesObject) => void;
    },
  ): Promise<SourceAnswer<ListPage>>;
  /** A stream that ends with exactly one `failed` or `ended` frame. */
  watch(kind: WatchedKind, options: WatchOptions): AsyncIterable<WatchFrame>;
  /** The watcher's Lease; undefined when it does not exist. */
  readLease(): Promise<SourceAnswer<KubernetesObject | undefined>>;
  /** Creates (no resourceVersion) or replaces (resourceVersion is the precondition) the Lease. */
  writeLease(lease: KubernetesObject): Promise<LeaseWrite>;
}
