/**
 * Aborts a request that brings no byte for too long: the only proof of life of a stream is its bytes.
 *
 * A connection whose other end vanished gives no error for many minutes (spec aws-facts 8). One timer
 * per request, re-armed when it fires and not at each byte, so that a busy stream costs no timers.
 */
import type { Cancel, Clock } from '@rollcall/base/ports/clock.ts';

interface Watchdog {
  /** Aborts when the outer signal does, or after too long a silence. */
  readonly signal: AbortSignal;
  readonly hasFired: boolean;
  feed(): void;
  /** The request is over. Ends it if it is not, so that no stream outlives its reader. */
  stop(): void;
}

/** Starts watching; `stop` must be called. */
export function createWatchdog(options: {
  readonly clock: Clock;
  readonly limitMs: number;
  readonly signal: AbortSignal;
}): Watchdog {
  const { clock, limitMs, signal } = options;
  const controller = new AbortController();
  let lastMs = clock.monotonicMs();
  let hasFired = false;
  let cancel: Cancel;

  const check = (): void => {
    const leftMs = lastMs + limitMs - clock.monotonicMs();
    if (leftMs > 0) {
      cancel = clock.after(leftMs, check);
      return;
    }
    hasFired = true;
    controller.abort();
  };
  const abort = (): void => {
    controller.abort();
  };

  cancel = clock.after(limitMs, check);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return {
    signal: controller.signal,
    get hasFired() {
      return hasFired;
    },
    feed: () => {
      lastMs = clock.monotonicMs();
    },
    stop: () => {
      cancel();
      signal.removeEventListener('abort', abort);
      controller.abort();
    },
  };
}
