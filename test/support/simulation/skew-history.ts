/**
 * How far a clock was off, and when: for audits of what is timed by it.
 *
 * It is looked at whenever something happens, so a step may have been anywhere since the look before: counted from there, which
 * excuses seconds more and never one less.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';

/** Further back nobody asks. */
const KEPT_MS = 24 * 3_600_000;

export class SkewHistory {
  readonly #clock: Clock;
  readonly #skewMs: () => number;
  #steps: readonly { readonly fromMs: number; readonly skewMs: number }[] = [];
  #lookedAtMs = 0;

  constructor(clock: Clock, skewMs: () => number) {
    this.#clock = clock;
    this.#skewMs = skewMs;
  }

  /** Looks at the clock. */
  note(): void {
    const nowMs = this.#clock.monotonicMs();
    const skewMs = this.#skewMs();
    if (this.#steps.at(-1)?.skewMs !== skewMs) {
      const first = this.#steps.findLastIndex(({ fromMs }) => fromMs < nowMs - KEPT_MS);
      const kept = this.#steps.slice(Math.max(0, first));
      this.#steps = [...kept, { fromMs: this.#lookedAtMs, skewMs }];
    }
    this.#lookedAtMs = nowMs;
  }

  /** The most that may have passed by the clock since something was seen for the first time, which was then or later. */
  elapsedMs(sinceMs: number): number {
    this.note();
    const nowMs = this.#clock.monotonicMs() + this.#skewMs();
    const since = this.#steps.filter((_, index) => {
      const next = this.#steps[index + 1];
      return next === undefined || next.fromMs >= sinceMs;
    });
    return nowMs - Math.min(...since.map((step) => Math.max(step.fromMs, sinceMs) + step.skewMs));
  }

  /** How much younger what was heard before looks by the clock of now than it is. */
  setBackMs(): number {
    this.note();
    const skewMs = this.#skewMs();
    return Math.max(0, ...this.#steps.map((step) => step.skewMs - skewMs));
  }
}
