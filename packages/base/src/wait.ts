/**
 * Waiting: for how long a server asks to be left alone (429, 503), read of its answer and bounded here alone; delays between
 * tries that failed, never shorter than that; and for a promise no longer than a signal allows.
 *
 * Takes no time itself: callers sleep through the Clock port.
 */
import type { Json } from './json.ts';
import type { Clock } from './ports/clock.ts';
import { jittered } from './ports/random.ts';
import type { Random } from './ports/random.ts';

/** The longest time that an answer can silence us for. */
const RETRY_AFTER_MAX_MS = 60_000;

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

interface BackoffOptions {
  readonly baseMs: number;
  readonly capMs: number;
}

/**
 * Delays of one loop: doubling, jittered, never shorter than the server asked for. The first is short, because most
 * failures are one dropped connection; the cap bounds how long a healed dependency goes unnoticed.
 */
export interface Backoff {
  /** The next delay: at least `retryAfterMs`, if the server gave one. */
  nextMs(retryAfterMs?: number): number;
  /** Something worked: start over from the base. */
  reset(): void;
}

/** Creates a back-off of ±25 % jitter. */
export function createBackoff(random: Random, options: BackoffOptions): Backoff {
  let delayMs = options.baseMs;
  return {
    nextMs: (retryAfterMs = 0) => {
      const ownMs = jittered(random, delayMs, 0.25);
      delayMs = Math.min(delayMs * 2, options.capMs);
      return Math.max(ownMs, retryAfterMs);
    },
    reset: () => {
      delayMs = options.baseMs;
    },
  };
}

/**
 * The promise's value, or `aborted` if the signal was first; its late answer is dropped then. Rejects as the promise
 * does. For requests that cannot be cancelled (a send), and must not hold up a stop.
 */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | 'aborted'> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      resolve('aborted');
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    promise.then(
      (value) => {
        signal.removeEventListener('abort', stop);
        resolve(value);
      },
      (cause: unknown) => {
        signal.removeEventListener('abort', stop);
        reject(cause instanceof Error ? cause : new Error('request failed', { cause }));
      },
    );
  });
}
