/**
 * The changes of one resource that late watchers may still ask for: a bounded window, oldest dropped first.
 *
 * Invariant: it holds every change of the resource with a version greater than `oldestVersion`, in order.
 */
import type { StoreChange } from './store.ts';

/** Dropped changes that are still held are at most this part of the window: one in four. */
const SLACK = 4;

/** See above. */
export class History {
  readonly #changesMax: number;
  #changes: StoreChange[] = [];
  /** Where the window starts within the array; the dropped front is cut off once it is a quarter of the window. */
  #start = 0;
  #oldestVersion: bigint;

  constructor(options: { readonly changesMax: number; readonly oldestVersion: bigint }) {
    this.#changesMax = options.changesMax;
    this.#oldestVersion = options.oldestVersion;
  }

  /** Changes after this version, and after no older one, are all here. */
  get oldestVersion(): bigint {
    return this.#oldestVersion;
  }

  /** Adds the newest change. */
  push(change: StoreChange): void {
    this.#changes.push(change);
    if (this.#changes.length - this.#start <= this.#changesMax) return;
    this.#oldestVersion = this.#changes[this.#start]?.version ?? this.#oldestVersion;
    this.#start += 1;
    if (this.#start * SLACK < this.#changesMax) return;
    this.#changes = this.#changes.slice(this.#start);
    this.#start = 0;
  }

  /** The changes with afterVersion < version <= untilVersion, oldest first. */
  between(versions: {
    readonly afterVersion: bigint;
    readonly untilVersion: bigint;
  }): readonly StoreChange[] {
    const first = this.#indexAfter(versions.afterVersion);
    return this.#changes.slice(first, this.#indexAfter(versions.untilVersion));
  }

  /** Forgets everything up to this version, which is the newest. */
  forget(newestVersion: bigint): void {
    this.#changes = [];
    this.#start = 0;
    this.#oldestVersion = newestVersion;
  }

  /** Index of the first change after the version. */
  #indexAfter(version: bigint): number {
    let low = this.#start;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const change = this.#changes[middle];
      if (change === undefined || change.version > version) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
