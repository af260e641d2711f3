/** What callbacks told, in order, and a way to wait until enough has come. The suite's own time limit ends a wait. */
export class Seen<T> {
  readonly #items: T[] = [];
  readonly #waiting = new Set<() => void>();

  /** Takes one; bound, so that it can be a callback. */
  readonly add = (item: T): void => {
    this.#items.push(item);
    for (const wake of this.#waiting) wake();
  };

  /** All that came so far, once that is enough. */
  until(isEnough: (items: readonly T[]) => boolean): Promise<readonly T[]> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!isEnough(this.#items)) return;
        this.#waiting.delete(look);
        resolve([...this.#items]);
      };
      this.#waiting.add(look);
      look();
    });
  }

  /** All that came so far, once there are so many. */
  count(least: number): Promise<readonly T[]> {
    return this.until((items) => items.length >= least);
  }
}
