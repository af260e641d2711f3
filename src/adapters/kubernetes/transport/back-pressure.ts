/**
 * A cluster's wish to be left alone, honoured by every request that has not started yet.
 *
 * A 429 (API Priority and Fairness) or 503 with Retry-After speaks for the whole client, not for one
 * request: whatever waits in the same batch would only be refused too, at the server's cost.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';

/** The pause that an API server asked for. */
export interface BackPressure {
  /** Milliseconds until requests may start again; 0 when they may now. */
  remainingMs(): number;
  /** Notes a Retry-After; the latest end counts. */
  note(retryAfterMs: number | undefined): void;
}

/** Of a client that asks once and goes. */
export const NO_PRESSURE: BackPressure = { remainingMs: () => 0, note: () => undefined };

/** No pause asked for by one answer is longer than this. */
const PAUSE_MAX_MS = 30_000;

/** Back-pressure of one cluster. */
export function createBackPressure(clock: Clock): BackPressure {
  let untilMs = 0;
  return {
    remainingMs: () => Math.max(0, Math.ceil(untilMs - clock.monotonicMs())),
    note: (retryAfterMs) => {
      if (retryAfterMs === undefined) return;
      untilMs = Math.max(untilMs, clock.monotonicMs() + Math.min(retryAfterMs, PAUSE_MAX_MS));
    },
  };
}
