/**
 * How long a test is waited for: until its bound, or until nothing is left in the process that could go on with it.
 *
 * In virtual time nothing takes long. A test from which a mutant took what it waits for leaves the process idle: no timer, no
 * request, no turn of the loop is pending. That is seen after a tenth of a second, whatever else the machine does, and such a test
 * is over: nothing of it can run later. One that is still busy at its bound is lost.
 */

const LOOK_MS = 20;
/** So often in a row nothing was pending. */
const IDLE_LOOKS = 5;

export interface PatienceTerms {
  readonly boundMs: number;
  readonly giveUp: (reason: string) => void;
  /** How much keeps the process from its end: timers, requests, turns of the loop. */
  readonly pending: () => number;
}

export class Patience {
  readonly #startMs = performance.now();
  readonly #terms: PatienceTerms;
  readonly #timer: NodeJS.Timeout;
  readonly #pendingBefore: number;
  #idleLooks = 0;
  #isLost = false;

  constructor(terms: PatienceTerms) {
    this.#terms = terms;
    this.#timer = setInterval(() => {
      this.#look();
    }, LOOK_MS);
    this.#pendingBefore = terms.pending();
  }

  /** True if the test was given up while it may still run. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** The test is over, or was given up. */
  end(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const { boundMs, giveUp, pending } = this.#terms;
    const isIdle = pending() <= this.#pendingBefore;
    this.#idleLooks = isIdle ? this.#idleLooks + 1 : 0;
    if (this.#idleLooks >= IDLE_LOOKS) giveUp('waits, and nothing is pending');
    else if (performance.now() - this.#startMs >= boundMs) {
      this.#isLost = true;
      giveUp(`not over after ${boundMs} ms`);
    }
  }
}
