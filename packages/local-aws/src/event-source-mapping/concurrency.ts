// How many invocations may run at once: the account's quota, and what is reserved for a function.
//
// As Lambda counts: a function with a reservation has those places and no others; all functions without one share what
// the account has left. A reservation of zero lets a function never run. Without a quota there is room for everybody.
// Only counts: who waits, and for how long, is the mapping's business.

/** Gives a place back. */
export type Release = () => void;

/** The places of one account. */
export class ConcurrencyLimits {
  #quota = Number.POSITIVE_INFINITY;
  readonly #reserved = new Map<string, number>();
  readonly #running = new Map<string, number>();

  /** Sets the account's quota, at any time; what runs goes on. */
  setQuota(places: number): void {
    this.#quota = places;
  }

  /** Reserves places for a function; undefined takes the reservation away. */
  setReserved(functionName: string, places: number | undefined): void {
    if (places === undefined) this.#reserved.delete(functionName);
    else this.#reserved.set(functionName, places);
  }

  /** A place for one invocation; undefined when Lambda would throttle it. */
  tryAcquire(functionName: string): Release | undefined {
    if (this.#freeFor(functionName) <= 0) return undefined;
    this.#running.set(functionName, this.#runningOf(functionName) + 1);
    return () => {
      this.#running.set(functionName, this.#runningOf(functionName) - 1);
    };
  }

  #freeFor(functionName: string): number {
    const reserved = this.#reserved.get(functionName);
    if (reserved !== undefined) return reserved - this.#runningOf(functionName);
    const forOthers = [...this.#reserved.values()].reduce((sum, places) => sum + places, 0);
    const shared = [...this.#running]
      .filter(([name]) => !this.#reserved.has(name))
      .reduce((sum, [, count]) => sum + count, 0);
    return this.#quota - forOthers - shared;
  }

  #runningOf(functionName: string): number {
    return this.#running.get(functionName) ?? 0;
  }
}
