/**
 * Step 8 of a reconcile: due time sent, then recorded with outcomes and memo in one write.
 *
 * Nothing is written when nothing changed. The memo is part of the same item, and only of a complete
 * run (protocol 11); if the write is lost, outcomes are merged and the memo is forgotten. A crash
 * before the write leaves open intents and an unacknowledged hint: both lead back here (row 75).
 */
import { defined } from '@rollcall/base/defined.ts';
import { isSameJson, type Json } from '@rollcall/base/json.ts';
import { noteAnswers } from '../../../core/health/answer-times.ts';
import { confirmIntents } from '../../../core/intents/intents.ts';
import { mergeIntents } from '../../../core/intents/merge-intents.ts';
import { withEntries } from '../../../core/log/append-log.ts';
import { settledEntries } from '../../../core/log/effect-entries.ts';
import type { Plan } from '../../../core/model/plan.ts';
import { POLICY_ANNOTATION } from '../../../core/policy/rollout-policy.ts';
import { noteRestoring } from '../../../core/rollout/known-bad.ts';
import type { DaemonSetState, EventTally } from '../../../core/model/state.ts';
import {
  buriedAfter,
  mergeOutcomes,
  raiseWritten,
  removalAfter,
  writeState,
  withListed,
} from '../run/record-state.ts';
import { isNews, noteCoverage, toldView } from '../../coverage/note-coverage.ts';
import { seeCoverage } from '../../../core/coverage/see-nodes.ts';
import { flushLog } from '../../log/flush-log.ts';
import type { EndContext } from '../run/context.ts';
import { rememberMoved } from '../confirm/confirm-victims.ts';
import { scheduleNext, type DueTimes } from './timers.ts';
import { memoOf } from '../read/skip.ts';
import { decideWaits, pausedAfter, type Waits, type WaitsStep } from './due.ts';

export interface FinishStep extends WaitsStep {
  readonly context: EndContext;
  /** What is to be remembered of events, if this run told any. */
  readonly tallies?: readonly EventTally[];
}

export interface Finish {
  readonly isComplete: boolean;
  readonly dueAtMs: number;
}

export async function finishRun(step: FinishStep): Promise<Finish> {
  const { context, input, result, plan, recorded } = step;
  const { nowMs, stored } = input;
  const isComplete = result.isComplete && plan.cappedCount === 0;
  const { nearAtMs, ...waits } = decideWaits(step);
  const standing = standingLook(step, nearAtMs);
  if (standing !== undefined) return { isComplete, dueAtMs: standing };
  const due = await scheduleNext(nearAtMs, { state: recorded, nowMs }, context);
  const next = composeState(step, { ...waits, isComplete, due });
  const seen = seeCoverage(toldView(input), next.rollout, recorded.coverage);
  if (!isSame(recorded, next) || isNews(seen, recorded.coverage, stored.meta)) {
    const settled = [...input.intents.settled, ...result.settled];
    const whole = { from: recorded, to: withAnswers(next, context), settled };
    const flushed = await flushLog(whole, { context, ref: stored.ref });
    const change = await noteCoverage(flushed, seen, { context, input });
    const write = await writeState(change, stored.ref, context);
    if (write.kind !== 'written') {
      await mergeOutcomes(result, stored, context);
      return { isComplete: false, dueAtMs: due.dueAtMs };
    }
  }
  return { isComplete, dueAtMs: due.dueAtMs };
}

/**
 * The look that stands, of a run that found nothing but a status that waits for more (ADR 0031): what the run before it
 * recorded says all that the next one has to know.
 */
function standingLook(step: FinishStep, nearAtMs = Infinity): number | undefined {
  const { input, recorded } = step;
  const { dueAtMs, look } = recorded;
  if (!isStatusAllThatIsLeft(step) || dueAtMs === undefined || look === undefined) return undefined;
  const isStanding = look.atMs > input.nowMs && nearAtMs >= Math.min(dueAtMs, look.atMs);
  return isStanding && isSame(input.answers.history?.entry, recorded.history) ? dueAtMs : undefined;
}

function isStatusAllThatIsLeft(step: FinishStep): boolean {
  const { input, result, plan, recorded, tallies } = step;
  // Intents were recorded, pods touched, or something was not done: there is more to tell than a status.
  if (!result.isStatusPostponed || result.hasEffects || recorded !== input.state) return false;
  if (result.problems.length + result.refused.length + plan.cappedCount > 0) return false;
  if (result.copies !== undefined) return false;
  return tallies === undefined && (input.found?.intents ?? []).length === 0;
}

function composeState(
  step: FinishStep,
  decided: Omit<Waits, 'nearAtMs'> & { readonly isComplete: boolean; readonly due: DueTimes },
): DaemonSetState {
  const { context, input, result, plan, recorded } = step;
  const { retry, refusedWrites, look, refusals } = decided;
  const { settled } = input.intents;
  const history = input.answers.history?.entry;
  const {
    retry: _retry,
    refusedWrites: _refusedWrites,
    refusals: _refusals,
    look: _look,
    timersSentAtMs: _timers,
    deferredSinceMs: _since,
    statusPostponedSinceMs: _postponed,
    memo: _memo,
    buried: _buried,
    rollout: _rollout,
    paused: _paused,
    ...kept
  } = listedAfter(step);
  const version = result.isStatusAsSeen ? result.written.daemonSet : undefined;
  const { release } = context.dependencies.options;
  const read = memoOf(input.stored, { release, nowMs: input.nowMs });
  const memo = { ...read, ...defined({ daemonSetVersion: version }) };
  return {
    ...withEntries(kept, settledEntries(result.logged, result.sent)),
    intents: confirmIntents(
      mergeIntents(recorded.intents, {
        answers: result.answers,
        settle: [...settled, ...result.settled],
      }),
      input.found,
    ),
    ...buriedAfter(recorded, settled, input),
    written: raiseWritten(recorded, result, input.stored.meta.era),
    // Advanced back-off is recorded with the intents of the deletes; here only swept.
    backoff: result.recorded.length === 0 ? sweptOnly(recorded, plan) : recorded.backoff,
    ...decided.due,
    ...defined({ retry, look, history, events: step.tallies, rollout: rolloutAfter(step) }),
    ...defined({ copies: result.copies, paused: pausedAfter(step) }),
    ...defined({
      movedVictims: rememberMoved(recorded.movedVictims, result.movedVictims, input.nowMs),
    }),
    ...(refusedWrites.length === 0 ? {} : { refusedWrites }),
    ...(refusals.length === 0 ? {} : { refusals }),
    ...openSince(step),
    ...removalAfter(recorded, plan, result.removalAuthor),
    ...(decided.isComplete ? { memo } : {}),
  };
}

/** How long requests took is written with what is written anyway: no write is made for it (ADR 0055). */
function withAnswers(state: DaemonSetState, { gate }: EndContext): DaemonSetState {
  if (state.rollout === undefined) return state;
  return { ...state, rollout: noteAnswers(state.rollout, gate.answerTimes) };
}

/** The stages as planned; kept by a run that planned none, until the DaemonSet asks for no stages any more. */
function rolloutAfter({
  plan,
  input,
  recorded,
  result: { restoring },
}: FinishStep): DaemonSetState['rollout'] {
  if (plan.stages !== undefined) {
    const { record } = plan.stages;
    return restoring === undefined ? record : noteRestoring(record, restoring);
  }
  const isAsked = input.daemonSet.metadata.annotations?.[POLICY_ANNOTATION] !== undefined;
  return isAsked ? recorded.rollout : undefined;
}

/** The stored state; where this run did not act, without a list that counts no more. */
function listedAfter({ recorded, input }: FinishStep): DaemonSetState {
  return recorded === input.state ? withListed(recorded, {}, input.intents.settled) : recorded;
}

/** Since when something of this run is open: own writes unseen, a status left to a later look. */
function openSince({
  result,
  recorded,
  input,
}: FinishStep): Pick<DaemonSetState, 'deferredSinceMs' | 'statusPostponedSinceMs'> {
  const { nowMs } = input;
  // A run that was put off and only told its status goes on waiting.
  const isPutOff = result.problems.some(({ code }) => code === 'own-writes-unseen');
  const sinceMs = isPutOff ? (recorded.deferredSinceMs ?? nowMs) : undefined;
  // Own writes are unseen from here on: the cap of the deferral counts from now.
  const deferredSinceMs = result.hasEffects ? nowMs : sinceMs;
  const statusPostponedSinceMs = result.isStatusPostponed
    ? (recorded.statusPostponedSinceMs ?? nowMs)
    : undefined;
  return defined({ deferredSinceMs, statusPostponedSinceMs });
}

/** Stored entries that the plan still knows, never an advance whose delete was not recorded. */
function sweptOnly(recorded: DaemonSetState, plan: Plan): DaemonSetState['backoff'] {
  const known = new Set(plan.backoff.map(({ node }) => node));
  return recorded.backoff.filter(({ node }) => known.has(node));
}

type Part = DaemonSetState | DaemonSetState['history'];

function isSame(left: Part, right: Part): boolean {
  return isSameJson(left as unknown as Json, right as unknown as Json); // a state is plain JSON
}
