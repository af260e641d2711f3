/**
 * The Random port from a seed: the same seed gives the same sequence, on every machine.
 *
 * For faults and simulations, where a run must be repeatable. The generator is mulberry32: 32 bits of state, good
 * enough to pick faults, useless for secrets.
 */
import type { Random } from '../ports/random.ts';

const idLength = 26;

/** A repeatable source of randomness. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const uniqueId = (): string => {
    let id = '';
    while (id.length < idLength) id += Math.floor(next() * 36).toString(36);
    return id;
  };
  return { next, uniqueId };
}
