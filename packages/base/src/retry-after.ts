/**
 * For how long a server asked to be left alone (429, or 503 with Retry-After): read of its answer and bounded here alone.
 *
 * What came of a request carries it as `retryAfterMs`; whoever repeats the request waits at least that long.
 */
import type { Json } from './json.ts';
import type { Clock } from './ports/clock.ts';

/** The longest time that an answer can silence us for. */
export const RETRY_AFTER_MAX_MS = 60_000;

/** What an answer says of it. */
interface Asked {
  /** Retry-After: seconds, or a date (RFC 9110 10.2.3). */
  readonly header?: string | undefined;
  /** `details.retryAfterSeconds` of a Kubernetes Status; the header goes before it. */
  readonly statusSeconds?: Json | undefined;
}

/** Milliseconds to wait; undefined: it asked for nothing that can be read. Who has no clock reads no dates. */
export function readRetryAfterMs(
  { header, statusSeconds }: Asked,
  nowMs: number | undefined,
): number | undefined {
  const askedMs = headerMs(header, nowMs) ?? secondsMs(statusSeconds);
  return askedMs === undefined ? undefined : Math.min(askedMs, RETRY_AFTER_MAX_MS);
}

function headerMs(header: string | undefined, nowMs: number | undefined): number | undefined {
  if (header === undefined) return undefined;
  if (/^[0-9]{1,6}$/.test(header)) return Number(header) * 1000;
  const leftMs = Date.parse(header) - (nowMs ?? Number.NaN);
  return Number.isNaN(leftMs) ? undefined : Math.max(0, leftMs);
}

function secondsMs(seconds: Json | undefined): number | undefined {
  return typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : undefined;
}

/**
 * Until when one server is left alone. A wish to wait speaks for the whole client: what has not started yet would only be
 * refused, too.
 */
export interface BackPressure {
  /** Milliseconds until requests may start again; 0 when they may now. */
  remainingMs(): number;
  /** Notes what an answer asked for, if anything; the latest end counts. */
  note(retryAfterMs: number | undefined): void;
}

/** Of a client that asks once and goes. */
export const NO_PRESSURE: BackPressure = { remainingMs: () => 0, note: () => undefined };

/** Back-pressure of one server. */
export function createBackPressure(clock: Clock): BackPressure {
  let untilMs = Number.NEGATIVE_INFINITY;
  return {
    remainingMs: () => Math.max(0, Math.ceil(untilMs - clock.monotonicMs())),
    note: (retryAfterMs = 0) => {
      untilMs = Math.max(untilMs, clock.monotonicMs() + retryAfterMs);
    },
  };
}
