/**
 * What is asked for in one moment leaves together, and few requests are under way at once (ADR 0048).
 *
 *   add ──▶ all of this moment, as many as a request takes ──▶ a request ──▶ what came meanwhile, when one is back
 *
 * Nothing waits for company, only for a place. Knows nothing of what is sent: who asks says what one request takes, and
 * tells everybody in it what became of theirs.
 */

/** What a request takes of what waits, and what it leaves. */
export interface Boarding<T> {
  readonly batch: readonly T[];
  readonly rest: readonly T[];
}

interface FlightPlan<T> {
  /** Requests under way beside which nothing is sent. */
  readonly inFlightMax: number;
  /** Takes at least one of what waits, which is never empty. */
  readonly board: (pending: readonly T[]) => Boarding<T>;
  /** Sends a batch; never rejects: each caller gets its result. */
  readonly send: (batch: readonly T[]) => Promise<void>;
}

/** Requests of one kind, on their way. */
export class BatchesInFlight<T> {
  readonly #plan: FlightPlan<T>;
  #pending: T[] = [];
  #underWay = 0;
  #isScheduled = false;

  constructor(plan: FlightPlan<T>) {
    this.#plan = plan;
  }

  /** Sends it with what else is asked for in this moment. */
  add(item: T): void {
    this.#pending.push(item);
    this.#schedule();
  }

  /** Sends what waited long enough already, and what waits beside it. */
  addLate(items: readonly T[]): void {
    this.#pending.push(...items);
    this.#depart();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#depart();
    });
  }

  #depart(): void {
    const { inFlightMax, board, send } = this.#plan;
    while (this.#pending.length > 0 && this.#underWay < inFlightMax) {
      const { batch, rest } = board(this.#pending);
      this.#pending = [...rest];
      this.#underWay += 1;
      void send(batch).finally(() => {
        this.#underWay -= 1;
        // What hears of this answer may ask next: it travels along.
        if (this.#pending.length > 0) this.#schedule();
      });
    }
  }
}
