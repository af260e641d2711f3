/**
 * A sleep that can be cut short: how the one loop that sends waits for the next thing to do.
 *
 * At most one sleeper. A ring while nobody sleeps ends the next sleep at once, so that no ring is lost
 * between a look at the state and the sleep that follows it.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';

/** A wake-up bell. */
export class Alarm {
  readonly #clock: Clock;
  #wake: (() => void) | undefined;
  #hasRung = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Ends the sleep that is on, or the next one. */
  ring(): void {
    if (this.#wake === undefined) this.#hasRung = true;
    else this.#wake();
  }

  /** Sleeps until a monotonic time, or until it rings. */
  sleepUntil(dueMs: number): Promise<void> {
    if (this.#hasRung) {
      this.#hasRung = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const finish = (): void => {
        this.#wake = undefined;
        cancel();
        resolve();
      };
      const cancel = this.#clock.after(dueMs - this.#clock.monotonicMs(), finish);
      this.#wake = finish;
    });
  }
}
