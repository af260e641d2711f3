/**
 * Texts by the objects that they are of, the most recent ones: each goes with its object, and all of them are so long
 * together at most.
 *
 * Two halves: when the young one is full, it takes the place of the old one, and what was in that is gone. What is asked for
 * comes back into the young one.
 */
import type { JsonObject } from '@rollcall/base/json.ts';

/** See above. */
export class RecentTexts {
  readonly #halfMax: number;
  #young = new WeakMap<JsonObject, string>();
  #old = new WeakMap<JsonObject, string>();
  #youngLength = 0;

  /** `lengthMax` bounds all texts together, in characters. */
  constructor(lengthMax: number) {
    this.#halfMax = lengthMax / 2;
  }

  /** The text of an object, made unless it is held. */
  get(object: JsonObject, make: () => string): string {
    const known = this.#young.get(object);
    if (known !== undefined) return known;
    const text = this.#old.get(object) ?? make();
    if (this.#youngLength + text.length > this.#halfMax) {
      this.#old = this.#young;
      this.#young = new WeakMap();
      this.#youngLength = 0;
    }
    if (text.length <= this.#halfMax) {
      this.#young.set(object, text);
      this.#youngLength += text.length;
    }
    return text;
  }
}
