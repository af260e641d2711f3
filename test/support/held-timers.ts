/**
 * A clock that tells the machine's time, and whose timers fire only when the test says so.
 *
 * For time-outs on real sockets: a machine that stands still for seconds ends no request by itself, and a time-out
 * under test comes exactly where the test wants it. A timer is known by its delay: `expire(50)` fires those of 50 ms.
 * Sleeping is real. Where everything is virtual, use virtual-clock.ts.
 */
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { settle } from '@rollcall/base/testing/virtual-clock.ts';

interface HeldTimer {
  readonly delayMs: number;
  readonly callback: () => void;
}

export interface HeldTimers extends Clock {
  /** How many timers of this delay were set and neither cancelled nor fired. */
  heldCount(delayMs: number): number;
  /** Waits until a timer of this delay is set, then fires all of them. */
  expire(delayMs: number): Promise<void>;
  /** Fires timers of this delay as they are set, for as long as the work lasts; there may be none. */
  expireDuring<Result>(work: Promise<Result>, delayMs: number): Promise<Result>;
}

/** A clock of which no timer fires before `expire`. */
export function createHeldTimers(): HeldTimers {
  const held = new Set<HeldTimer>();
  const timersOf = (delayMs: number): HeldTimer[] =>
    [...held].filter((timer) => timer.delayMs === delayMs);
  const fire = (delayMs: number): void => {
    for (const timer of timersOf(delayMs)) {
      held.delete(timer);
      timer.callback();
    }
  };
  return {
    ...createSystemClock({ timers: 'unreferenced' }),
    after: (delayMs, callback) => {
      const timer: HeldTimer = { delayMs, callback };
      held.add(timer);
      return () => {
        held.delete(timer);
      };
    },
    heldCount: (delayMs) => timersOf(delayMs).length,
    expire: async (delayMs) => {
      while (timersOf(delayMs).length === 0) await settle();
      fire(delayMs);
    },
    expireDuring: async (work, delayMs) => {
      let isDone = false;
      const ended = work.finally(() => {
        isDone = true;
      });
      while (!isDone) {
        fire(delayMs);
        await settle();
      }
      return ended;
    },
  };
}
