/**
 * Steps 5 to 7 of a reconcile: confirm live, record intents, execute. A run that loses the record has sent nothing (S1–S5).
 *
 * Claims come first, and if one fails nothing is done on top of it (spec 2.4). Deletes go also when creates fail (spec 2.8).
 * Differs from upstream: deletes do not wait for the creates, whose many fenced batches would outlast their confirmation; and they
 * go in batches of their own, each fenced, by UID and version.
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
import { entriesOf, type WantedEffect } from '../../../core/log/effect-entries.ts';
import { withEntries } from '../../../core/log/append-log.ts';
import type { EffectEntry } from '../../../core/model/log-entry.ts';
import { mergeIntents, stampIntents } from '../../../core/intents/merge-intents.ts';
import { executeClaims } from './adopt-release.ts';
import { sendFenced, type FencedSending, type NotedFence } from '../confirm/batch-fence.ts';
import { buriedAfter, removalAfter, withListed } from '../run/record-state.ts';
import { confirmPlan, type ConfirmedPlan } from '../confirm/confirm.ts';
import {
  effectDeadlineMs,
  type NotedStep,
  type RunContext,
  type StateWrite,
} from '../run/context.ts';
import { executeCreates } from './execute-creates.ts';
import { noteCreates, noteDeletes, type IntentBook } from './note-outcomes.ts';
import { isForTemplate, type ConfirmedDelete } from '../confirm/confirm-victims.ts';

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
export async function actOnPlan(plan: Plan, step: NotedStep): Promise<ActResult> {
  const { context, input, result } = step;
  const confirmed = await confirmPlan(plan, step);
  const intents = stampIntents(input.state.intents, intentsOf(confirmed, timesOf(context)));
  const isPatching = confirmed.adopts.length > 0 || confirmed.releases.length > 0;
  if (intents.length === 0 && !isPatching) {
    return { kind: 'done', state: withListed(input.state, confirmed, input.intents.settled) };
  }
  const entries = entriesOf(wantedOf(confirmed), {
    atMs: context.dependencies.clock.nowMs(),
    run: input.state.version + 1,
  });
  const recorded = await recordIntents({ plan, confirmed, intents, entries }, step);
  if (recorded.kind !== 'written') return recorded;
  result.logged.push(...entries);
  result.recorded.push(...intents);
  result.events.push(...tellableEvents(plan, confirmed, input.view.namespace));
  const fence: NotedFence = {
    ...step,
    stateVersion: recorded.state.version,
    isStale: isPatching,
    halt: {},
  };
  const book: IntentBook = { recorded: intents, before: input.state.intents };
  if (await executeClaims(confirmed, fence)) {
    await Promise.all([create(confirmed, fence, book), remove(confirmed, fence, book)]);
  } else {
    noteCreates({ results: [], notStarted: confirmed.creates }, book, result);
    noteDeletes(confirmed.deletes.map(neverSent), book, result);
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

/** For the log: what is about to be sent, and why. */
function wantedOf({ creates, deletes, adopts, releases }: ConfirmedPlan): readonly WantedEffect[] {
  return [
    ...adopts.map((pod): WantedEffect => ({ effect: 'adopt', name: pod.targetNode ?? pod.name })),
    ...releases.map((pod): WantedEffect => ({
      effect: 'release',
      name: pod.targetNode ?? pod.name,
    })),
    ...creates.map(({ node }): WantedEffect => ({ effect: 'create', name: node })),
    ...deletes.map(({ planned: { node, name, reason, repeats } }): WantedEffect => {
      return { effect: 'delete', name: node ?? name, cause: repeats ?? reason };
    }),
  ];
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
    readonly entries: readonly EffectEntry[];
  },
  step: NotedStep,
): Promise<StateWrite> {
  const { input } = step;
  const { plan, confirmed } = made;
  const isHeldBack = new Set(
    plan.deletes
      .filter(({ uid, reason }) => reason === 'failed' && confirmed.unconfirmedUids.has(uid))
      .map(({ node }) => node),
  );
  const former = input.state.backoff.filter(({ node }) => isHeldBack.has(node));
  const backoff = [...plan.backoff.filter(({ node }) => !isHeldBack.has(node)), ...former];
  const { settled } = input.intents;
  const { buried: _former, ...kept } = withListed(input.state, confirmed, settled);
  const next: DaemonSetState = {
    ...kept,
    ...buriedAfter(input.state, settled, input),
    intents: mergeIntents(input.state.intents, {
      record: made.intents,
      settle: settled,
    }),
    backoff,
    // A step is opened by the write that records the first deletes it allows.
    ...defined({ rollout: plan.stages?.record }),
    ...removalAfter(input.state, plan),
  };
  const to = withEntries(next, made.entries);
  return step.context.recordIntents(input.stored.ref, { from: input.state, to, settled });
}

async function create(
  { creates }: ConfirmedPlan,
  fence: NotedFence,
  book: IntentBook,
): Promise<void> {
  if (creates.length === 0) return;
  noteCreates(await executeCreates(creates, fence), book, fence.result);
}

async function remove(
  { deletes }: ConfirmedPlan,
  fence: NotedFence,
  book: IntentBook,
): Promise<void> {
  if (deletes.length === 0) return;
  const { sent, stopped } = await executeDeletes(deletes, fence);
  if (stopped !== undefined) fence.result.addStop(stopped);
  noteDeletes(sent, book, fence.result);
}

/** Deletes sent side by side. */
const DELETES_AT_ONCE = 100;

/** All deletes of a run in their order, each with what came of it. */
type DeleteExecution = FencedSending<ConfirmedDelete>;

/** Sends batches until all are sent or something says stop. */
async function executeDeletes(
  victims: readonly ConfirmedDelete[],
  fence: NotedFence,
): Promise<DeleteExecution> {
  const { sent, ...end } = await sendFenced(victims, fence, {
    size: DELETES_AT_ONCE,
    isForTemplate,
    // An API server that turns requests away is asked again later, not 150 times more.
    isLast: ({ kind }) => kind === 'unsent',
  });
  return { sent: [...sent, ...victims.slice(sent.length).map(neverSent)], ...end };
}

/** A delete that this run will not send any more. */
function neverSent(item: ConfirmedDelete): DeleteExecution['sent'][number] {
  return { item, outcome: { kind: 'unsent', message: 'the batch was not started' } };
}
