/**
 * What a warm process remembers between runs: decoded sets of slices, keyed by the stamp of their
 * last change. Never needed for correctness: a cold process decides the same, only slower.
 *
 * Keys begin with the cluster's UID, so nothing of one cluster can answer for another (spec faults
 * 31). Least recently used sets leave when more than `objectsMax` projections are held.
 */
import type { Stamp } from '../../../core/model/position.ts';
import type { Projection } from '../../../core/model/projections.ts';
import type { Tombstone } from '../../../core/model/tombstone.ts';
import type { SliceRef } from '../../../ports/stores/view-store.ts';
import { Paces } from './paces.ts';
import { Resends } from './resends.ts';

/** What the slices of a set hold together. */
export interface SetContent {
  readonly objects: readonly Projection[];
  readonly gone: readonly Tombstone[];
}

/** A whole set, as it stood when `changed` was its last change. */
export interface WarmSet extends SetContent {
  readonly changed: Stamp;
}

/** Memory shared by all keys and clusters of one process. */
export interface ReconcileWarmth {
  readonly sets: SetCache;
  /** Loads of node sets that are under way, so that ten keys of a cluster decode them once. */
  readonly loading: Map<string, Promise<WarmSet | undefined>>;
  readonly resends: Resends;
  readonly paces: Paces;
}

/** Least recently used sets, bounded by the number of projections they hold. */
export class SetCache {
  readonly #objectsMax: number;
  readonly #sets = new Map<string, WarmSet>();
  #objects = 0;

  constructor(objectsMax: number) {
    this.#objectsMax = objectsMax;
  }

  /** The set if it is held exactly as of `changed`. */
  get(key: string, changed: Stamp): WarmSet | undefined {
    const found = this.#sets.get(key);
    if (found?.changed !== changed) return undefined;
    this.#sets.delete(key);
    this.#sets.set(key, found);
    return found;
  }

  /** Holds a set in place of what was held under its key. */
  put(key: string, set: WarmSet): void {
    this.#drop(key);
    this.#sets.set(key, set);
    this.#objects += sizeOf(set);
    for (const oldest of this.#sets.keys()) {
      if (this.#objects <= this.#objectsMax) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    const found = this.#sets.get(key);
    if (found === undefined) return;
    this.#sets.delete(key);
    this.#objects -= sizeOf(found);
  }
}

function sizeOf({ objects, gone }: SetContent): number {
  return objects.length + gone.length;
}

/** Key of a set in this memory. */
export function warmKey(ref: Omit<SliceRef, 'index'>, sliceCount: number): string {
  return `${ref.clusterUid}|${ref.set}|${sliceCount}`;
}

/** A fresh memory; make one per process and share it. */
export function createReconcileWarmth(
  options: { readonly objectsMax?: number } = {},
): ReconcileWarmth {
  return {
    sets: new SetCache(options.objectsMax ?? 200_000),
    loading: new Map(),
    resends: new Resends(),
    paces: new Paces(),
  };
}
