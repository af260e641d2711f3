// How many batches of one mapping may be in work at once.
//
// Lambda's rules in standard mode: a FIFO queue is worked on by as many invocations as there are active groups (the
// queue itself sees to that), a standard queue starts at 5 and grows by 300 a minute while there is a backlog; both
// end at maximumConcurrency, or 1,250. After a minute without work a standard queue starts at 5 again.

const standardStart = 5;
const growthPerSecond = 5;
const concurrencyMax = 1250;
const idleResetMs = 60_000;

/** The concurrency limit of one mapping over time. */
export class ScalingRamp {
  readonly #isFifo: boolean;
  readonly #max: number;
  #level = standardStart;
  #lastMs: number | undefined;
  #lastBusyMs: number | undefined;

  constructor(isFifo: boolean, maximumConcurrency: number | undefined) {
    this.#isFifo = isFifo;
    this.#max = maximumConcurrency ?? concurrencyMax;
  }

  /** How many batches may be in work now, given how many are. */
  limit(runningCount: number, nowMs: number): number {
    if (this.#isFifo) return this.#max;
    const sinceBusyMs = nowMs - (this.#lastBusyMs ?? nowMs);
    if (runningCount > 0) this.#lastBusyMs = nowMs;
    if (runningCount === 0 && sinceBusyMs > idleResetMs) this.#level = standardStart;
    const isSaturated = runningCount >= Math.floor(this.#level);
    if (isSaturated && this.#lastMs !== undefined) {
      this.#level += (growthPerSecond * (nowMs - this.#lastMs)) / 1000;
    }
    this.#lastMs = isSaturated ? nowMs : undefined;
    this.#level = Math.min(this.#level, this.#max);
    return Math.floor(this.#level);
  }

  /** Whether waiting would raise the limit. */
  isRamping(runningCount: number): boolean {
    return !this.#isFifo && this.#level < this.#max && runningCount >= Math.floor(this.#level);
  }
}
