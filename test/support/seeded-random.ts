/**
 * The Random port from a seed: the same seed gives the same numbers and ids, on every machine.
 *
 * A 32-bit mixing generator (mulberry32). Not for secrets, and not for statistics.
 */
import type { Random } from '../../src/ports/random.ts';

/** A random source of its own for each seed. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
  return {
    next,
    uniqueId: () => {
      const digits = Array.from({ length: 20 }, () => Math.floor(next() * 36).toString(36));
      return digits.join('');
    },
  };
}
