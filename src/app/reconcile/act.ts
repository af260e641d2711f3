/**
 * Steps 5 to 7 of a reconcile: confirm live, record intents, execute.
 *
 * Order of effects as upstream has it (spec 2.4, 2.8): claims, then creates, then deletes, also when
 * creates failed. Nothing is sent before the intents are recorded; whoever loses that write has done
 * nothing (S1–S5). Outcomes are noted in the ledger; the caller records them.
 */
import type { Plan } from '../../core/model/plan.ts';
import type { CreateIntent, DaemonSetState, DeleteIntent, Intent } from '../../core/model/state.ts';
import { mergeIntents, stampIntents } from '../../core/intents.ts';
import type { IntentJudgement } from '../../core/model/plan.ts';
import type { ClusterAccess } from '../../ports/cluster-access.ts';
import { executeClaims } from './adopt-release.ts';
import { checkFence } from './batch-fence.ts';
import type { Fence } from './batch-fence.ts';
import { confirmPlan } from './confirm.ts';
import type { ConfirmedPlan } from './confirm.ts';
import type { ConfirmedDelete } from './confirm-victims.ts';
import { effectDeadlineMs, mayContinue } from './context.ts';
import type { RunContext, ViewedSubject } from './context.ts';
import { executeCreates } from './execute-creates.ts';
import type { Ledger } from './ledger.ts';
import { noteCreates, noteDeletes } from './note-outcomes.ts';
import type { IntentBook } from './note-outcomes.ts';
import { writeState } from './record-state.ts';

/** What acting works with. */
export interface ActInput {
  readonly context: RunContext;
  readonly subject: ViewedSubject;
  readonly access: ClusterAccess;
  readonly ledger: Ledger;
  readonly intents: IntentJudgement;
  readonly isLive: boolean;
  /** Hash of the current revision that the plan was made with. */
  readonly currentHash: string | undefined;
}

/** The state as it stands after acting, or that another run was first. */
export type ActResult =
  { readonly kind: 'done'; readonly state: DaemonSetState } | { readonly kind: 'lost' };

/** True if the plan would touch pods. */
export function hasPodWork(plan: Plan): boolean {
  return (
    plan.creates.length > 0 ||
    plan.deletes.length > 0 ||
    plan.adopts.length > 0 ||
    plan.releases.length > 0
  );
}

/** Confirms, records and executes a plan. */
export async function actOnPlan(plan: Plan, input: ActInput): Promise<ActResult> {
  const { context, subject, ledger } = input;
  const confirmed = await confirmPlan(plan, input);
  const nowMs = context.dependencies.clock.nowMs();
  const intents = stampIntents(subject.state.intents, intentsOf(confirmed, nowMs));
  const isPatching = confirmed.adopts.length > 0 || confirmed.releases.length > 0;
  if (intents.length === 0 && !isPatching) {
    return { kind: 'done', state: withListed(subject.state, confirmed) };
  }
  const recorded = await recordIntents({ plan, confirmed, intents }, input);
  if (recorded.kind === 'lost') return { kind: 'lost' };
  ledger.recorded.push(...intents);
  ledger.events.push(...plan.events);
  const fence: Fence = { ...input, stateVersion: recorded.state.version };
  const book: IntentBook = { recorded: intents, before: subject.state.intents };
  const isClaimed = await claim(confirmed, input);
  if (isClaimed) await create(confirmed, { fence, book, ledger });
  else noteCreates({ results: [], notStarted: confirmed.creates }, book, ledger);
  await remove(confirmed, { fence, book, ledger });
  return { kind: 'done', state: recorded.state };
}

function intentsOf(confirmed: ConfirmedPlan, recordedAtMs: number): readonly Intent[] {
  const creates = confirmed.creates.map(({ node, name }): CreateIntent => ({
    kind: 'create',
    node,
    name,
    recordedAtMs,
  }));
  const deletes = confirmed.deletes.map(({ effect }): DeleteIntent => ({
    kind: 'delete',
    ...(effect.node === undefined ? {} : { node: effect.node }),
    name: effect.name,
    uid: effect.uid,
    resourceVersion: effect.resourceVersion,
    recordedAtMs,
    isAccepted: false,
  }));
  return [...creates, ...deletes];
}

function withListed(state: DaemonSetState, confirmed: ConfirmedPlan): DaemonSetState {
  const { foreignListed } = confirmed;
  return foreignListed === undefined ? state : { ...state, foreignListed };
}

async function recordIntents(
  made: {
    readonly plan: Plan;
    readonly confirmed: ConfirmedPlan;
    readonly intents: readonly Intent[];
  },
  input: ActInput,
): ReturnType<typeof writeState> {
  const { subject } = input;
  const { plan, confirmed } = made;
  const isHeldBack = new Set(
    plan.deletes
      .filter(({ uid, reason }) => reason === 'failed' && confirmed.unconfirmedUids.has(uid))
      .map(({ node }) => node),
  );
  const former = subject.state.backoff.filter(({ node }) => isHeldBack.has(node));
  const backoff = [...plan.backoff.filter(({ node }) => !isHeldBack.has(node)), ...former];
  const next: DaemonSetState = {
    ...withListed(subject.state, confirmed),
    intents: mergeIntents(subject.state.intents, {
      record: made.intents,
      settle: input.intents.settled,
    }),
    backoff,
  };
  return writeState(next, input);
}

/** False if a claim failed: nothing is created on top of it (spec 2.4). */
async function claim(confirmed: ConfirmedPlan, input: ActInput): Promise<boolean> {
  const { ledger } = input;
  const execution = await executeClaims(confirmed, input);
  ledger.patched += execution.patched;
  ledger.noteWritten('pods', execution.written);
  if (execution.missed > 0) {
    const message = `${execution.missed} pods to be claimed had changed`;
    ledger.add({ code: 'outcome-open', message, pace: 'soon' });
  }
  if (execution.failure === undefined) return true;
  ledger.add({ code: 'outcome-open', pace: 'backoff', ...execution.failure });
  return false;
}

interface StepInput {
  readonly fence: Fence;
  readonly book: IntentBook;
  readonly ledger: Ledger;
}

async function create(confirmed: ConfirmedPlan, { fence, book, ledger }: StepInput): Promise<void> {
  if (confirmed.creates.length === 0) return;
  noteCreates(await executeCreates(confirmed.creates, fence), book, ledger);
}

async function remove(confirmed: ConfirmedPlan, step: StepInput): Promise<void> {
  const victims = confirmed.deletes;
  if (victims.length === 0) return;
  const { fence, book, ledger } = step;
  const isFirst = confirmed.creates.length === 0;
  const answer =
    isFirst && mayContinue(fence.context)
      ? { kind: 'go' as const }
      : await checkFence(fence, { isCreating: false });
  if (answer.kind === 'stop') {
    ledger.add({ code: answer.code, message: answer.message, pace: 'soon' });
    noteDeletes(victims.map(neverSent), book, ledger);
    return;
  }
  const outcomes = await fence.access.execute(
    victims.map(({ effect }) => effect),
    { deadlineMs: effectDeadlineMs(fence.context) },
  );
  const sent = victims.map((victim, index) => ({
    victim,
    outcome: outcomes[index] ?? { kind: 'ambiguous' as const, message: 'no outcome' },
  }));
  noteDeletes(sent, book, ledger);
}

function neverSent(victim: ConfirmedDelete): {
  readonly victim: ConfirmedDelete;
  readonly outcome: { readonly kind: 'unsent'; readonly message: string };
} {
  return { victim, outcome: { kind: 'unsent', message: 'the batch was not started' } };
}
