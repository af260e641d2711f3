/**
 * Every reason for which something is tried again although nothing happens, and how long each waits.
 *
 * A wait is kept in the state, so it survives the process; hints neither shorten nor lengthen it (L5).
 * Nothing is given up: after `maxMs` a key waits that long each time, and `ReconcileStuck` says so.
 */
export interface RetryRow {
  readonly firstMs: number;
  /** What each further wait is multiplied by; 1: always the same. */
  readonly factor: number;
  readonly maxMs: number;
  /** Share by which a wait varies up and down, so that keys that failed together come apart. */
  readonly jitter: number;
  /** What ends the wait, beside its end. */
  readonly wakesBy: string;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
/** The longest wait of whatever Rollcall retries by itself. */
const LONGEST_MS = 300_000;

/** The table; docs/reference.md publishes it. A cluster's circuit breaker is core/model/breaker.ts. */
export const RETRY_TABLE = {
  /** A node whose pod failed: until the next one is made (spec 2.7). */
  'failed-pod': {
    ...{ firstMs: SECOND_MS, factor: 2, maxMs: 15 * MINUTE_MS, jitter: 0 },
    wakesBy: 'an edit of the DaemonSet',
  },
  /** The key as a whole: API server unavailable, no access, namespace terminating, history failed. */
  key: {
    ...{ firstMs: 2 * SECOND_MS, factor: 2, maxMs: LONGEST_MS, jitter: 0.2 },
    wakesBy: 'a run that gets through; Retry-After lengthens it',
  },
  /** A node whose pod, or whose pod's delete, the API server refused: others go on. */
  'refused-pod': {
    ...{ firstMs: 2 * SECOND_MS, factor: 2, maxMs: LONGEST_MS, jitter: 0.2 },
    wakesBy: 'an edit of the DaemonSet, or the pod',
  },
  /** A status, a revision or a claim that the API server refused, one wait for each kind. */
  'refused-write': {
    ...{ firstMs: 2 * SECOND_MS, factor: 2, maxMs: LONGEST_MS, jitter: 0.2 },
    wakesBy: 'an edit of the DaemonSet',
  },
  /** After pods were touched: a look finds what the watcher never reported (faults row 91). */
  'after-effects': {
    ...{ firstMs: 2 * SECOND_MS, factor: 2, maxMs: LONGEST_MS, jitter: 0 },
    wakesBy: 'progress',
  },
  /** Something is about to change by itself: a batch was stopped, an object changed meanwhile. */
  soon: {
    ...{ firstMs: SECOND_MS, factor: 2, maxMs: LONGEST_MS, jitter: 0 },
    wakesBy: 'progress',
  },
  /** The view is not fit to be acted on. Longer than `deferralMaxMs`, half of what it lasted. */
  deferral: {
    ...{ firstMs: SECOND_MS, factor: 1, maxMs: LONGEST_MS, jitter: 0 },
    wakesBy: 'the watcher',
  },
  /** Part of the view is missing or torn: a snapshot was asked for. */
  'view-incomplete': {
    ...{ firstMs: MINUTE_MS, factor: 1, maxMs: MINUTE_MS, jitter: 0 },
    wakesBy: 'the snapshot',
  },
  /** The registry cannot be read, which counts as frozen. Waits once to twice as long. */
  'registry-unreadable': {
    ...{ firstMs: 15 * SECOND_MS, factor: 1, maxMs: 30 * SECOND_MS, jitter: 0 },
    wakesBy: 'nothing',
  },
  /** A hint or timer that was given up by its queue (L2). */
  'lost-hint': {
    ...{ firstMs: 10 * MINUTE_MS, factor: 1, maxMs: 10 * MINUTE_MS, jitter: 0 },
    wakesBy: 'nothing',
  },
} as const satisfies Readonly<Record<string, RetryRow>>;

/** The next wait after one of `formerMs`; undefined: the first. */
export function nextDelayMs(
  { firstMs, factor, maxMs }: RetryRow,
  formerMs: number | undefined,
  retryAfterMs = 0,
): number {
  const grownMs = formerMs === undefined ? firstMs : formerMs * factor;
  return Math.min(Math.max(grownMs, retryAfterMs), maxMs);
}
