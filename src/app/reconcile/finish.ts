/**
 * Step 8 of a reconcile: due time sent, then recorded with outcomes and memo in one write.
 *
 * Nothing is written when nothing changed. The memo is part of the same item, and only of a complete
 * run (protocol 11); if the write is lost, outcomes are merged and the memo is forgotten. A crash
 * before the write leaves open intents and an unacknowledged hint: both lead back here (row 75).
 */
import { canonicalJson } from '../../core/model/json.ts';
import type { Json } from '../../core/model/json.ts';
import type { NodeName } from '../../core/model/identifiers.ts';
import { mergeIntents } from '../../core/intents.ts';
import type { Plan } from '../../core/model/plan.ts';
import type { IntentJudgement } from '../../core/model/plan.ts';
import { revisionHashOfPod } from '../../core/pod-facts.ts';
import type {
  DaemonSetState,
  EventTally,
  HistoryEntry,
  RetryEntry,
} from '../../core/model/state.ts';
import { allowsSurge } from '../../core/strategy.ts';
import type { RunContext, ViewedSubject } from './context.ts';
import type { Ledger, Problem } from './ledger.ts';
import { intentChangeOf, mergeOutcomes, raiseWritten, writeState } from './record-state.ts';
import { nextRefusals, nextRetry } from './retry.ts';
import { planSchedule, sendTimers, shouldRepeat } from './schedule.ts';
import type { DueTimes } from './schedule.ts';
import { memoOf } from './skip.ts';

/** After effects, a look this soon finds what the watcher never reported (row 91). */
const LOOK_AFTER_EFFECTS_MS = 2_000;

/** What finishing works with. */
export interface FinishInput {
  readonly context: RunContext;
  readonly subject: ViewedSubject;
  readonly ledger: Ledger;
  readonly plan: Plan;
  readonly intents: IntentJudgement;
  /** The state as stored now: read, or written with intents. */
  readonly stored: DaemonSetState;
  readonly history: HistoryEntry | undefined;
  readonly verdictsHash: string | undefined;
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
  const { options, random } = context.dependencies;
  const isComplete = ledger.isComplete && plan.cappedCount === 0;
  const retry = decideRetry(input);
  const refusals = decideRefusals(input);
  const schedule = planSchedule({
    state: input.stored,
    nowMs: subject.nowMs,
    nearAtMs: findNear(input, { retry, refusals }),
    memoLifeMs: options.memoLifeMs,
    random: random.next(),
  });
  const { dueSentAtMs } = input.stored;
  const timersAtMs = schedule.timersAtMs.filter(
    (atMs) => atMs !== dueSentAtMs || shouldRepeat(context, atMs, subject.nowMs),
  );
  await sendTimers(context, timersAtMs);
  const next = composeState(input, { isComplete, retry, refusals, due: schedule.due });
  if (!isSame(input.stored, next)) {
    const write = await writeState(next, { context, subject });
    if (write.kind === 'lost') {
      await mergeOutcomes(ledger, { context, subject });
      return { isComplete: false, dueAtMs: schedule.due.dueAtMs };
    }
  }
  return { isComplete, dueAtMs: schedule.due.dueAtMs };
}

type Refusals = NonNullable<DaemonSetState['refusals']>;

function decideRetry({ context, subject, ledger, stored }: FinishInput): RetryEntry | undefined {
  const { options, random } = context.dependencies;
  const at = { nowMs: subject.nowMs, random, options };
  const problem = ledger.problems.find(({ pace }) => pace === 'backoff');
  if (problem !== undefined) return nextRetry(stored.retry, retryReasonOf(problem), at);
  const { retry } = stored;
  return retry !== undefined && retry.holdsCreates && retry.notBeforeMs > subject.nowMs
    ? retry
    : undefined;
}

function retryReasonOf(problem: Problem): Parameters<typeof nextRetry>[1] {
  const { code, holdsCreates = false, retryAfterMs } = problem;
  return { code, holdsCreates, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

function decideRefusals(input: FinishInput): Refusals {
  const { context, subject, ledger, stored } = input;
  if (ledger.refused.length === 0 && (stored.refusals ?? []).length === 0) return [];
  const { options, random } = context.dependencies;
  return nextRefusals(
    stored,
    {
      generation: subject.daemonSet.metadata.generation ?? 0,
      refused: ledger.refused,
      clearedNodes: ledger.clearedNodes,
      lackingNodes: lackingNodesOf(input),
    },
    { nowMs: subject.nowMs, random, options },
  );
}

/**
 * Nodes that should have a pod and have none: only for these a refusal is still of interest. With surge the
 * pod is one of the current revision: an older one beside it says nothing about names.
 */
function lackingNodesOf({ subject, history }: FinishInput): ReadonlySet<NodeName> {
  const { view } = subject;
  const hash = allowsSurge(view.daemonSet) ? history?.hash : undefined;
  const lacking = view.nodes.filter(
    ({ placement, pods }) =>
      placement === 'run' &&
      pods.every(
        (pod) => pod.isTerminating || (hash !== undefined && revisionHashOfPod(pod) !== hash),
      ),
  );
  return new Set(lacking.map(({ node }) => node.name));
}

/** The earliest need to look again, if time or this run gives one. */
function findNear(
  { context, subject, ledger, plan }: FinishInput,
  decided: { readonly retry: RetryEntry | undefined; readonly refusals: Refusals },
): number | undefined {
  const { nowMs } = subject;
  const { deferralLookMs } = context.dependencies.options;
  const isSoon = ledger.problems.some(({ pace }) => pace === 'soon');
  const hasOpen = ledger.hasEffects || ledger.isStatusPostponed || plan.cappedCount > 0;
  const moments = [
    plan.dueAtMs,
    decided.retry?.notBeforeMs,
    isSoon ? nowMs + deferralLookMs : undefined,
    hasOpen ? nowMs + LOOK_AFTER_EFFECTS_MS : undefined,
    // One that expired was tried again in this run, or waits for something else that has its time.
    ...decided.refusals.map(({ notBeforeMs }) => notBeforeMs).filter((atMs) => atMs > nowMs),
  ].filter((moment) => moment !== undefined);
  return moments.length === 0 ? undefined : Math.min(...moments);
}

function composeState(
  input: FinishInput,
  decided: {
    readonly isComplete: boolean;
    readonly retry: RetryEntry | undefined;
    readonly refusals: Refusals;
    readonly due: DueTimes;
  },
): DaemonSetState {
  const { context, subject, ledger, plan, stored, history, verdictsHash } = input;
  const {
    retry: _retry,
    refusals: _refusals,
    deferredSinceMs: _since,
    statusPostponedSinceMs: _postponed,
    memo: _memo,
    ...kept
  } = stored;
  const version = ledger.isStatusAsSeen ? ledger.written.daemonSet : undefined;
  const memo = {
    ...memoOf(subject.basis, {
      release: context.dependencies.options.release,
      nowMs: subject.nowMs,
    }),
    ...(version === undefined ? {} : { daemonSetVersion: version }),
  };
  return {
    ...kept,
    intents: mergeIntents(stored.intents, {
      answers: intentChangeOf(ledger).answers ?? [],
      settle: [...input.intents.settled, ...ledger.settled],
    }),
    written: raiseWritten(stored, ledger, subject.basis.meta.era),
    // Advanced back-off is recorded with the intents of the deletes; here only swept.
    backoff: ledger.recorded.length === 0 ? sweptOnly(stored, plan) : stored.backoff,
    ...decided.due,
    ...(decided.retry === undefined ? {} : { retry: decided.retry }),
    ...(decided.refusals.length === 0 ? {} : { refusals: decided.refusals }),
    ...(history === undefined ? {} : { history }),
    ...(verdictsHash === undefined ? {} : { verdictsHash }),
    ...(input.tallies === undefined ? {} : { events: input.tallies }),
    ...openSince(input),
    ...(decided.isComplete ? { memo } : {}),
  };
}

/** Since when something of this run is open: own writes unseen, a status left to a later look. */
function openSince({
  ledger,
  stored,
  subject,
}: FinishInput): Pick<DaemonSetState, 'deferredSinceMs' | 'statusPostponedSinceMs'> {
  const { nowMs } = subject;
  return {
    // Own writes are unseen from here on: the cap of the deferral counts from now.
    ...(ledger.hasEffects ? { deferredSinceMs: nowMs } : {}),
    ...(ledger.isStatusPostponed
      ? { statusPostponedSinceMs: stored.statusPostponedSinceMs ?? nowMs }
      : {}),
  };
}

/** Stored entries that the plan still knows, never an advance whose delete was not recorded. */
function sweptOnly(stored: DaemonSetState, plan: Plan): DaemonSetState['backoff'] {
  const known = new Set(plan.backoff.map(({ node }) => node));
  return stored.backoff.filter(({ node }) => known.has(node));
}

function isSame(left: DaemonSetState, right: DaemonSetState): boolean {
  return textOf(left) === textOf(right);
}

function textOf(state: DaemonSetState): string {
  return canonicalJson(state as unknown as Json); // a state is plain JSON
}
