/**
 * One collection of the store: its objects by namespace and, for pods, by node.
 *
 * It keeps objects; versions, history and watchers are memory-store.ts's.
 */
import type { ApiObject, ResourceName } from '../objects/api-object.ts';
import { compareBytes, keyText } from './key-order.ts';
import type { ObjectKey } from './key-order.ts';
import { nodeNameOf } from './pod-node.ts';
import { SortedObjects } from './sorted-objects.ts';

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
