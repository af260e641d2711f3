/**
 * Stored objects of one kind by key, and the list of them by name, which is sorted once for each change: a world of a
 * thousand pods is listed several times at every commit. Clearing it is not provided for; a new one is made instead.
 */
import type { KubernetesObject } from '@rollcall/base/objects.ts';

/** A map whose values are also known in the order of their names. */
export class SortedObjects extends Map<string, KubernetesObject> {
  #sorted: readonly KubernetesObject[] | undefined;

  /** The same objects under the same keys. */
  static from(items: Iterable<readonly [string, KubernetesObject]>): SortedObjects {
    const objects = new SortedObjects();
    for (const [key, object] of items) objects.set(key, object);
    return objects;
  }

  override set(key: string, object: KubernetesObject): this {
    this.#sorted = undefined;
    return super.set(key, object);
  }

  override delete(key: string): boolean {
    this.#sorted = undefined;
    return super.delete(key);
  }

  /** All of them by name. */
  byName(): readonly KubernetesObject[] {
    this.#sorted ??= [...this.values()].sort((left, right) =>
      left.metadata.name < right.metadata.name ? -1 : 1,
    );
    return this.#sorted;
  }
}
