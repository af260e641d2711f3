/**
 * Shares equal strings and label maps, so that ten thousand pods of one DaemonSet hold one label map.
 *
 * Bounded: a pool that grows beyond its limit is dropped and starts again; sharing is lost, nothing
 * else. Shared maps are never written to.
 */

/** How many different texts, and label maps, are shared at most. */
const POOL_ENTRIES_MAX = 50_000;

/** Labels of an object. */
export type Labels = Readonly<Record<string, string>>;

/** A pool of strings and label maps. */
export interface Interner {
  text(value: string): string;
  labels(value: Labels): Labels;
}

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
