/**
 * The clock of one simulated machine: its wall time may be off, and the process may stand still.
 *
 * Machines disagree about the hour, never about durations. While frozen nothing calls back; what came
 * due meanwhile does so at once when the process wakes up, as after SIGCONT.
 */
import type { Cancel, Clock } from '@rollcall/base/ports/clock.ts';

export class ProcessClock implements Clock {
  skewMs: number;
  #isFrozen = false;
  #held: (() => void)[] = [];
  readonly #clock: Clock;

  constructor(clock: Clock, skewMs = 0) {
    this.#clock = clock;
    this.skewMs = skewMs;
  }

  nowMs(): number {
    return this.#clock.nowMs() + this.skewMs;
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs();
  }

  after(delayMs: number, callback: () => void): Cancel {
    let isCancelled = false;
    const fire = (): void => {
      if (isCancelled) return;
      if (this.#isFrozen) this.#held.push(fire);
      else callback();
    };
    const cancel = this.#clock.after(delayMs, fire);
    return () => {
      isCancelled = true;
      cancel();
    };
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted === true) {
        resolve();
        return;
      }
      const finish = (): void => {
        signal?.removeEventListener('abort', finish);
        cancel();
        resolve();
      };
      const cancel = this.after(delayMs, finish);
      signal?.addEventListener('abort', finish);
    });
  }

  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  /** The process stands still. */
  freeze(): void {
    this.#isFrozen = true;
  }

  /** It goes on; what came due meanwhile happens now, in order. */
  thaw(): void {
    this.#isFrozen = false;
    for (const callback of this.#held.splice(0)) callback();
  }
}
