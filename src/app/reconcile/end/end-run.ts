/**
 * The one place that ends a run: from here alone timers are sent and the state is written (design 3; protocol 4, 12).
 *
 * Order: timers are sent, then the state records that they were sent. A crash in between costs
 * one look more and never one less. The only other write of the state is the record of intents before effects
 * (act.ts).
 */
import { counted } from '@rollcall/base/counted.ts';
import type { EndContext } from '../run/context.ts';
import { backOffRun, deferRun, deferUnrecorded, waitForBreaker, endUnavailable } from './defer.ts';
import type { Exit, FoundSubject, Conclusion, Judged } from '../run/exit.ts';
import type { ReconcileResult } from '../run/result.ts';
import { keepLook } from './schedule.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { formatKey } from '../../../core/model/identifiers.ts';
import { selectingAllEvent } from '../../../core/events/events.ts';
import { guardOfRegistration } from '../../../core/takeover/registration-guard.ts';
import { remember } from '../process/remember.ts';
import { writeState } from '../run/record-state.ts';
import { memoOf } from '../read/skip.ts';
import { componentIn, correlateRun, writeEvents } from './write-events.ts';
import { finishRun } from './finish.ts';
import type { Finish } from './finish.ts';
import type { Ledger } from '../run/ledger.ts';

/** Arranges what the end of a run needs, records it, and answers what came of the run. */
export async function endRun(
  exit: Exclude<Exit, { kind: 'lost' }>,
  context: EndContext,
): Promise<ReconcileResult> {
  switch (exit.kind) {
    case 'over':
      return exit.result;
    case 'skipped':
      return skip(exit, context);
    case 'unrecorded':
      return deferUnrecorded(exit.deferral, context);
    case 'deferral':
      return deferRun(exit.deferral, { context, subject: exit.subject });
    case 'back-off':
      return backOffRun(exit.reason, { context, subject: exit.subject });
    case 'breaker-wait':
      return waitForBreaker(exit, { context, subject: exit.subject });
    case 'unavailable':
      return endUnavailable(exit.message, context, exit.subject);
    case 'selecting-all':
      return refuseSelectingAll(exit.daemonSet, { context, subject: exit.subject });
    case 'carried-out':
      return concludeRun(exit.judged, exit.conclusion, context);
  }
}

/** A due time that is near is sent once more (protocol 12). */
async function skip(
  { nowMs, resendDueAtMs }: Extract<Exit, { kind: 'skipped' }>,
  context: EndContext,
): Promise<ReconcileResult> {
  if (resendDueAtMs !== undefined) await keepLook(resendDueAtMs, context, nowMs);
  return { kind: 'skipped' };
}

/**
 * A selector that is exactly empty: one warning event, nothing else (spec 2.3 step 4). The API server refuses such
 * objects, so this is a last defence. A memo keeps the warning from being repeated by every hint.
 */
async function refuseSelectingAll(
  daemonSet: DaemonSetObject,
  found: { readonly context: EndContext; readonly subject: FoundSubject },
): Promise<ReconcileResult> {
  const { context, subject } = found;
  const { basis, state, nowMs } = subject;
  const event = selectingAllEvent();
  // In copilot the built-in controller tells it.
  const isOurs = basis.registration.mode === 'takeover';
  const mayAct = isOurs && guardOfRegistration(basis.registration, basis.frozen).kind === 'act';
  const access = mayAct ? await subject.access.get() : undefined;
  const told = correlateRun([event], { context, tallies: state.events });
  const component = componentIn(basis.registration.mode);
  if (access !== undefined)
    await writeEvents(told.writes, { context, daemonSet, access, component });
  const { release } = context.dependencies.options;
  const memo = memoOf(basis, { release, nowMs });
  const events = access === undefined ? {} : { events: told.tallies };
  const change = { from: state, to: { ...state, ...events, memo } };
  await writeState(change, basis.ref, context);
  return { kind: 'refused', reason: 'selecting-all', message: event.message };
}

/**
 * Timers and state, then what there is to tell. Events are sent beside the final write of the state: they
 * decide nothing, and nobody waits for them but the end of this invocation, which awaits them all (ADR 0059): an API
 * server that is busy with the pods of a rollout takes as long for an Event as for all else of the run.
 */
async function concludeRun(
  judged: Judged,
  conclusion: Conclusion,
  context: EndContext,
): Promise<ReconcileResult> {
  const { decision, ledger } = conclusion;
  const finish = await record(judged, conclusion, context);
  const { warmth } = context.dependencies;
  const isStatusAll = finish.isComplete && ledger.counts.isStatusWritten && !ledger.hasEffects;
  if (isStatusAll) remember(warmth.toldStatuses, formatKey(context.hint.key), true);
  forgetRefusedCredential(context, ledger);
  return resultOf(decision, ledger, { ...finish, cappedCount: decision.plan.cappedCount });
}

async function record(
  judged: Judged,
  { decision, ledger, stored, access }: Conclusion,
  context: EndContext,
): Promise<Finish> {
  const { subject, judgement, history } = judged;
  const { plan } = decision;
  const told = correlateRun(ledger.events, { context, tallies: stored.events });
  const component = componentIn(subject.basis.registration.mode);
  const telling =
    access === undefined
      ? undefined
      : writeEvents(told.writes, { context, daemonSet: subject.daemonSet, access, component });
  try {
    return await finishRun({
      context,
      subject,
      ledger,
      plan,
      intents: judgement.intents,
      found: judgement.found,
      stored,
      history,
      ...(access === undefined || told.writes.length === 0 ? {} : { tallies: told.tallies }),
    });
  } finally {
    if (telling !== undefined) await leave(telling, context);
  }
}

/** Whoever began the run waits for what it leaves, if it can. */
async function leave(work: Promise<void>, { run }: EndContext): Promise<void> {
  if (run.aside === undefined) await work;
  else run.aside(work);
}

/** A 401 says that the warm credential is not good any more. */
function forgetRefusedCredential(context: EndContext, ledger: Ledger): void {
  if (!ledger.problems.some(({ code }) => code === 'no-access')) return;
  context.dependencies.connector.forget(context.hint.key.cluster);
}

function resultOf(
  { guard }: Conclusion['decision'],
  ledger: Ledger,
  end: { readonly isComplete: boolean; readonly dueAtMs: number; readonly cappedCount: number },
): ReconcileResult {
  const { counts } = ledger;
  const [problem] = ledger.problems;
  const nextLookAtMs = end.dueAtMs;
  if (problem !== undefined) {
    const { code, message } = problem;
    return { kind: 'deferred', code, message, nextLookAtMs, counts };
  }
  if (ledger.refused.length > 0) {
    const message = counted(ledger.refused.length, 'pod was refused', 'pods were refused');
    return { kind: 'deferred', code: 'refused', message, nextLookAtMs, counts };
  }
  if (end.cappedCount > 0) {
    const message = `${counted(end.cappedCount, 'pod is', 'pods are')} left for the next run`;
    return { kind: 'deferred', code: 'capped', message, nextLookAtMs, counts };
  }
  if (guard.kind !== 'act') return { kind: 'observed', code: guard.code, counts };
  return { kind: ledger.hasEffects || counts.isStatusWritten ? 'acted' : 'settled', counts };
}
