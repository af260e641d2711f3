/**
 * Step 8 of a reconcile: due time sent, then recorded with outcomes and memo in one write.
 *
 * Nothing is written when nothing changed. The memo is part of the same item, and only of a complete
 * run (protocol 11); if the write is lost, outcomes are merged and the memo is forgotten. A crash
 * before the write leaves open intents and an unacknowledged hint: both lead back here (row 75).
 */
import { defined } from '@rollcall/base/defined.ts';
import { isSameJson } from '@rollcall/base/json.ts';
import type { Json } from '@rollcall/base/json.ts';
import { noteAnswers } from '../../../core/health/answer-times.ts';
import { confirmIntents } from '../../../core/intents/intents.ts';
import type { FoundIntents } from '../../../core/intents/intents.ts';
import { mergeIntents } from '../../../core/intents/merge-intents.ts';
import type { Plan } from '../../../core/model/plan.ts';
import { POLICY_ANNOTATION } from '../../../core/policy/rollout-policy.ts';
import { noteRestoring } from '../../../core/rollout/known-bad.ts';
import type { DaemonSetState, EventTally } from '../../../core/model/state.ts';
import {
  buriedAfter,
  mergeOutcomes,
  raiseWritten,
  shrinkAfter,
  writeState,
  withListed,
} from '../run/record-state.ts';
import type { EndContext } from '../run/context.ts';
import { rememberMoved } from '../confirm/seen-victims.ts';
import { scheduleNext } from './schedule.ts';
import type { DueTimes } from './schedule.ts';
import { memoOf } from '../read/skip.ts';
import { decideWaits, pausedAfter } from './waits.ts';
import type { Waits, WaitsInput } from './waits.ts';

/** What finishing works with. */
export interface FinishInput extends WaitsInput {
  readonly context: EndContext;
  /** Unseen intents that were read live, if any. */
  readonly found: FoundIntents | undefined;
  /** What is to be remembered of events, if this run told any. */
  readonly tallies?: readonly EventTally[];
}

/** How the run ends. */
export interface Finish {
  readonly isComplete: boolean;
  readonly dueAtMs: number;
}

/** Sends timers, records, and says when the next look is. */
export async function finishRun(input: FinishInput): Promise<Finish> {
  const { context, subject, ledger, plan } = input;
  const isComplete = ledger.isComplete && plan.cappedCount === 0;
  const { nearAtMs, ...waits } = decideWaits(input);
  const standing = standingLook(input, nearAtMs);
  if (standing !== undefined) return { isComplete, dueAtMs: standing };
  const due = await scheduleNext(nearAtMs, {
    context,
    subject: { state: input.stored, nowMs: subject.nowMs },
  });
  const next = composeState(input, { ...waits, isComplete, due });
  if (!isSame(input.stored, next)) {
    const settled = [...input.intents.settled, ...ledger.settled];
    const change = { from: input.stored, to: withAnswers(next, context), settled };
    const write = await writeState(change, subject.basis.ref, context);
    if (write.kind !== 'written') {
      await mergeOutcomes(ledger, { context, subject });
      return { isComplete: false, dueAtMs: due.dueAtMs };
    }
  }
  return { isComplete, dueAtMs: due.dueAtMs };
}

/**
 * The look that stands, of a run that found nothing but a status that waits for more (ADR 0053): what the run before it
 * recorded says all that the next one has to know.
 */
function standingLook(input: FinishInput, nearAtMs = Infinity): number | undefined {
  const { subject, stored, history } = input;
  const { dueAtMs, look } = stored;
  if (!isStatusAllThatIsLeft(input) || dueAtMs === undefined || look === undefined)
    return undefined;
  const isStanding = look.atMs > subject.nowMs && nearAtMs >= Math.min(dueAtMs, look.atMs);
  return isStanding && isSame(history, stored.history) ? dueAtMs : undefined;
}

function isStatusAllThatIsLeft(input: FinishInput): boolean {
  const { subject, ledger, plan, stored, found, tallies } = input;
  // Intents were recorded, pods touched, or something was not done: there is more to tell than a status.
  if (!ledger.isStatusPostponed || ledger.hasEffects || stored !== subject.state) return false;
  if (ledger.problems.length + ledger.refused.length + plan.cappedCount > 0) return false;
  if (ledger.copies !== undefined) return false;
  return tallies === undefined && (found?.intents ?? []).length === 0;
}

function composeState(
  input: FinishInput,
  decided: Omit<Waits, 'nearAtMs'> & { readonly isComplete: boolean; readonly due: DueTimes },
): DaemonSetState {
  const { context, subject, ledger, plan, stored, history } = input;
  const { retry, refusedWrites, look, refusals } = decided;
  const { settled } = input.intents;
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
  } = listedAfter(input);
  const version = ledger.isStatusAsSeen ? ledger.written.daemonSet : undefined;
  const { release } = context.dependencies.options;
  const read = memoOf(subject.basis, { release, nowMs: subject.nowMs });
  const memo = { ...read, ...defined({ daemonSetVersion: version }) };
  return {
    ...kept,
    intents: confirmIntents(
      mergeIntents(stored.intents, {
        answers: ledger.answers,
        settle: [...settled, ...ledger.settled],
      }),
      input.found,
    ),
    ...buriedAfter(stored, settled, subject),
    written: raiseWritten(stored, ledger, subject.basis.meta.era),
    // Advanced back-off is recorded with the intents of the deletes; here only swept.
    backoff: ledger.recorded.length === 0 ? sweptOnly(stored, plan) : stored.backoff,
    ...decided.due,
    ...defined({ retry, look, history, events: input.tallies, rollout: rolloutAfter(input) }),
    ...defined({ copies: ledger.copies, paused: pausedAfter(input) }),
    ...defined({
      movedVictims: rememberMoved(stored.movedVictims, ledger.movedVictims, subject.nowMs),
    }),
    ...(refusedWrites.length === 0 ? {} : { refusedWrites }),
    ...(refusals.length === 0 ? {} : { refusals }),
    ...openSince(input),
    ...shrinkAfter(stored, plan, ledger.shrinkAuthor),
    ...(decided.isComplete ? { memo } : {}),
  };
}

/** How long requests took is written with what is written anyway: no write is made for it (ADR 0062). */
function withAnswers(state: DaemonSetState, { gate }: EndContext): DaemonSetState {
  if (state.rollout === undefined) return state;
  return { ...state, rollout: noteAnswers(state.rollout, gate.answerTimes) };
}

/** The stages as planned; kept by a run that planned none, until nobody asks for stages any more. */
function rolloutAfter({
  plan,
  subject,
  stored,
  ledger: { restoring },
}: FinishInput): DaemonSetState['rollout'] {
  if (plan.stages !== undefined) {
    const { record } = plan.stages;
    return restoring === undefined ? record : noteRestoring(record, restoring);
  }
  const isAsked = subject.daemonSet.metadata.annotations?.[POLICY_ANNOTATION] !== undefined;
  return isAsked ? stored.rollout : undefined;
}

/** The stored state; where this run did not act, without a list that counts no more. */
function listedAfter({ stored, subject, intents }: FinishInput): DaemonSetState {
  return stored === subject.state ? withListed(stored, {}, intents.settled) : stored;
}

/** Since when something of this run is open: own writes unseen, a status left to a later look. */
function openSince({
  ledger,
  stored,
  subject,
}: FinishInput): Pick<DaemonSetState, 'deferredSinceMs' | 'statusPostponedSinceMs'> {
  const { nowMs } = subject;
  // A run that was put off and only told its status goes on waiting.
  const isPutOff = ledger.problems.some(({ code }) => code === 'own-writes-unseen');
  const sinceMs = isPutOff ? (stored.deferredSinceMs ?? nowMs) : undefined;
  // Own writes are unseen from here on: the cap of the deferral counts from now.
  const deferredSinceMs = ledger.hasEffects ? nowMs : sinceMs;
  const statusPostponedSinceMs = ledger.isStatusPostponed
    ? (stored.statusPostponedSinceMs ?? nowMs)
    : undefined;
  return defined({ deferredSinceMs, statusPostponedSinceMs });
}

/** Stored entries that the plan still knows, never an advance whose delete was not recorded. */
function sweptOnly(stored: DaemonSetState, plan: Plan): DaemonSetState['backoff'] {
  const known = new Set(plan.backoff.map(({ node }) => node));
  return stored.backoff.filter(({ node }) => known.has(node));
}

type Part = DaemonSetState | DaemonSetState['history'];

function isSame(left: Part, right: Part): boolean {
  return isSameJson(left as unknown as Json, right as unknown as Json); // a state is plain JSON
}
