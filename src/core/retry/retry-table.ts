/**
 * Every reason for which something is tried again although nothing happens, and how long each waits.
 *
 * What a run records of a wait survives the process, and hints neither shorten nor lengthen it (L5). Nothing is given up:
 * after `maxMs` a key waits that long each time, and the metric `ReconcileStuck` says so.
 */
export interface RetryRow {
  readonly firstMs: number;
  /** What each further wait is multiplied by; 1: always the same. */
  readonly factor: number;
  readonly maxMs: number;
  /** Share by which a wait varies up and down, so that keys that failed together come apart. */
  readonly jitter: number;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
/** The longest wait of whatever Rollcall retries by itself. */
const LONGEST_MS = 300_000;
/** What an API server says no to. */
const REFUSED = { firstMs: 2 * SECOND_MS, factor: 2, maxMs: LONGEST_MS, jitter: 0.2 };

/** The table. A cluster's circuit breaker is core/model/breaker.ts. */
export const RETRY_TABLE = {
  /** A node whose pod failed: until the next one is made (spec 2.7). An edit of the DaemonSet ends it early. */
  'failed-pod': { firstMs: SECOND_MS, factor: 2, maxMs: 15 * MINUTE_MS, jitter: 0 },
  /**
   * The key as a whole: API server unavailable, no access, namespace terminating, history failed. Retry-After lengthens
   * it, a run that gets through ends it early.
   */
  key: REFUSED,
  /** A node whose pod, or whose pod's delete, was refused; others go on. An edit or the pod ends it early. */
  'refused-pod': REFUSED,
  /** A status, a revision or a claim that was refused, one wait for each kind. An edit ends it early. */
  'refused-write': REFUSED,
  /** After pods were touched: a look finds what the watcher never reported (faults row 91). Progress starts it anew. */
  'after-effects': { firstMs: 2 * SECOND_MS, factor: 2, maxMs: LONGEST_MS, jitter: 0 },
  /** Something is about to change by itself: a batch was stopped, an object changed meanwhile. Progress starts it anew. */
  soon: { firstMs: SECOND_MS, factor: 2, maxMs: LONGEST_MS, jitter: 0 },
  /** The view is not fit to be acted on: until the watcher is heard. Beyond `deferralMaxMs`, half of what it lasted. */
  deferral: { firstMs: SECOND_MS, factor: 1, maxMs: LONGEST_MS, jitter: 0 },
  /** Part of the view is missing or does not fit the rest, and a snapshot was asked for, which ends it early. */
  'view-incomplete': { firstMs: MINUTE_MS, factor: 1, maxMs: MINUTE_MS, jitter: 0 },
  /** The registry cannot be read, which counts as frozen. Once to twice as long. */
  'registry-unreadable': { firstMs: 15 * SECOND_MS, factor: 1, maxMs: 30 * SECOND_MS, jitter: 0 },
  /** A hint or timer that was given up by its queue (L2). */
  'lost-hint': { firstMs: 10 * MINUTE_MS, factor: 1, maxMs: 10 * MINUTE_MS, jitter: 0 },
} as const satisfies Readonly<Record<string, RetryRow>>;

/** The next wait after one of `formerMs`; undefined: the first. */
export function nextDelayMs(
  { firstMs, factor, maxMs }: RetryRow,
  formerMs: number | undefined,
  askedMs = 0,
): number {
  const grownMs = formerMs === undefined ? firstMs : formerMs * factor;
  return Math.min(Math.max(grownMs, askedMs), maxMs);
}
