// A list in the order of a number: cheap at both ends, correct in the middle.
//
// Almost every insertion is at the end and almost every removal at the front. What comes back is put where its number belongs, by
// binary search, after those of the same number.
/** Items by a number of theirs, the lowest first. */
export class SortedList<T> {
  readonly #numberOf: (item: T) => number;
  #items: T[] = [];

  constructor(numberOf: (item: T) => number) {
    this.#numberOf = numberOf;
  }

  get size(): number {
    return this.#items.length;
  }

  first(): T | undefined {
    return this.#items[0];
  }

  shift(): T | undefined {
    return this.#items.shift();
  }

  insert(item: T): void {
    const index = this.#indexAfter(this.#numberOf(item));
    if (index === this.#items.length) this.#items.push(item);
    else this.#items.splice(index, 0, item);
  }

  /** Removes it, if it is there; of one number there is one item. */
  remove(item: T): void {
    const index = this.#indexAfter(this.#numberOf(item)) - 1;
    if (this.#items[index] === item) this.#items.splice(index, 1);
  }

  clear(): void {
    this.#items = [];
  }

  /** The first index whose number is higher. */
  #indexAfter(number: number): number {
    let low = 0;
    let high = this.#items.length;
    const last = this.#items.at(-1);
    if (last !== undefined && this.#numberOf(last) <= number) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const candidate = this.#items[middle];
      if (candidate !== undefined && this.#numberOf(candidate) <= number) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
