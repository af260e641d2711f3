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
import type { CarriedOut, Exit, FoundInput } from '../run/exit.ts';
import type { ReconcileResult, RunResult } from '../run/result.ts';
import { keepLook } from './timers.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { formatKey } from '../../../core/model/identifiers.ts';
import {
  selectingAllEvent,
  buildEvent,
  buildEventPatch,
  eventBaseName,
} from '../../../core/events/events.ts';
import { guardOfRegistration } from '../../../core/may-act/registration-guard.ts';
import { remember } from '../process/process-cache.ts';
import { writeState } from '../run/record-state.ts';
import { memoOf } from '../read/skip.ts';
import { finishRun, type Finish } from './finish.ts';
import type { Effect } from '../../../core/model/effects.ts';
import type { PlannedEvent } from '../../../core/model/plan.ts';
import type { EventTally } from '../../../core/model/state.ts';
import { correlateEvents } from '../../../core/events/event-correlation.ts';
import type { Correlation, EventWrite } from '../../../core/events/event-correlation.ts';
import type { EventComponent } from '../../../core/events/events.ts';
import type { ClusterMode } from '../../../core/model/registration.ts';
import type { ClusterAccess } from '../../../ports/cluster/cluster-access.ts';

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
      return deferRun(exit.deferral, { context, input: exit.input });
    case 'back-off':
      return backOffRun(exit.reason, { context, input: exit.input });
    case 'breaker-wait':
      return waitForBreaker(exit, { context, input: exit.input });
    case 'unavailable':
      return endUnavailable(exit.message, { context, input: exit.input });
    case 'selecting-all':
      return refuseSelectingAll(exit.daemonSet, exit.input, context);
    case 'carried-out':
      return concludeRun(exit, context);
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
  input: FoundInput,
  context: EndContext,
): Promise<ReconcileResult> {
  const { stored, state, nowMs } = input;
  const event = selectingAllEvent();
  // In copilot the built-in controller tells it.
  const isOurs = stored.registration.mode === 'takeover';
  const mayAct = isOurs && guardOfRegistration(stored.registration, stored.frozen).kind === 'act';
  const access = mayAct ? await input.access.get() : undefined;
  const told = correlateRun([event], state.events, context);
  const component = componentIn(stored.registration.mode);
  if (access !== undefined)
    await writeEvents(told.writes, { context, daemonSet, access, component });
  const { release } = context.dependencies.options;
  const memo = memoOf(stored, { release, nowMs });
  const events = access === undefined ? {} : { events: told.tallies };
  const change = { from: state, to: { ...state, ...events, memo } };
  await writeState(change, stored.ref, context);
  return { kind: 'refused', reason: 'selecting-all', message: event.message };
}

/**
 * Timers and state, then what there is to tell. Events are sent beside the final write of the state: they
 * decide nothing, and only the end of this invocation awaits them (ADR 0079): an API
 * server that is busy with the pods of a rollout takes as long for an Event as for all else of the run.
 */
async function concludeRun(exit: CarriedOut, context: EndContext): Promise<ReconcileResult> {
  const { result } = exit;
  const finish = await record(exit, context);
  const { cache } = context.dependencies;
  const isStatusAll = finish.isComplete && result.counts.isStatusWritten && !result.hasEffects;
  if (isStatusAll) remember(cache.toldStatuses, formatKey(context.hint.key), true);
  forgetRefusedCredential(context, result);
  return resultOf(exit, finish);
}

async function record(exit: CarriedOut, context: EndContext): Promise<Finish> {
  const { input, result, recorded, access } = exit;
  const told = correlateRun(result.events, recorded.events, context);
  const component = componentIn(input.stored.registration.mode);
  const telling =
    access === undefined
      ? undefined
      : writeEvents(told.writes, { context, daemonSet: input.daemonSet, access, component });
  try {
    const isTold = access !== undefined && told.writes.length > 0;
    return await finishRun({ ...exit, context, ...(isTold ? { tallies: told.tallies } : {}) });
  } finally {
    if (telling !== undefined) await leave(telling, context);
  }
}

/** The caller of the run waits for the work that it leaves, if it can. */
async function leave(work: Promise<void>, { run }: EndContext): Promise<void> {
  if (run.aside === undefined) await work;
  else run.aside(work);
}

/** A 401 says that the warm credential is not good any more. */
function forgetRefusedCredential(context: EndContext, result: RunResult): void {
  if (!result.problems.some(({ code }) => code === 'no-access')) return;
  context.dependencies.connector.forget(context.hint.key.cluster);
}

function resultOf({ guard, plan, result }: CarriedOut, { dueAtMs }: Finish): ReconcileResult {
  const { counts } = result;
  const { cappedCount } = plan;
  const [problem] = result.problems;
  const nextLookAtMs = dueAtMs;
  if (problem !== undefined) {
    const { code, message } = problem;
    return { kind: 'deferred', code, message, nextLookAtMs, counts };
  }
  if (result.refused.length > 0) {
    const message = counted(result.refused.length, 'pod was refused', 'pods were refused');
    return { kind: 'deferred', code: 'refused', message, nextLookAtMs, counts };
  }
  if (cappedCount > 0) {
    const message = `${counted(cappedCount, 'pod is', 'pods are')} left for the next run`;
    return { kind: 'deferred', code: 'capped', message, nextLookAtMs, counts };
  }
  if (guard.kind !== 'act') return { kind: 'observed', code: guard.code, counts };
  return { kind: result.hasEffects || counts.isStatusWritten ? 'acted' : 'settled', counts };
}

// Events: best effort, never failing the run; what is written is decided before the state is (spec 2.8).

/** Decides which Events are written, and what is to be remembered of them. */
function correlateRun(
  events: readonly PlannedEvent[],
  tallies: readonly EventTally[] = [],
  { hint, dependencies: { clock, random } }: Pick<EndContext, 'hint' | 'dependencies'>,
): Correlation {
  if (events.length === 0) return { writes: [], tallies };
  const baseName = eventBaseName(hint.key.name, random.uniqueId());
  return correlateEvents({ tallies, events, nowMs: clock.nowMs(), baseName });
}

/** Who tells: beside the built-in controller not under its name. */
function componentIn(mode: ClusterMode): EventComponent {
  return mode === 'copilot' ? 'rollcall' : 'daemonset-controller';
}

/** Sends the writes; failures are counted and forgotten. Never rejects. */
async function writeEvents(
  writes: readonly EventWrite[],
  step: {
    readonly context: Pick<EndContext, 'hint' | 'run' | 'dependencies'>;
    readonly daemonSet: DaemonSetObject;
    readonly access: ClusterAccess;
    readonly component: EventComponent;
  },
): Promise<void> {
  if (writes.length === 0) return;
  const { context, daemonSet, access, component } = step;
  const { namespace } = context.hint.key;
  const create = (write: EventWrite): Effect => ({
    kind: 'create-event',
    namespace,
    name: write.name,
    body: buildEvent(daemonSet, write, component),
  });
  const raise = (write: EventWrite): Effect => ({
    kind: 'patch-event',
    namespace,
    name: write.name,
    body: buildEventPatch(write),
  });
  const limits = { deadlineMs: context.run.deadlineMs };
  const effects = writes.map((write) => (write.kind === 'create' ? create(write) : raise(write)));
  const outcomes = await access.execute(effects, limits);
  const expired = writes.filter(
    ({ kind }, index) => kind === 'raise' && outcomes[index]?.kind === 'gone',
  );
  const again = expired.length === 0 ? [] : await access.execute(expired.map(create), limits);
  const written = [...outcomes, ...again].filter(({ kind }) => kind === 'done').length;
  const lost = writes.length - written;
  if (lost > 0) context.dependencies.metrics.count('ReconcileEventsLost', { by: lost });
}
