/** Dice from a seed: whole numbers, choices and chances, each drawn from one repeatable stream. */
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';

/** A number of 32 bits that mixes all parts: the seed of a stream of its own. */
export function mixSeed(...parts: readonly (string | number)[]): number {
  let mixed = 0x811c9dc5;
  for (const character of parts.join('|')) {
    mixed = Math.imul(mixed ^ character.charCodeAt(0), 0x01000193);
  }
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  return (mixed ^ (mixed >>> 13)) >>> 0;
}

/** One stream of dice. */
export class Dice {
  readonly #next: () => number;

  constructor(seed: number) {
    const random = seededRandom(seed);
    this.#next = () => random.next();
  }

  /** At least 0, less than 1. */
  draw(): number {
    return this.#next();
  }

  chance(share: number): boolean {
    return this.draw() < share;
  }

  /** A whole number within bounds. */
  between(least: number, most: number): number {
    return Math.round(least + (most - least) * this.draw());
  }

  pick<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.draw() * choices.length)] as T; // an index in range
  }
}
