/**
 * What an attempt does next, by all that is known: ask for something, end, or carry a plan out. Pure but for the clock.
 *
 *   plan ── needs something ──▶ need (needs.ts reads it, and this is asked again)
 *     ├── not fit to be acted on ──▶ the end of the run
 *     └── effects
 *
 * Differs from upstream: a run that is put off writes the status only where nothing but own pods is unseen, of a
 * generation that was observed before. What rests on an untrusted view (a cut, silence, own patches) tells nothing.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { isObserved } from '../../core/daemon-set/generation.ts';
import type { Guard, Plan, PlanNeed, StagingContext } from '../../core/model/plan.ts';
import type { PodCause } from '../../core/model/projections.ts';
import type { FormerTemplate } from '../../core/model/staged-progress.ts';
import { burstWithin } from '../../core/plan/bound-state.ts';
import { planReconcile } from '../../core/plan/plan.ts';
import { heldWrite } from '../../core/retry/retry.ts';
import { readPolicyOf } from '../../core/may-act/opt-in.ts';
import { arePodsFresh, spendsBudget } from '../../core/view/freshness.ts';
import type { PolicyReader } from '../../ports/fleet-reader.ts';
import { NO_POD_WORK } from './confirm/confirm.ts';
import { freshnessOf } from './confirm/guard.ts';
import { hasPodWork } from './execute/act.ts';
import { exitDeferred } from './load-input.ts';
import type { StepDependencies } from './process/dependencies.ts';
import type { StoredInputs } from './read/stored-inputs.ts';
import type { ReconcileInput, Waiting } from './run/context.ts';
import type { PutOff } from './run/exit.ts';
import type { Problem } from './run/result.ts';

/** What is not known yet, and has to be read before anything is done. */
export type Need =
  /** The current revision: nothing runs without history (spec 2.3 step 6). */
  | { readonly kind: 'history' }
  /** The view is too old to say who is available: one live list does (S3). */
  | { readonly kind: 'pods' }
  | PlanNeed;

export interface Effects {
  readonly kind: 'effects';
  readonly plan: Plan;
  readonly guard: Guard;
  /** True if live reads stand for a view that is too old: then each create is confirmed by its node. */
  readonly isLive: boolean;
  /** What keeps the run from being complete already. */
  readonly problem?: Problem;
}

/** What planning is given beside its input. */
interface PlanContext {
  readonly dependencies: Pick<StepDependencies, 'options' | 'policies' | 'clock'>;
}

export function planStep(
  input: ReconcileInput,
  context: PlanContext,
): Effects | { readonly kind: 'need'; readonly need: Need } | PutOff {
  const { guard, answers, waiting, isLive } = input;
  if (answers.history === undefined) return { kind: 'need', need: { kind: 'history' } };
  const whole = planUnder(guard, input, context);
  const need = whole.needs.find(({ kind }) => answers[kind] === undefined);
  if (need !== undefined) return { kind: 'need', need };
  // Which revisions go is decided when nothing of our own is unseen any more (spec 2.11).
  const plan = waiting === undefined ? whole : { ...whole, trims: [] };
  if (answers.pods !== undefined) return { kind: 'effects', plan, guard, isLive };
  if (waiting !== undefined && !hasPodWork(whole)) return putOff(waiting, input, context);
  const held = holdClaims(plan, input);
  if (held !== undefined) return { kind: 'effects', guard, isLive: false, ...held };
  return judgeFreshness(plan, input, context);
}

function planUnder(guard: Guard, input: ReconcileInput, { dependencies }: PlanContext): Plan {
  const { answers, state, currentHash, intents } = input;
  const { options, policies } = dependencies;
  const { requestTimeoutMs, burstPodsMax } = options;
  const { history, template, events: causes } = answers;
  const settled = history?.isSettled === true ? history.entry : undefined;
  const former = template?.kind === 'found' ? template.former : undefined;
  const staging = stagingOf({ ...input, policies, options, ...defined({ former, causes }) });
  return planReconcile(input.view, {
    guard,
    mode: input.stored.registration.mode,
    state,
    currentHash,
    ...defined({ currentRevision: settled?.uid }),
    intents,
    requestTimeoutMs,
    burstPodsMax: burstWithin(burstPodsMax, state),
    ...defined({ staging }),
  });
}

/**
 * Own pods are unseen, and there is nothing else to do: the run is put off, and tells what the view shows (spec 2.3 step
 * 9). An own status that is unseen is not followed by another, as a write and its event wake no second one (L5); nor are
 * counts that a live read gave followed by those of a view without it (ADR 0031).
 */
function putOff(waiting: Waiting, input: ReconcileInput, context: PlanContext): Effects | PutOff {
  const { guard, isStatusHeld } = waiting;
  const isSound =
    isObserved(input.daemonSet) &&
    !isStatusHeld &&
    freshnessOf(input, context, { unseenCount: 0, hasWork: true }).kind === 'fresh';
  const plan = isSound ? planUnder(guard, input, context) : undefined;
  if (plan?.status === undefined) return exitDeferred(waiting);
  const problem = { code: 'own-writes-unseen', message: guard.message, pace: 'soon' } as const;
  return { kind: 'effects', plan, guard, isLive: false, problem };
}

/** What there is to do is done by a view that is fresh enough for it, or by what is read live (protocol 1, S3). */
function judgeFreshness(
  plan: Plan,
  input: ReconcileInput,
  context: PlanContext,
): ReturnType<typeof planStep> {
  const { guard, stored, isLive } = input;
  if (guard.kind !== 'act' || !hasClusterWork(plan)) {
    return { kind: 'effects', plan, guard, isLive };
  }
  const { podsFreshMs } = context.dependencies.options;
  const isSpending = plan.deletes.some(spendsBudget);
  const spending = isSpending ? { podsFreshMs } : {};
  const freshness = freshnessOf(input, context, { unseenCount: 0, hasWork: true, ...spending });
  if (freshness.kind === 'defer' && !isLive) return exitDeferred(freshness);
  const at = { nowMs: context.dependencies.clock.nowMs(), withinMs: podsFreshMs };
  if (isSpending && !arePodsFresh(stored.meta, at)) {
    const isCopilot = stored.registration.mode === 'copilot';
    return isCopilot ? STALE : { kind: 'need', need: { kind: 'pods' } };
  }
  return { kind: 'effects', plan, guard, isLive: isLive || freshness.kind === 'live-read' };
}

/** In copilot a rolling update waits for the watcher: no pod is in a hurry to go, and the right to list pods is not asked for. */
const STALE: PutOff = {
  kind: 'back-off',
  reason: {
    code: 'cluster-silent',
    message: 'nothing was heard of pods lately; the rolling update waits for the watcher',
    holdsCreates: false,
  },
};

/** While refused claims wait for their back-off, nothing is done on top of them (spec 2.4). */
function holdClaims(
  wanted: Plan,
  input: ReconcileInput,
): Pick<Effects, 'plan' | 'problem'> | undefined {
  if (wanted.adopts.length + wanted.releases.length === 0) return undefined;
  const problem = heldWrite('claim-refused', input);
  if (problem === undefined) return undefined;
  return { plan: { ...wanted, ...NO_POD_WORK, trims: [] }, problem };
}

export function hasClusterWork(wanted: Plan): boolean {
  return hasPodWork(wanted) || wanted.status !== undefined || wanted.trims.length > 0;
}

// Absent without the annotation, and where Rollcall only watches. While a status says that a rollout runs, the watcher
// tells of itself every half minute, so less is silence; else the bound is that of any view.

export interface StagingInput {
  readonly daemonSet: DaemonSetObject;
  readonly stored: Pick<StoredInputs, 'meta' | 'registration'>;
  readonly nowMs: number;
  readonly policies: PolicyReader;
  readonly options: { readonly podsFreshMs: number; readonly silenceBoundMs: number };
  /** The template of the former revision, once it was read. */
  readonly former?: FormerTemplate;
  /** What Events tell of pods that never started. */
  readonly causes?: readonly PodCause[];
}

/** The context of its stages, if it asks for any. */
export function stagingOf(input: StagingInput): StagingContext | undefined {
  const { daemonSet, stored, policies, former, causes } = input;
  const { mode } = stored.registration;
  if (mode === 'observe') return undefined;
  const reading = readPolicyOf(daemonSet, policies);
  if (reading.kind === 'none') return undefined;
  const { era, epoch } = stored.meta;
  return {
    reading,
    mode,
    seenView: `${era}/${epoch}`,
    isViewFresh: isFresh(input),
    unheardMs: stored.meta.unheardMs ?? 0,
    ...defined({ former, causes }),
  };
}

function isFresh({ daemonSet, stored, nowMs, options }: StagingInput): boolean {
  const { updatedNumberScheduled = 0, desiredNumberScheduled = 0 } = daemonSet.status ?? {};
  const isRolling = updatedNumberScheduled < desiredNumberScheduled;
  const withinMs = isRolling ? options.podsFreshMs : options.silenceBoundMs;
  const { Node: nodesMs, Pod: podsMs } = stored.meta.heardAtMs;
  return [nodesMs, podsMs].every((heardMs) => heardMs !== undefined && nowMs - heardMs <= withinMs);
}
