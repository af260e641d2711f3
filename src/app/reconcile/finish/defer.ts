/**
 * Puts a run off: a timer, and in the state only what the next run needs (design 3).
 *
 * A retryable failure is never thrown. While a deferral lasts, a timer that is known to be on its way
 * serves all hints that meet it (timers.ts), so a deferral costs a read, not a write per hint.
 */
import { defined } from '@rollcall/base/defined.ts';
import { putOff } from '../../../core/coverage/count-coverage.ts';
import { doubtfulSince } from '../../../core/coverage/view-moment.ts';
import type { DaemonSetState, RetryEntry } from '../../../core/model/state.ts';
import { BREAKER_OPEN, breakerWaitOf, nextRetry } from '../../../core/retry/retry.ts';
import { RETRY_TABLE } from '../../../core/retry/retry-table.ts';
import type { EndContext } from '../run/context.ts';
import type { BackOff, Deferral, FoundInput } from '../run/exit.ts';
import { writeState } from '../run/record-state.ts';
import { NO_COUNTS, type DeferralCode, type ReconcileResult } from '../run/result.ts';
import { retryClock, scheduleLook, scheduleUnrecorded } from './timers.ts';

const DEFERRAL = RETRY_TABLE.deferral;

interface DeferStep {
  readonly context: EndContext;
  readonly input: FoundInput;
}

/** A deferral without anything to record it in: only a timer. */
export async function deferUnrecorded(
  deferral: Deferral,
  context: EndContext,
): Promise<ReconcileResult> {
  const delayMs = Math.max(deferral.delayMs, DEFERRAL.firstMs);
  return { ...resultOf(deferral), nextLookAtMs: await scheduleUnrecorded(delayMs, context) };
}

/** A deferral whose beginning is kept, because it is capped. */
export async function deferRun(deferral: Deferral, step: DeferStep): Promise<ReconcileResult> {
  const { context, input } = step;
  const { state, nowMs } = input;
  const atMs = nowMs + deferralDelayMs(deferral, step);
  const look = await scheduleLook({ atMs, waitsFor: 'change' }, input, context);
  const next = { ...state, deferredSinceMs: state.deferredSinceMs ?? nowMs, ...look };
  // Losing this write is harmless: the run that won keeps a due time of its own, and our timer is sent already.
  if (!isRecorded(state, next)) await record(next, step);
  return { ...resultOf(deferral), nextLookAtMs: look.dueAtMs };
}

/** What lasts longer than any deferral may is looked at ever more seldom (L5). */
function deferralDelayMs({ delayMs }: Deferral, { context, input }: DeferStep): number {
  const { deferralMaxMs } = context.dependencies.options;
  const lastedMs = input.nowMs - (input.state.deferredSinceMs ?? input.nowMs);
  const patienceMs = lastedMs > deferralMaxMs ? Math.min(lastedMs / 2, DEFERRAL.maxMs) : 0;
  return Math.max(delayMs, DEFERRAL.firstMs, patienceMs);
}

/** True if the state says already when the key looks again, and since when it waits. */
function isRecorded(state: DaemonSetState, next: DaemonSetState): boolean {
  return (
    state.deferredSinceMs !== undefined &&
    state.dueAtMs === next.dueAtMs &&
    state.dueSentAtMs === next.dueSentAtMs
  );
}

/** A deferral that waits longer each time, without counting towards the cap of stale reads. */
export async function backOffRun(reason: BackOff, step: DeferStep): Promise<ReconcileResult> {
  const { context, input } = step;
  const { state, nowMs } = input;
  const refusedUntilMs =
    reason.code === 'cluster-unavailable' ? context.gate.refusedUntilMs : undefined;
  if (refusedUntilMs !== undefined) {
    return waitForBreaker({ message: reason.message, untilMs: refusedUntilMs }, step);
  }
  const isSame = state.retry?.code === reason.code && state.retry.generation === reason.generation;
  const isWaiting = isSame && (state.retry?.notBeforeMs ?? 0) > nowMs;
  const retry =
    isWaiting && state.retry !== undefined
      ? state.retry
      : nextRetry(state.retry, reason, retryClock(context, nowMs));
  return waitUntil({ retry, isWaiting, code: reason.code, message: reason.message }, step);
}

/**
 * The breaker's due time is the key's (protocol 11); the key's own back-off does not grow meanwhile. While
 * a timer is on its way, it serves all hints that meet the open breaker.
 */
export async function waitForBreaker(
  wait: { readonly message: string; readonly untilMs: number },
  step: DeferStep,
): Promise<ReconcileResult> {
  const { state, nowMs } = step.input;
  const { message, untilMs } = wait;
  const waiting = breakerWaitOf(state, nowMs);
  const notBeforeMs = Math.max(untilMs, nowMs + DEFERRAL.firstMs);
  const delayMs = notBeforeMs - nowMs;
  const retry = waiting ?? { code: BREAKER_OPEN, delayMs, notBeforeMs, holdsCreates: false };
  const isWaiting = waiting !== undefined;
  return waitUntil({ retry, isWaiting, code: BREAKER_OPEN, message }, step);
}

async function waitUntil(
  wait: {
    readonly retry: RetryEntry;
    /** True if the state knows of it already. */
    readonly isWaiting: boolean;
    readonly code: DeferralCode;
    readonly message: string;
  },
  { context, input }: DeferStep,
): Promise<ReconcileResult> {
  const { state } = input;
  const { retry, isWaiting, code, message } = wait;
  const wanted = { atMs: retry.notBeforeMs, waitsFor: 'moment' } as const;
  const look = await scheduleLook(wanted, input, context);
  const isKnown = isWaiting && state.dueAtMs === look.dueAtMs;
  if (!isKnown) await record({ ...state, retry, ...look }, { context, input });
  return { ...resultOf({ code, message, delayMs: retry.delayMs }), nextLookAtMs: look.dueAtMs };
}

async function record(to: DaemonSetState, { context, input }: DeferStep): Promise<void> {
  // No run counts what the view shows meanwhile.
  const coverage = putOff(to.coverage, doubtfulSince(input.stored.meta, input.nowMs));
  const change = { from: input.state, to: { ...to, ...defined({ coverage }) } };
  await writeState(change, input.stored.ref, context);
}

function resultOf({
  code,
  message,
}: Deferral): Omit<Extract<ReconcileResult, { kind: 'deferred' }>, 'nextLookAtMs'> {
  return { kind: 'deferred', code, message, counts: NO_COUNTS };
}

/**
 * The cluster cannot be used: back-off, and for an endpoint that turned out to be another cluster a refusal (row 90,
 * S6). An endpoint that is not permitted is no outage: it waits until an operator registers it differently (row 66).
 */
export async function endUnavailable(message: string, step: DeferStep): Promise<ReconcileResult> {
  const { refusal } = step.input.access;
  const noAccess = (text: string, holdsCreates = false): Promise<ReconcileResult> =>
    backOffRun({ code: 'no-access', message: text, holdsCreates }, step);
  switch (refusal?.kind) {
    case 'wrong-cluster': {
      // Nothing is written until the cluster is registered again (row 90, S6).
      const text = `the endpoint is cluster ${refusal.foundUid}, not the registered one`;
      await noAccess(text, true);
      return { kind: 'refused', reason: 'wrong-cluster', message: text };
    }
    case 'egress-refused':
      return noAccess(`the endpoint is not permitted: ${refusal.field} (${refusal.reason})`);
    case 'no-credential':
      return noAccess('there is no credential for the cluster');
    case 'no-token':
      return noAccess(`there is no usable token for the cluster: ${refusal.fault}`);
    case 'unavailable':
    case undefined: {
      const text = refusal?.message ?? message;
      return backOffRun({ code: 'cluster-unavailable', message: text, holdsCreates: false }, step);
    }
  }
}
