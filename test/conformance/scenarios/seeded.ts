/**
 * Seeded choices for scenarios: the same seed makes the same choices, and failures print it.
 */

/** A source of seeded choices. */
export interface Seeded {
  readonly seed: number;
  /** A number in [0, 1). */
  readonly next: () => number;
  readonly pick: <Item>(items: readonly Item[]) => Item;
  readonly integer: (range: { readonly from: number; readonly to: number }) => number;
}

/** The seed of this run: ROLLCALL_SEED, or a fixed one, so that a red build is red again. */
export function seedOfRun(fallback: number): number {
  const text = process.env['ROLLCALL_SEED'];
  return text === undefined ? fallback : Number(text);
}

/** Mulberry32: small, fast, good enough for choices. */
export function createSeeded(seed: number): Seeded {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  return {
    seed,
    next,
    pick: (items) => {
      const item = items[Math.floor(next() * items.length)];
      if (item === undefined) throw new Error('nothing to pick from');
      return item;
    },
    integer: ({ from, to }) => from + Math.floor(next() * (to - from + 1)),
  };
}
