/**
 * Shares equal strings and label maps, so that ten thousand pods of one DaemonSet hold one label map.
 *
 * Bounded: a pool that grows beyond its limit is dropped and starts again; sharing is lost, nothing
 * else. Shared maps are never written to.
 */

import type { Labels, Sharing } from '../../core/projections/project.ts';

/** How many different texts, and label maps, are shared at most. */
const POOL_ENTRIES_MAX = 50_000;

/** A pool of strings and label maps. */
export type Interner = Sharing;

/** Creates an empty pool. */
export function createInterner(): Interner {
  const texts = new Map<string, string>();
  const maps = new Map<string, Labels>();
  return {
    text: (value) => {
      const known = texts.get(value);
      if (known !== undefined) return known;
      if (texts.size >= POOL_ENTRIES_MAX) texts.clear();
      texts.set(value, value);
      return value;
    },
    labels: (value) => {
      const text = JSON.stringify(value);
      const known = maps.get(text);
      if (known !== undefined) return known;
      if (maps.size >= POOL_ENTRIES_MAX) maps.clear();
      maps.set(text, value);
      return value;
    },
  };
}
