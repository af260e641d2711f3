/**
 * Puts a run off: a timer, and in the state only what the next run needs (design 3).
 *
 * A retryable failure is never thrown. While a deferral lasts, a timer that is known to be on its way
 * serves all hints that meet it, so a deferral costs a read, not a write per hint.
 */
import type { DaemonSetState, RetryEntry } from '../../core/model/state.ts';
import type { RunContext, Subject } from './context.ts';
import { writeState } from './record-state.ts';
import { NO_COUNTS } from './result.ts';
import type { DeferralCode, ReconcileResult } from './result.ts';
import { nextRetry } from './retry.ts';
import type { RetryReason } from './retry.ts';
import { sendTimers, shouldRepeat } from './schedule.ts';

/** Why, and for how long. */
export interface Deferral {
  readonly code: DeferralCode;
  readonly message: string;
  readonly delayMs: number;
}

/** A deferral without anything to record it in: only a timer. */
export async function deferUnrecorded(
  deferral: Deferral,
  context: RunContext,
): Promise<ReconcileResult> {
  const { clock, options } = context.dependencies;
  const nextLookAtMs = clock.nowMs() + Math.max(deferral.delayMs, options.deferralLookMs);
  await sendTimers(context, [nextLookAtMs]);
  return { ...resultOf(deferral), nextLookAtMs };
}

/** A deferral whose beginning is kept, because it is capped. */
export async function deferRun(
  deferral: Deferral,
  input: { readonly context: RunContext; readonly subject: Subject },
): Promise<ReconcileResult> {
  const { context, subject } = input;
  const { state, nowMs } = subject;
  const { options } = context.dependencies;
  const wantedMs = nowMs + Math.max(deferral.delayMs, options.deferralLookMs);
  const { dueAtMs, dueSentAtMs } = state;
  const isPending = dueAtMs !== undefined && dueAtMs > nowMs && dueAtMs <= wantedMs + 1_000;
  const nextLookAtMs = isPending ? dueAtMs : wantedMs;
  const isOnItsWay = dueSentAtMs === nextLookAtMs && !shouldRepeat(context, nextLookAtMs, nowMs);
  if (!isOnItsWay) await sendTimers(context, [nextLookAtMs]);
  const next: DaemonSetState = {
    ...state,
    deferredSinceMs: state.deferredSinceMs ?? nowMs,
    dueAtMs: nextLookAtMs,
    dueSentAtMs: nextLookAtMs,
  };
  const isSame =
    state.deferredSinceMs !== undefined && dueAtMs === nextLookAtMs && dueSentAtMs === nextLookAtMs;
  // Losing this write is harmless: whoever won looks after the due time, and the timer is sent.
  if (!isSame) await writeState(next, { context, subject });
  return { ...resultOf(deferral), nextLookAtMs };
}

/** A deferral that waits longer each time, without counting towards the cap of stale reads. */
export async function backOffRun(
  reason: RetryReason & { readonly code: DeferralCode; readonly message: string },
  input: {
    readonly context: RunContext;
    readonly subject: Pick<Subject, 'basis' | 'state' | 'nowMs'>;
  },
): Promise<ReconcileResult> {
  const { context, subject } = input;
  const { random, options } = context.dependencies;
  const { state, nowMs } = subject;
  const refusedUntilMs =
    reason.code === 'cluster-unavailable' ? context.gate.refusedUntilMs : undefined;
  if (refusedUntilMs !== undefined) {
    const { message } = reason;
    return waitForBreaker({ message, untilMs: refusedUntilMs }, input);
  }
  const isWaiting = state.retry?.code === reason.code && state.retry.notBeforeMs > nowMs;
  const retry =
    isWaiting && state.retry !== undefined
      ? state.retry
      : nextRetry(state.retry, reason, { nowMs, random, options });
  return waitUntil({ retry, isWaiting, code: reason.code, message: reason.message }, input);
}

/** The deferral of a run that its cluster's breaker refused. */
const BREAKER_OPEN = 'breaker-open';

/** When a key that waits for its cluster's breaker looks again, if it does (protocol 11, 12). */
export function breakerWaitOf(
  state: Pick<DaemonSetState, 'retry'> | undefined,
  nowMs: number,
): RetryEntry | undefined {
  const retry = state?.retry;
  return retry?.code === BREAKER_OPEN && retry.notBeforeMs > nowMs ? retry : undefined;
}

/**
 * The breaker's due time is the key's (protocol 11); the key's own back-off does not grow meanwhile. While
 * a timer is on its way, it serves all hints that meet the open breaker.
 */
export async function waitForBreaker(
  wait: { readonly message: string; readonly untilMs: number },
  input: {
    readonly context: RunContext;
    readonly subject: Pick<Subject, 'basis' | 'state' | 'nowMs'>;
  },
): Promise<ReconcileResult> {
  const { state, nowMs } = input.subject;
  const { message, untilMs } = wait;
  const waiting = breakerWaitOf(state, nowMs);
  const notBeforeMs = Math.max(untilMs, nowMs + input.context.dependencies.options.deferralLookMs);
  const delayMs = notBeforeMs - nowMs;
  const retry = waiting ?? { code: BREAKER_OPEN, delayMs, notBeforeMs, holdsCreates: false };
  const isWaiting = waiting !== undefined;
  return waitUntil({ retry, isWaiting, code: BREAKER_OPEN, message }, input);
}

async function waitUntil(
  wait: {
    readonly retry: RetryEntry;
    /** True if the state knows of it already. */
    readonly isWaiting: boolean;
    readonly code: DeferralCode;
    readonly message: string;
  },
  { context, subject }: Parameters<typeof waitForBreaker>[1],
): Promise<ReconcileResult> {
  const { state, nowMs } = subject;
  const { retry, isWaiting, code, message } = wait;
  const { notBeforeMs } = retry;
  if (state.dueSentAtMs !== notBeforeMs || shouldRepeat(context, notBeforeMs, nowMs)) {
    await sendTimers(context, [notBeforeMs]);
  }
  if (!isWaiting) {
    const next = { ...state, retry, dueAtMs: notBeforeMs, dueSentAtMs: notBeforeMs };
    await writeState(next, { context, subject });
  }
  return {
    ...resultOf({ code, message, delayMs: retry.delayMs }),
    nextLookAtMs: notBeforeMs,
  };
}

function resultOf({
  code,
  message,
}: Deferral): Omit<Extract<ReconcileResult, { kind: 'deferred' }>, 'nextLookAtMs'> {
  return { kind: 'deferred', code, message, counts: NO_COUNTS };
}
