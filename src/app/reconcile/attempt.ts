/**
 * One attempt at a reconcile: the eight steps of design 3 in their order.
 *
 *   read → skip? → guard → plan → confirm → record intents → execute → record outcomes
 *
 * Every branch that cannot go on says how the run ends (exit.ts); end-run.ts arranges the next look.
 *
 * Differs from upstream: a run that is put off writes the status only where nothing but own pods is unseen, of a
 * generation that was observed before. What rests on an untrusted view (a cut, silence, own patches) tells nothing.
 */
import { arePodsFresh, spendsBudget } from '../../core/view/freshness.ts';
import { computeView } from '../../core/view/view.ts';
import type { Plan } from '../../core/model/plan.ts';
import type { DaemonSetState } from '../../core/model/state.ts';
import { buryMissing } from '../../core/pod/tombstones.ts';
import { NO_POD_WORK } from './confirm/confirm.ts';
import { checkPause, checkSentinel } from './confirm/rival-checks.ts';
import { actOnPlan, hasPodWork } from './execute/act.ts';
import type { ActResult } from './execute/act.ts';
import { keepCopy } from './execute/keep-copy.ts';
import { restoreTemplate } from './execute/restore-template.ts';
import type { RunContext, LoadedInput, ReconcileInput } from './run/context.ts';
import type { Conclusion, Exit } from './run/exit.ts';
import { noteFormer } from './history/former.ts';
import { findHistory } from './history/find-history.ts';
import { freshnessOf, judgeInput } from './confirm/guard.ts';
import type { Waiting } from './confirm/guard.ts';
import { RunResult } from './run/result.ts';
import type { Problem } from './run/result.ts';
import { exitAwaiting, loadInput } from './load-input.ts';
import { currentHashOf, planAttempt, planWhole } from './plan-attempt.ts';
import type { Attempt } from './plan-attempt.ts';
import { relistPods } from './needs.ts';
import { heldWrite } from '../../core/retry/retry.ts';
import {
  giveNotStagedNotice,
  giveRivalNotice,
  giveShrinkNotice,
  noteStages,
} from './status/notices.ts';
import { trimHistory } from './history/trim-history.ts';
import { updateStatus } from './status/update-status.ts';

/** Runs the steps once. */
export async function attemptReconcile(context: RunContext): Promise<Exit> {
  const opening = await loadInput(context);
  if (opening.kind !== 'opened') return opening;
  const { input } = opening;
  const judged = await judgeInput(input, context);
  const guarded = await checkSentinel(judged, input, context);
  const judgement = await checkPause(guarded, input, context);
  if (judgement.kind === 'unavailable') {
    return { kind: 'unavailable', message: judgement.message, input };
  }
  if (judgement.kind === 'defer') {
    const { guard } = judgement;
    if (guard.code === 'view-incomplete') return exitAwaiting(guard.message, input.nowMs);
    return exitDeferred(judgement, input);
  }
  const current = judgement.isLive ? await refreshLive(input) : input;
  if (current === undefined) {
    return { kind: 'unavailable', message: 'the DaemonSet is unreadable', input };
  }
  const history = await findHistory(current, judgement.guard, context);
  if (history.kind !== 'entry') return history;
  const { daemonSet, read, nowMs } = current;
  const { pods } = judgement;
  const { nodes, revisions } = read;
  const gone = [...read.gone, ...buryMissing(read.pods, pods, nowMs)];
  const view = computeView({ daemonSet, nodes, pods, gone, revisions, nowMs });
  const shown = read.pods;
  const viewed: ReconcileInput = { ...current, read: { ...read, pods }, shown, view };
  const { entry, isSettled: isHistorySettled } = history;
  return decide({ context, input: viewed, judgement, history: entry, isHistorySettled });
}

function exitDeferred(
  doubt: Pick<Waiting, 'guard' | 'retryInMs'>,
  input: LoadedInput,
): Extract<Exit, { kind: 'deferral' }> {
  const { code: doubted, message } = doubt.guard;
  const code = DEFERRAL_CODES.find((each) => each === doubted) ?? 'cluster-unavailable';
  return { kind: 'deferral', deferral: { code, message, delayMs: doubt.retryInMs }, input };
}

const DEFERRAL_CODES = [
  'cluster-silent',
  'cut-open',
  'own-writes-unseen',
  'view-incomplete',
] as const;

/** With a capped deferral the live DaemonSet takes the place of the one that was read. */
async function refreshLive(input: LoadedInput): Promise<LoadedInput | undefined> {
  const access = await input.access.get();
  if (access === undefined) return undefined;
  const { namespace = '', name } = input.daemonSet.metadata;
  const live = await access.getDaemonSet({ namespace, name });
  if (live.kind !== 'found' || live.object.metadata.uid !== input.stored.ref.uid) return undefined;
  return { ...input, daemonSet: live.object };
}

/** True if the plan would send anything. */
function hasClusterWork(wanted: Plan): boolean {
  return hasPodWork(wanted) || wanted.status !== undefined || wanted.trims.length > 0;
}

/** The same, or tells something. */
function hasRequests(wanted: Plan): boolean {
  const isKeeping = wanted.restores !== undefined || wanted.copy !== undefined;
  return hasClusterWork(wanted) || wanted.stageEvents.length > 0 || isKeeping;
}

async function decide(found: Attempt): Promise<Exit> {
  const { judged, whole } = await planWhole(found);
  const { input, judgement } = judged;
  const { waiting } = judgement;
  if (waiting !== undefined && !hasPodWork(whole)) return putOff(judged, waiting);
  const wanted = withoutTrims(whole, judgement);
  const held = holdClaims(wanted, input);
  if (held !== undefined)
    return carryOut(judged, { ...held, guard: judgement.guard, isLive: false });
  return decideByFreshness(judged, wanted);
}

/** Which revisions go is decided when nothing of our own is unseen any more (spec 2.11). */
function withoutTrims(whole: Plan, { waiting }: Attempt['judgement']): Plan {
  return waiting === undefined ? whole : { ...whole, trims: [] };
}

/**
 * Own pods are unseen, and there is nothing else to do: the run is put off, and tells what the view shows (spec 2.3 step
 * 9). An own status that is unseen is not followed by another, as a write and its event wake no second one (L5); nor are counts that
 * a live read gave followed by those of a view without it (ADR 0039).
 */
async function putOff(judged: Attempt, waiting: Waiting): Promise<Exit> {
  const { input, context } = judged;
  const { guard, isStatusHeld } = waiting;
  const { metadata, status } = input.daemonSet;
  const isObserved = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
  const isSound =
    isObserved &&
    !isStatusHeld &&
    freshnessOf(input, context, { unseenCount: 0, hasWork: true }).kind === 'fresh';
  const told = isSound ? planAttempt(judged, guard) : undefined;
  if (told?.status === undefined) return exitDeferred(waiting, input);
  const problem = { code: 'own-writes-unseen', message: guard.message, pace: 'soon' } as const;
  return carryOut(judged, { plan: told, guard, isLive: false, problem });
}

/** What there is to do is done by a view that is fresh enough for it, or by what is read live (protocol 1, S3). */
async function decideByFreshness(judged: Attempt, wanted: Plan): Promise<Exit> {
  const { input, context, judgement } = judged;
  const hasWork = hasClusterWork(wanted);
  if (judgement.guard.kind !== 'act' || !hasWork) {
    return carryOut(judged, { plan: wanted, guard: judgement.guard, isLive: judgement.isLive });
  }
  const { podsFreshMs } = context.dependencies.options;
  const isSpending = wanted.deletes.some(spendsBudget);
  const spending = isSpending ? { podsFreshMs } : {};
  const freshness = freshnessOf(input, context, { unseenCount: 0, hasWork: true, ...spending });
  if (freshness.kind === 'defer' && !judgement.isLive) {
    return exitDeferred(freshness, input);
  }
  const isLive = judgement.isLive || freshness.kind === 'live-read';
  const at = { nowMs: context.dependencies.clock.nowMs(), withinMs: podsFreshMs };
  const isCounted = !isSpending || arePodsFresh(input.stored.meta, at);
  const decision = { plan: wanted, guard: judgement.guard, isLive };
  if (!isCounted && input.stored.registration.mode === 'copilot') return exitStale(input);
  return isCounted ? carryOut(judged, decision) : carryOutListed(judged, decision);
}

/** In copilot a rolling update waits for the watcher: no pod is in a hurry to go, and the right to list pods is not asked for. */
function exitStale(input: ReconcileInput): Exit {
  const message = 'nothing was heard of pods lately; the rolling update waits for the watcher';
  return {
    kind: 'back-off',
    reason: { code: 'cluster-silent', message, holdsCreates: false },
    input,
  };
}

/** The view is too old to say who is available: a fresh walk over one live list does (S3). */
async function carryOutListed(judged: Attempt, decision: Decision): Promise<Exit> {
  const { context, input, judgement } = judged;
  const relisted = await relistPods(input, context);
  if (relisted.kind === 'unavailable') {
    return { kind: 'unavailable', message: relisted.message, input };
  }
  const { pods } = relisted.input.read;
  const { intents } = relisted;
  const { input: live } = relisted;
  const listed = { ...judged, input: live, judgement: { ...judgement, intents, pods } };
  const planned = withoutTrims(planAttempt(listed, decision.guard), judgement);
  return carryOut(listed, { ...decision, plan: planned, isLive: true });
}

/** While refused claims wait for their back-off, nothing is done on top of them (spec 2.4). */
function holdClaims(
  wanted: Plan,
  input: ReconcileInput,
): Pick<Decision, 'plan' | 'problem'> | undefined {
  if (wanted.adopts.length + wanted.releases.length === 0) return undefined;
  const problem = heldWrite('claim-refused', input);
  if (problem === undefined) return undefined;
  return { plan: { ...wanted, ...NO_POD_WORK, trims: [] }, problem };
}

type Decision = Conclusion['decision'] & {
  /** What keeps the run from being complete already. */
  readonly problem?: Problem;
  readonly isLive: boolean;
};

async function carryOut(judged: Attempt, decision: Decision): Promise<Exit> {
  const { context, input, judgement } = judged;
  const { guard, problem } = decision;
  const result = new RunResult();
  result.add(problem);
  noteFormer(judged, result);
  const { stageEvents } = decision.plan;
  const needsAccess = guard.kind !== 'observe' && hasRequests(decision.plan);
  const access = needsAccess ? await input.access.get() : undefined;
  if (needsAccess && access === undefined) {
    return { kind: 'unavailable', message: 'no access', input };
  }
  let recorded: DaemonSetState = input.state;
  if (access !== undefined) {
    const { intents } = judgement;
    if (guard.kind === 'act' && hasPodWork(decision.plan)) {
      const { isLive } = decision;
      const currentHash = currentHashOf(judged);
      const step = { context, input, access, result, intents, isLive, currentHash };
      const acted = await actOnPlan(decision.plan, step);
      if (acted.kind !== 'done') return exitUnrecorded(acted, input);
      recorded = acted.state;
    }
    result.events.push(...stageEvents);
    noteStages(decision.plan, context);
    const { version: stateVersion } = recorded;
    const sending = { context, input, plan: decision.plan, access, result, stateVersion };
    if (context.note.paused === undefined) await sendRest(sending, judgement);
  }
  const telling = await giveNotices({ context, input, result, guard });
  const step = { context, input, result, access: access ?? telling };
  const told = await giveShrinkNotice(decision.plan, step);
  const conclusion = { decision, result, recorded, access: told };
  return { kind: 'carried-out', judged, conclusion };
}

/** What is written besides pods: nothing, once somebody else was found to write the status. */
async function sendRest(
  sending: Parameters<typeof keepCopy>[0],
  { waiting }: Attempt['judgement'],
): Promise<void> {
  await restoreTemplate(sending);
  await keepCopy(sending);
  await trimHistory(sending.plan.trims, sending);
  if (waiting?.isStatusHeld === true) sending.result.isStatusPostponed = true;
  else await updateStatus(sending);
}

/** What a DaemonSet is told for which nothing is done; answers the access that it is written with. */
async function giveNotices(
  step: Parameters<typeof giveRivalNotice>[0],
): ReturnType<typeof giveRivalNotice> {
  return (await giveRivalNotice(step)) ?? giveNotStagedNotice(step);
}

/** Intents were not recorded, so nothing was sent. */
function exitUnrecorded(write: Exclude<ActResult, { kind: 'done' }>, input: LoadedInput): Exit {
  if (write.kind === 'lost') return write;
  const { invariant, message } = write.breach;
  const reason = {
    code: 'invariant',
    message: `${invariant}: ${message}`,
    holdsCreates: true,
  } as const;
  return { kind: 'back-off', reason, input };
}
