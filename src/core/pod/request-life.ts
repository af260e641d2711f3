/**
 * How long a request to an API server may still have an effect: what separates "not answered" from "dead".
 *
 *   intent recorded ── request starts (≤ effect deadline of its run) ── time-out ── time-out ──▶ dead
 *
 * Assumes (docs/promise.md) that a request is dead twice its time-out after it started; a run starts none after its
 * effect deadline, which each intent carries (protocol 4, 5). The time-out counted on here is the one that the
 * transport of the functions keeps: one constant, since safety rests on it. Pure: no clock is read here.
 */
import type { Intent } from '../model/state.ts';

/** Time-out of one request to an API server, milliseconds: from its start to the last byte of the answer. */
export const REQUEST_TIMEOUT_MS = 10_000;

/** How long a run may go on, milliseconds: the time-out of the function `reconcile` in serverless.yml. */
export const RUN_MAX_MS = 30_000;

/** How long any function may go on that sends to clusters, milliseconds: the longest time-out in serverless.yml, that of `fleet`. */
export const FUNCTION_MAX_MS = 55_000;

/** Until when requests may start, by either clock of the machine that sends them, milliseconds. */
export interface StartLimits {
  /** Monotonic. */
  readonly deadlineMs: number;
  /** The same by the wall clock: in a sandbox that stood still, the monotonic one may have, too (row 21). */
  readonly wallDeadlineMs?: number;
}

/** True once no request may start any more, by either clock; the times are those of now. */
export function isPastDeadline(
  { deadlineMs, wallDeadlineMs = Infinity }: StartLimits,
  { monotonicMs, wallMs }: { readonly monotonicMs: number; readonly wallMs: number },
): boolean {
  return monotonicMs >= deadlineMs || wallMs >= wallDeadlineMs;
}

/** For how long a request that started may still be applied, milliseconds: twice its time-out. */
export function requestLifeMs(requestTimeoutMs: number): number {
  return 2 * requestTimeoutMs;
}

/**
 * From when on no request is alive of runs that are over, or that begin their requests now, milliseconds since the
 * epoch: for those of which nothing is on record any more (protocol 6).
 */
export function forgottenUntilMs(sinceMs: number, requestTimeoutMs: number): number {
  return sinceMs + RUN_MAX_MS + requestLifeMs(requestTimeoutMs);
}

/** True if a request of this intent may be on its way: its answer never came. */
export function hasOpenRequest(intent: Intent): boolean {
  if (intent.kind === 'delete') return !intent.isAccepted;
  return intent.answer === undefined || intent.earlier !== undefined;
}

/**
 * When the last unanswered request of an intent is dead, milliseconds since the epoch: twice the time-out after the
 * latest moment at which it may have started (protocol 4, 5). Of an answered create, that is an earlier request;
 * where none is open, twice the time-out after the record, when what was answered should have been seen.
 */
export function resolvedAtMs(intent: Intent, requestTimeoutMs: number): number {
  const lifeMs = requestLifeMs(requestTimeoutMs);
  if (!hasOpenRequest(intent)) return intent.recordedAtMs + lifeMs;
  if (intent.kind === 'delete') return intent.startsByMs + lifeMs;
  const latestMs = intent.answer === undefined ? intent.startsByMs : 0;
  return Math.max(latestMs, intent.earlier?.startsByMs ?? 0) + lifeMs;
}
