/**
 * The store of a local cluster, as etcd and the API server's cache are to a real one: objects by key, one counter of
 * versions for the whole cluster, a bounded history for watchers.
 *
 * Every method is synchronous, so that a caller who reads and writes without an `await` in between is atomic: the verbs
 * are. Each write takes the next version and puts it into the object's metadata.resourceVersion; a deletion does too.
 * Invariants: versions only grow; a watcher sees every change after its version, once, in order, or is told it expired.
 * The store knows neither kinds nor rules; those are the verbs' and the resources'.
 */
import type { Cancel } from '@rollcall/base/ports/clock.ts';
import type { ApiObject, ObjectRef, ResourceName } from '../objects/api-object.ts';

/** What happened to an object. `previous` is the state before; absent for an addition. */
export interface StoreChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly resource: ResourceName;
  readonly object: ApiObject;
  readonly previous?: ApiObject;
  readonly version: bigint;
}

/** Asks for the changes of a collection after a version. */
export interface Subscription {
  readonly resource: ResourceName;
  /** Only this namespace. */
  readonly namespace?: string;
  /** Only pods whose spec.nodeName is or was this one: served from an index, for a thousand agents. */
  readonly nodeName?: string;
  /** Only objects of this name: served from an index too, for agents that watch their own Node. */
  readonly name?: string;
  /** Changes after this version; must not be older than the history reaches. */
  readonly afterVersion: bigint;
  /** Called in order of versions, never from inside `subscribe`; must not throw. */
  readonly onChange: (change: StoreChange) => void;
}

/** Either a running subscription, or the version is older than the history. */
export type SubscribeOutcome =
  | { readonly kind: 'subscribed'; readonly cancel: Cancel }
  | { readonly kind: 'expired'; readonly oldestVersion: bigint };

/** The store. */
export interface Store {
  /** The version of the newest write. */
  version(): bigint;
  get(ref: ObjectRef): ApiObject | undefined;
  /** All objects of a collection in the order of their keys `namespace/name`, as bytes (key-order.ts), as etcd's. */
  list(resource: ResourceName, namespace?: string): readonly ApiObject[];
  /** Pods with this spec.nodeName, in key order. */
  podsOnNode(nodeName: string): readonly ApiObject[];
  /** Stores an object that must not exist yet; the returned one carries its resourceVersion. Asserts absence. */
  insert(resource: ResourceName, object: ApiObject): ApiObject;
  /** Replaces an object that must exist. An equal object is not written: the stored one comes back, version unchanged. */
  replace(resource: ResourceName, object: ApiObject): ApiObject;
  /** Removes an object that must exist; returns its last state with the version of the removal. */
  remove(ref: ObjectRef): ApiObject;
  subscribe(subscription: Subscription): SubscribeOutcome;
  /** The changes of a resource after a version, oldest first: what leads back to it; undefined when forgotten. */
  changesAfter(resource: ResourceName, version: bigint): readonly StoreChange[] | undefined;
  /** Forgets the history, as a compaction does: older subscriptions expire. For tests and drills. */
  compact(): void;
}
