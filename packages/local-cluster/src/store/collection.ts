/**
 * One collection of the store: its objects by namespace and, for pods, by node.
 *
 * It keeps objects; versions, history and watchers are memory-store.ts's.
 */
import { isJsonObject } from '@rollcall/base/json.ts';
import type { ApiObject, ResourceName } from '../objects/api-object.ts';
import { compareBytes, keyText } from './key-order.ts';
import type { ObjectKey } from './key-order.ts';

const NO_OBJECTS: readonly ApiObject[] = [];

/** The objects of one resource; cluster-scoped ones live under the namespace ''. */
export class Collection {
  readonly #byNamespace = new Map<string, SortedObjects>();
  readonly #byNode: Map<string, SortedObjects> | undefined;
  #list: readonly ApiObject[] | undefined = [];

  constructor(resource: ResourceName) {
    this.#byNode = resource === 'pods' ? new Map() : undefined;
  }

  get({ namespace, name }: ObjectKey): ApiObject | undefined {
    return this.#byNamespace.get(namespace ?? '')?.get(name);
  }

  /** Adds the object, or puts it in place of `previous`, the one that has its key. */
  put(object: ApiObject, previous: ApiObject | undefined): void {
    const { namespace, name } = object.metadata;
    bucket(this.#byNamespace, namespace ?? '').set(name, object);
    this.#list = undefined;
    if (this.#byNode === undefined) return;
    const nodeName = nodeNameOf(object);
    if (previous !== undefined && nodeNameOf(previous) !== nodeName) this.#leaveNode(previous);
    if (nodeName !== undefined)
      bucket(this.#byNode, nodeName).set(keyText(object.metadata), object);
  }

  delete(object: ApiObject): void {
    const { namespace = '', name } = object.metadata;
    const objects = this.#byNamespace.get(namespace);
    objects?.delete(name);
    if (objects?.size === 0) this.#byNamespace.delete(namespace);
    this.#list = undefined;
    this.#leaveNode(object);
  }

  list(namespace?: string): readonly ApiObject[] {
    if (namespace !== undefined) return this.#byNamespace.get(namespace)?.list() ?? NO_OBJECTS;
    this.#list ??= this.#concatenate();
    return this.#list;
  }

  /** Pods of a node. */
  onNode(nodeName: string): readonly ApiObject[] {
    return this.#byNode?.get(nodeName)?.list() ?? NO_OBJECTS;
  }

  #concatenate(): readonly ApiObject[] {
    const namespaces = [...this.#byNamespace.entries()];
    // With its slash, as in the whole key: `kube-system/` comes before `kube/`.
    namespaces.sort(([left], [right]) => compareBytes(`${left}/`, `${right}/`));
    return namespaces.flatMap(([, objects]) => objects.list());
  }

  #leaveNode(object: ApiObject): void {
    const nodeName = nodeNameOf(object);
    if (nodeName === undefined) return;
    const objects = this.#byNode?.get(nodeName);
    objects?.delete(keyText(object.metadata));
    if (objects?.size === 0) this.#byNode?.delete(nodeName);
  }
}

function bucket(buckets: Map<string, SortedObjects>, key: string): SortedObjects {
  const existing = buckets.get(key);
  if (existing !== undefined) return existing;
  const objects = new SortedObjects();
  buckets.set(key, objects);
  return objects;
}

/** spec.nodeName of a pod; undefined while it is bound to no node. */
export function nodeNameOf(pod: ApiObject): string | undefined {
  const { spec } = pod;
  if (!isJsonObject(spec)) return undefined;
  const { nodeName } = spec;
  return typeof nodeName === 'string' && nodeName !== '' ? nodeName : undefined;
}

/**
 * Objects by key, with their sorted list made at the first request and kept until the next write.
 *
 * A write costs a Map operation. The sorted keys are kept apart from the objects: a replacement leaves them alone, new keys are
 * sorted among themselves and merged at the next list. The arrays that are handed out are never written to.
 */
class SortedObjects {
  readonly #objects = new Map<string, ApiObject>();
  #keys: string[] = [];
  #addedKeys = new Set<string>();
  #hasRemovals = false;
  #list: readonly ApiObject[] | undefined = [];

  /** How many there are. */
  get size(): number {
    return this.#objects.size;
  }

  /** The object with this key. */
  get(key: string): ApiObject | undefined {
    return this.#objects.get(key);
  }

  /** Adds or replaces. */
  set(key: string, object: ApiObject): void {
    const sizeBefore = this.#objects.size;
    this.#objects.set(key, object);
    if (this.#objects.size !== sizeBefore) this.#addedKeys.add(key);
    this.#list = undefined;
  }

  /** Removes; harmless when there is none. */
  delete(key: string): void {
    if (!this.#objects.delete(key)) return;
    // A key that was never merged need not be looked for among the sorted ones.
    if (!this.#addedKeys.delete(key)) this.#hasRemovals = true;
    this.#list = undefined;
  }

  /** All objects in the order of their keys' bytes. */
  list(): readonly ApiObject[] {
    if (this.#list !== undefined) return this.#list;
    this.#sortKeys();
    const list: ApiObject[] = [];
    for (const key of this.#keys) {
      const object = this.#objects.get(key);
      if (object !== undefined) list.push(object);
    }
    this.#list = list;
    return list;
  }

  #sortKeys(): void {
    if (this.#hasRemovals) {
      // A key that was removed and added again is in both: it stays where it was.
      this.#keys = this.#keys.filter((key) => {
        if (!this.#objects.has(key)) return false;
        this.#addedKeys.delete(key);
        return true;
      });
      this.#hasRemovals = false;
    }
    if (this.#addedKeys.size === 0) return;
    // The old keys are one sorted run: sorting is then a merge.
    const added = [...this.#addedKeys].sort(compareBytes);
    this.#keys = [...this.#keys, ...added].sort(compareBytes);
    this.#addedKeys = new Set();
  }
}
