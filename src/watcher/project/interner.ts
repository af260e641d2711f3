/**
 * Shares equal strings and label maps, so that ten thousand pods of one DaemonSet hold one label map.
 *
 * Bounded: a pool that grows beyond its limit is dropped and starts again; sharing is lost, nothing
 * else. Shared maps are never written to.
 */

import type { Labels, Sharing } from '../../core/projections/reading.ts';

/** How many different texts, and label maps, are shared at most. */
const POOL_ENTRIES_MAX = 50_000;

/** Creates an empty pool of strings and label maps. */
export function createInterner(): Sharing {
  const texts = new Map<string, string>();
  const maps = new Map<string, Labels>();
  return {
    text: (value) => share(texts, value, value),
    labels: (value) => share(maps, JSON.stringify(value), value),
  };
}

function share<T>(pool: Map<string, T>, key: string, value: T): T {
  const known = pool.get(key);
  if (known !== undefined) return known;
  if (pool.size >= POOL_ENTRIES_MAX) pool.clear();
  pool.set(key, value);
  return value;
}
