/**
 * A clock that tells the machine's time, and whose timers fire only when the test says so.
 *
 * For time-outs on real sockets: a machine that stands still for seconds ends no request by itself, and a time-out
 * under test comes exactly where the test wants it. A timer is known by its delay: `expire(50)` fires those of 50 ms.
 * Sleeping is real. Where everything is virtual, use virtual-clock.ts.
 */
import { createSystemClock } from '../../src/adapters/system/system-clock.ts';
import type { Cancel, Clock } from '../../src/ports/clock.ts';

interface HeldTimer {
  readonly delayMs: number;
  readonly callback: () => void;
}

/** The Clock port; none of its timers fires by itself. */
export class HeldTimers implements Clock {
  readonly #system = createSystemClock({ timers: 'unreferenced' });
  readonly #held = new Set<HeldTimer>();

  nowMs(): number {
    return this.#system.nowMs();
  }

  monotonicMs(): number {
    return this.#system.monotonicMs();
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return this.#system.sleep(delayMs, signal);
  }

  after(delayMs: number, callback: () => void): Cancel {
    const timer: HeldTimer = { delayMs, callback };
    this.#held.add(timer);
    return () => {
      this.#held.delete(timer);
    };
  }

  /** How many timers of this delay were set and neither cancelled nor fired. */
  heldCount(delayMs: number): number {
    return [...this.#held].filter((timer) => timer.delayMs === delayMs).length;
  }

  /** Waits until a timer of this delay is set, then fires all of them. */
  async expire(delayMs: number): Promise<void> {
    while (this.heldCount(delayMs) === 0) await new Promise((resolve) => setImmediate(resolve));
    for (const timer of [...this.#held].filter((one) => one.delayMs === delayMs)) {
      this.#held.delete(timer);
      timer.callback();
    }
  }
}
