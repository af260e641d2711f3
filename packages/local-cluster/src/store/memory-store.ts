/**
 * The store (store.ts) in memory, and with a journal also on disk.
 *
 * Assumes its callers change objects only through it. A change is on disk before any subscriber hears of it; who answers
 * a writer must let one microtask pass first. The history of each resource is bounded by itself, so that busy leases do
 * not expire the watchers of nodes; beyond the bytes that all may hold, the one that holds most gives way. After a
 * restart they are empty: every older watch expires, as after a compaction.
 */
import assert from 'node:assert/strict';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject, ObjectRef, ResourceName } from '../objects/api-object.ts';
import { Collection } from './collection.ts';
import { Deliveries } from './deliveries.ts';
import { History } from './history.ts';
import type { Journal } from './journal.ts';
import type { Store, StoreChange, SubscribeOutcome, Subscription } from './store.ts';

/** How many changes of each resource are kept for watchers that come back. */
const HISTORY_MAX = 20_000;
/** How much memory those of all resources may hold: of large objects fewer are kept. */
const HISTORY_BYTES_MAX = 64 * 1024 * 1024;

/** How the store is made. */
export interface MemoryStoreOptions {
  /** Changes kept for each resource. */
  readonly historyMax?: number;
  /** Bytes that these may hold. */
  readonly historyBytesMax?: number;
  /** Where the objects come from and every write goes; the caller closes it. */
  readonly journal?: Journal;
}

/** Makes a store, empty or with what the journal holds. */
export function createMemoryStore(options: MemoryStoreOptions = {}): Store {
  return new MemoryStore(options);
}

class MemoryStore implements Store {
  readonly #collections = new Map<ResourceName, Collection>();
  readonly #histories = new Map<ResourceName, History>();
  readonly #deliveries: Deliveries;
  readonly #historyMax: number;
  readonly #historyBytesMax: number;
  readonly #journal: Journal | undefined;
  #version: bigint;
  /** What resources without a history have forgotten. */
  #forgottenVersion: bigint;

  constructor(options: MemoryStoreOptions) {
    const { journal } = options;
    this.#historyMax = options.historyMax ?? HISTORY_MAX;
    this.#historyBytesMax = options.historyBytesMax ?? HISTORY_BYTES_MAX;
    this.#journal = journal;
    this.#version = journal?.contents.version ?? 0n;
    this.#forgottenVersion = this.#version;
    for (const { resource, object } of journal?.contents.objects ?? []) {
      this.#collection(resource).put(object, undefined);
    }
    this.#deliveries = new Deliveries({
      version: this.#version,
      beforeDelivery: () => {
        journal?.flush();
      },
    });
  }

  version(): bigint {
    return this.#version;
  }

  get(ref: ObjectRef): ApiObject | undefined {
    return this.#collections.get(ref.resource)?.get(ref);
  }

  list(resource: ResourceName, namespace?: string): readonly ApiObject[] {
    return this.#collection(resource).list(namespace);
  }

  podsOnNode(nodeName: string): readonly ApiObject[] {
    return this.#collection('pods').onNode(nodeName);
  }

  insert(resource: ResourceName, object: ApiObject): ApiObject {
    const collection = this.#collection(resource);
    assert(collection.get(object.metadata) === undefined, `${nameOf(resource, object)} exists`);
    const stored = this.#stamp(object);
    collection.put(stored, undefined);
    this.#record({ type: 'ADDED', resource, object: stored, version: this.#version });
    return stored;
  }

  replace(resource: ResourceName, object: ApiObject): ApiObject {
    const collection = this.#collection(resource);
    const previous = collection.get(object.metadata);
    assert(previous !== undefined, `${nameOf(resource, object)} does not exist`);
    if (isSameObject(previous, object)) return previous;
    const stored = this.#stamp(object);
    collection.put(stored, previous);
    this.#record({ type: 'MODIFIED', resource, object: stored, previous, version: this.#version });
    return stored;
  }

  remove(ref: ObjectRef): ApiObject {
    const { resource } = ref;
    const collection = this.#collection(resource);
    const previous = collection.get(ref);
    assert(previous !== undefined, `${resource} ${ref.namespace ?? ''}/${ref.name} does not exist`);
    collection.delete(previous);
    const removed = this.#stamp(previous);
    this.#record({ type: 'DELETED', resource, object: removed, previous, version: this.#version });
    return removed;
  }

  subscribe(subscription: Subscription): SubscribeOutcome {
    const history = this.#history(subscription.resource);
    const { oldestVersion } = history;
    if (subscription.afterVersion < oldestVersion) return { kind: 'expired', oldestVersion };
    return { kind: 'subscribed', cancel: this.#deliveries.subscribe(subscription, history) };
  }

  changesAfter(resource: ResourceName, version: bigint): readonly StoreChange[] | undefined {
    const history = this.#history(resource);
    if (version < history.oldestVersion) return undefined;
    return history.between({ afterVersion: version, untilVersion: this.#version });
  }

  compact(): void {
    this.#forgottenVersion = this.#version;
    for (const history of this.#histories.values()) history.forget(this.#version);
  }

  /** Takes the next version and writes it into the object. */
  #stamp(object: ApiObject): ApiObject {
    this.#version += 1n;
    const resourceVersion = this.#version.toString();
    return { ...object, metadata: { ...object.metadata, resourceVersion } };
  }

  #record(change: StoreChange): void {
    this.#journal?.record(change);
    this.#history(change.resource).push(change);
    this.#deliveries.push(change);
    this.#makeRoom();
  }

  /** Beyond the bound in bytes the history that holds most gives way. */
  #makeRoom(): void {
    const histories = [...this.#histories.values()];
    let heldBytes = histories.reduce((sum, { bytes }) => sum + bytes, 0);
    while (heldBytes > this.#historyBytesMax) {
      const largest = histories.reduce((most, one) => (one.bytes > most.bytes ? one : most));
      heldBytes -= largest.bytes;
      largest.dropOldest();
      heldBytes += largest.bytes;
    }
  }

  #collection(resource: ResourceName): Collection {
    const existing = this.#collections.get(resource);
    if (existing !== undefined) return existing;
    const collection = new Collection(resource);
    this.#collections.set(resource, collection);
    return collection;
  }

  #history(resource: ResourceName): History {
    const existing = this.#histories.get(resource);
    if (existing !== undefined) return existing;
    const history = new History({
      changesMax: this.#historyMax,
      oldestVersion: this.#forgottenVersion,
    });
    this.#histories.set(resource, history);
    return history;
  }
}

function nameOf(resource: ResourceName, { metadata }: ApiObject): string {
  return `${resource} ${metadata.namespace ?? ''}/${metadata.name}`;
}

/** Equal in everything but metadata.resourceVersion; parts that both states share are equal without a look. */
function isSameObject(left: ApiObject, right: ApiObject): boolean {
  if (left === right) return true;
  const { metadata: leftMetadata, ...leftRest } = left;
  const { metadata: rightMetadata, ...rightRest } = right;
  if (!hasSameMembers(leftRest, rightRest)) return false;
  const { resourceVersion: _left, ...leftOther } = leftMetadata;
  const { resourceVersion: _right, ...rightOther } = rightMetadata;
  return hasSameMembers(leftOther, rightOther);
}

function isSame(left: Json | undefined, right: Json | undefined): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object') return false;
  if (left === null || right === null) return false;
  if (isList(left)) {
    if (!isList(right) || left.length !== right.length) return false;
    return left.every((item, index) => isSame(item, right[index]));
  }
  return !isList(right) && hasSameMembers(left, right);
}

function hasSameMembers(left: JsonObject, right: JsonObject): boolean {
  for (const key of Object.keys(left)) {
    if (!isSame(left[key], right[key])) return false;
  }
  for (const key of Object.keys(right)) {
    if (left[key] === undefined && right[key] !== undefined) return false;
  }
  return true;
}

function isList(value: readonly Json[] | JsonObject): value is readonly Json[] {
  return Array.isArray(value);
}
