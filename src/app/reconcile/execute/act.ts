/**
 * Steps 5 to 7 of a reconcile: confirm live, record intents, execute.
 *
 * Claims come first, and if one fails nothing is done on top of it (spec 2.4). Deletes go also when
 * creates fail (spec 2.8). Nothing is sent before the intents are recorded, so a run that loses that write
 * to another one has sent nothing yet (S1–S5). Outcomes are noted in the ledger; the caller records them.
 *
 * Differs from upstream: deletes do not wait for the creates. These take many batches, each fenced; the
 * deletes of a rollout would be confirmed long before they are sent, or the run would be over.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { Plan } from '../../../core/model/plan.ts';
import type {
  CreateIntent,
  DaemonSetState,
  DeleteIntent,
  Intent,
} from '../../../core/model/state.ts';
import { failedDaemonPodEvent, succeededDaemonPodEvent } from '../../../core/events/events.ts';
import { mergeIntents, stampIntents } from '../../../core/intents/merge-intents.ts';
import { executeClaims } from '../confirm/adopt-release.ts';
import type { Fence } from '../confirm/batch-fence.ts';
import { buriedAfter, shrinkAfter, withListed } from '../run/record-state.ts';
import { confirmPlan } from '../confirm/confirm.ts';
import type { ConfirmInput, ConfirmedPlan } from '../confirm/confirm.ts';
import { effectDeadlineMs } from '../run/context.ts';
import type { RunContext, StateWrite } from '../run/context.ts';
import { executeCreates } from './execute-creates.ts';
import { executeDeletes, neverSent } from './execute-deletes.ts';
import type { Ledger } from '../run/ledger.ts';
import { noteCreates, noteDeletes } from './note-outcomes.ts';
import type { IntentBook } from './note-outcomes.ts';

/** The state as it stands after acting, or that another run was first; or the intents were not fit to be recorded. */
export type ActResult =
  | { readonly kind: 'done'; readonly state: DaemonSetState }
  | Exclude<StateWrite, { kind: 'written' }>;

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
export async function actOnPlan(plan: Plan, input: ConfirmInput): Promise<ActResult> {
  const { context, subject, ledger } = input;
  const confirmed = await confirmPlan(plan, input);
  const intents = stampIntents(subject.state.intents, intentsOf(confirmed, timesOf(context)));
  const isPatching = confirmed.adopts.length > 0 || confirmed.releases.length > 0;
  if (intents.length === 0 && !isPatching) {
    return { kind: 'done', state: withListed(subject.state, confirmed, input.intents.settled) };
  }
  const recorded = await recordIntents({ plan, confirmed, intents }, input);
  if (recorded.kind !== 'written') return recorded;
  ledger.recorded.push(...intents);
  ledger.events.push(...tellableEvents(plan, confirmed, subject.view.namespace));
  const fence: Fence = {
    ...input,
    stateVersion: recorded.state.version,
    isStale: isPatching,
    halt: {},
  };
  const book: IntentBook = { recorded: intents, before: subject.state.intents };
  const step: StepInput = { fence, book, ledger };
  if (await executeClaims(confirmed, fence, ledger)) {
    await Promise.all([create(confirmed, step), remove(confirmed, step)]);
  } else {
    noteCreates({ results: [], notStarted: confirmed.creates }, book, ledger);
    noteDeletes(confirmed.deletes.map(neverSent), book, ledger);
  }
  return { kind: 'done', state: recorded.state };
}

/** When intents are recorded, and until when this run may send them (protocol 5). */
function timesOf(context: RunContext): Pick<Intent, 'recordedAtMs' | 'startsByMs'> {
  const { clock } = context.dependencies;
  const recordedAtMs = clock.nowMs();
  const leftMs = Math.max(0, effectDeadlineMs(context) - clock.monotonicMs());
  return { recordedAtMs, startsByMs: Math.ceil(recordedAtMs + leftMs) };
}

function intentsOf(
  confirmed: ConfirmedPlan,
  times: Pick<Intent, 'recordedAtMs' | 'startsByMs'>,
): readonly Intent[] {
  const creates = confirmed.creates.map(({ node, name }): CreateIntent => ({
    kind: 'create',
    node,
    name,
    ...times,
  }));
  const deletes = confirmed.deletes.map(({ effect }): DeleteIntent => ({
    kind: 'delete',
    ...(effect.node === undefined ? {} : { node: effect.node }),
    name: effect.name,
    uid: effect.uid,
    resourceVersion: effect.resourceVersion,
    ...times,
    isAccepted: false,
  }));
  return [...creates, ...deletes];
}

/** Events of the plan, without those of finished pods that were not found as they were seen. */
function tellableEvents(
  plan: Plan,
  { unconfirmedUids }: ConfirmedPlan,
  namespace: string,
): Plan['events'] {
  const untold = plan.deletes
    .filter(({ uid }) => unconfirmedUids.has(uid))
    .flatMap(({ name, node, reason }) => {
      if (node === undefined) return [];
      if (reason === 'failed') return [failedDaemonPodEvent({ namespace, name, node }).message];
      if (reason === 'succeeded')
        return [succeededDaemonPodEvent({ namespace, name, node }).message];
      return [];
    });
  return plan.events.filter(({ message }) => !untold.includes(message));
}

async function recordIntents(
  made: {
    readonly plan: Plan;
    readonly confirmed: ConfirmedPlan;
    readonly intents: readonly Intent[];
  },
  input: ConfirmInput,
): Promise<StateWrite> {
  const { subject } = input;
  const { plan, confirmed } = made;
  const isHeldBack = new Set(
    plan.deletes
      .filter(({ uid, reason }) => reason === 'failed' && confirmed.unconfirmedUids.has(uid))
      .map(({ node }) => node),
  );
  const former = subject.state.backoff.filter(({ node }) => isHeldBack.has(node));
  const backoff = [...plan.backoff.filter(({ node }) => !isHeldBack.has(node)), ...former];
  const { settled } = input.intents;
  const { buried: _former, ...kept } = withListed(subject.state, confirmed, settled);
  const next: DaemonSetState = {
    ...kept,
    ...buriedAfter(subject.state, settled, subject),
    intents: mergeIntents(subject.state.intents, {
      record: made.intents,
      settle: settled,
    }),
    backoff,
    // A step is opened by the write that records the first deletes it allows.
    ...defined({ rollout: plan.stages?.record }),
    ...shrinkAfter(subject.state, plan),
  };
  return input.context.recordIntents(subject.basis.ref, { from: subject.state, to: next, settled });
}

interface StepInput {
  readonly fence: Fence;
  readonly book: IntentBook;
  readonly ledger: Ledger;
}

async function create({ creates }: ConfirmedPlan, step: StepInput): Promise<void> {
  if (creates.length === 0) return;
  noteCreates(await executeCreates(creates, step.fence), step.book, step.ledger);
}

async function remove({ deletes }: ConfirmedPlan, step: StepInput): Promise<void> {
  if (deletes.length === 0) return;
  const { fence, book, ledger } = step;
  const { sent, stopped } = await executeDeletes(deletes, fence);
  if (stopped !== undefined) ledger.addStop(stopped);
  noteDeletes(sent, book, ledger);
}
