/**
 * Exponential back-off of one thing that fails: 10 s, doubling to 5 min, forgotten after 10 min without failure
 * (ImagePullBackOff and CrashLoopBackOff).
 *
 * Pure: entries are values that the caller keeps and drops; times are wall milliseconds.
 */

/** What is remembered of failures. */
export interface BackOff {
  readonly delayMs: number;
  readonly updatedAtMs: number;
}

/** The first delay. */
const BACK_OFF_FIRST_MS = 10_000;
/** The longest delay. */
const BACK_OFF_MAX_MS = 300_000;
/** A failure this long after the last attempt starts from the first delay again. */
const BACK_OFF_RESET_MS = 2 * BACK_OFF_MAX_MS;

/** The back-off after one more attempt at `nowMs`, caused by a failure at `failedAtMs`. */
export function nextBackOff(
  before: BackOff | undefined,
  { failedAtMs, nowMs }: { readonly failedAtMs: number; readonly nowMs: number },
): BackOff {
  if (before === undefined || isExpired(before, failedAtMs)) {
    return { delayMs: BACK_OFF_FIRST_MS, updatedAtMs: nowMs };
  }
  return { delayMs: Math.min(2 * before.delayMs, BACK_OFF_MAX_MS), updatedAtMs: nowMs };
}

/** How long to wait still, counted from the failure; 0: go on. Never more than the back-off's delay. */
export function remainingBackOffMs(
  backOff: BackOff | undefined,
  { failedAtMs, nowMs }: { readonly failedAtMs: number; readonly nowMs: number },
): number {
  if (backOff === undefined || isExpired(backOff, failedAtMs)) return 0;
  const remainingMs = failedAtMs + backOff.delayMs - nowMs;
  return Math.min(Math.max(0, remainingMs), backOff.delayMs);
}

function isExpired(backOff: BackOff, failedAtMs: number): boolean {
  return failedAtMs - backOff.updatedAtMs > BACK_OFF_RESET_MS;
}
