/**
 * The Clock port over the machine's own clocks and timers.
 *
 * Composition roots create one and pass it down; nothing else reads time. Timers may be unreferenced,
 * so that a pending one never keeps a finished process (or a function's freeze) waiting.
 * It does not correct skew: no safety argument rests on a client's clock (faults §4).
 */
import type { Cancel, Clock } from '../ports/clock.ts';

/** Options of a system clock. */
export interface SystemClockOptions {
  /** `unreferenced`: pending timers do not keep the process alive. Default: `referenced`. */
  readonly timers?: 'referenced' | 'unreferenced';
}

/** The longest delay that a timer of Node takes; longer ones would fire at once. */
const TIMER_DELAY_MAX_MS = 2_147_483_647;

/** A clock over Date, performance and setTimeout. Delays beyond 24.8 days fire at that bound. */
export function createSystemClock(options: SystemClockOptions = {}): Clock {
  const isUnreferenced = options.timers === 'unreferenced';
  const after = (delayMs: number, callback: () => void): Cancel => {
    const timer = setTimeout(callback, Math.min(Math.max(delayMs, 0), TIMER_DELAY_MAX_MS));
    if (isUnreferenced) timer.unref();
    return () => {
      clearTimeout(timer);
    };
  };
  return {
    nowMs: () => Date.now(),
    monotonicMs: () => performance.now(),
    after,
    sleep: (delayMs, signal) => sleepWith(after, delayMs, signal),
  };
}

function sleepWith(
  after: Clock['after'],
  delayMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve();
  return new Promise((resolve) => {
    const finish = (): void => {
      cancel();
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    const cancel = after(delayMs, finish);
    signal?.addEventListener('abort', finish, { once: true });
  });
}
