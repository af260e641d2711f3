/**
 * Objects by key, with their sorted list made when somebody asks and kept until the next write.
 *
 * A write costs a Map operation. The sorted keys are kept apart from the objects: a replacement leaves them alone, new
 * keys are sorted among themselves and merged at the next list. The arrays that are handed out are never written to.
 */
import type { ApiObject } from '../objects/api-object.ts';
import { compareBytes } from './key-order.ts';

/** Objects by key; see above. */
export class SortedObjects {
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
