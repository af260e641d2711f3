/**
 * Everything that is looked at live before anything is recorded or sent (design 3, step 5).
 *
 * The DaemonSet before creates and adoptions (S5), and before what goes for its template (S3); each victim
 * before its delete, unless its version says as much (S4); the guarded list beside foreign names, before a DaemonSet's first pods (protocol
 * 9) and where the store looks restored (protocol 15); and, once a deferral was capped, the node of each create.
 * What is not confirmed leaves the plan and is noted as a problem; nothing is written here.
 */
import { counted } from '@rollcall/base/counted.ts';
import { defined } from '@rollcall/base/defined.ts';
import { isResolvedByTime } from '../../../core/intents/intents.ts';
import type { Plan, PlannedCreate, PlannedDelete } from '../../../core/model/plan.ts';
import { confirmEdit, confirmVictims, isForTemplate, victimTrust } from './confirm-victims.ts';
import type { ConfirmedDelete, VictimConfirmation } from './confirm-victims.ts';
import { mayContinue, type NotedStep, type ReconcileInput } from '../run/context.ts';
import { checkForeignPods, foreignListedNow, isListedFor, ownPodsOf } from './live-pods.ts';
import type { ForeignListed } from './live-pods.ts';
import type { RunResult } from '../run/result.ts';
import {
  EDITED_MEANWHILE,
  confirmDaemonSet,
  isReplanned,
  unconfirmedCode,
} from './live-daemon-set.ts';
import type { DaemonSetConfirmation } from './live-daemon-set.ts';

/** Creates per run whose nodes are confirmed one by one, once a deferral was capped. */
const LIVE_CREATES_MAX = 50;

/** What survived the live reads. */
export interface ConfirmedPlan {
  readonly creates: readonly PlannedCreate[];
  readonly deletes: readonly ConfirmedDelete[];
  readonly adopts: Plan['adopts'];
  readonly releases: Plan['releases'];
  /** Made now; null: none counts, of whenever it is, as it shows unknown pods, or the store may have been restored. */
  readonly foreignListed?: ForeignListed | null;
  /** Nodes of deletes that were not confirmed: their back-off does not advance. */
  readonly unconfirmedUids: ReadonlySet<string>;
}

/** Confirms a plan live. */
export async function confirmPlan(plan: Plan, step: NotedStep): Promise<ConfirmedPlan> {
  const isMaking = plan.creates.length > 0;
  const [known, seen, creates] = await Promise.all([
    isMaking && needsList(step) ? confirmForeign(step) : undefined,
    confirmDeletes(plan, step),
    step.input.isLive ? confirmNodes(plan.creates, step) : plan.creates,
  ]);
  // One answer, after all others, for all that hangs on the DaemonSet: no later one can contradict it.
  const live = needsDaemonSet(plan, seen) ? await confirmDaemonSet(step) : undefined;
  const isConfirmed = noteUnconfirmed(live, step.result);
  const foreign = isMaking ? await listInDoubt(known, live, step) : known;
  noteVictims(seen, step.result);
  const listing = defined({ foreignListed: live?.isDoubtful === true ? null : foreign });
  if (leavesAll(plan, live)) {
    return { ...listing, ...NO_POD_WORK, unconfirmedUids: uidsOf(plan.deletes) };
  }
  const victims = keepUnedited(seen, live, step);
  return {
    creates: isConfirmed && foreign !== null ? creates : [],
    deletes: victims.confirmed,
    adopts: plan.adopts,
    releases: plan.releases,
    ...listing,
    unconfirmedUids: uidsOf([...victims.dropped, ...victims.unreadable]),
  };
}

/** Nothing that touches pods. */
export const NO_POD_WORK = { creates: [], deletes: [], adopts: [], releases: [] } as const;

function uidsOf(deletes: readonly PlannedDelete[]): ReadonlySet<string> {
  return new Set(deletes.map(({ uid }) => uid));
}

function needsDaemonSet(plan: Plan, victims: VictimConfirmation): boolean {
  const isMaking = plan.creates.length > 0 || plan.adopts.length > 0;
  return isMaking || victims.confirmed.some(isForTemplate);
}

/** A paused DaemonSet is left alone as a whole; and a claim that fails fails the run (spec 2.4): the plan counted the orphans as ours. */
function leavesAll({ adopts }: Plan, live: DaemonSetConfirmation | undefined): boolean {
  if (live === undefined || live.kind === 'confirmed') return false;
  return live.kind === 'paused' || adopts.length > 0;
}

/** What only the template wants gone goes for the one that is live, or not at all. */
function keepUnedited(
  seen: VictimConfirmation,
  live: DaemonSetConfirmation | undefined,
  { input, result }: NotedStep,
): VictimConfirmation {
  if (live === undefined || !seen.confirmed.some(isForTemplate)) return seen;
  if (live.kind === 'confirmed' && isReplanned(live.object, input.daemonSet)) {
    result.add({ code: 'daemon-set-changed', message: EDITED_MEANWHILE, pace: 'backoff' });
  }
  return confirmEdit(seen, live, input.daemonSet);
}

/** False if what hangs on the DaemonSet is left out, and why is noted. */
function noteUnconfirmed(live: DaemonSetConfirmation | undefined, result: RunResult): boolean {
  if (live === undefined || live.kind === 'confirmed') return true;
  result.add({ code: unconfirmedCode(live), message: live.message, pace: 'backoff' });
  return false;
}

/** Confirms victims, by live reads where their versions do not say enough. */
async function confirmDeletes(plan: Plan, step: NotedStep): Promise<VictimConfirmation> {
  const { context, input, access, result } = step;
  if (input.stored.meta.isCutOpen && plan.deletes.length > 0) {
    // No delete while a cut is open (protocol 2), however long it has been open.
    result.add({ code: 'cut-open', message: 'deletes wait for the end of a cut', pace: 'backoff' });
    return { confirmed: [], dropped: plan.deletes, unreadable: [] };
  }
  return confirmVictims(plan.deletes, {
    reader: access,
    trust: victimTrust(input.state.movedVictims, input),
    ownPods: ownPodsOf(input.stored.registration, input.view, access, context.dependencies),
    view: input.view,
    currentHash: input.currentHash,
    nowMs: () => context.dependencies.clock.nowMs(),
    mayContinue: () => mayContinue(context),
  });
}

function noteVictims(victims: VictimConfirmation, result: RunResult): void {
  if (victims.unreadable.length > 0) {
    const message = `${counted(victims.unreadable.length, 'pod')} to be deleted could not be read`;
    result.add({ code: 'cluster-unavailable', message, pace: 'backoff' });
  }
  if (victims.dropped.length > 0) {
    const message = `${counted(victims.dropped.length, 'pod changed since it was', 'pods changed since they were')} seen`;
    result.add({ code: 'outcome-open', message, pace: 'backoff' });
  }
}

/** True if creates wait for a list, whatever the store of the DaemonSet tells. */
function needsList({ input }: NotedStep): boolean {
  const { isLive, intents } = input;
  const now = foreignListedNow(input.stored);
  return (
    isLive ||
    isFirstCreate(input, now.era) ||
    intents.settled.some(isResolvedByTime) ||
    // Names are looked at last: of thousands of pods.
    (!isListedFor(input.state.foreignListed, now) && input.view.hasForeignNames)
  );
}

/** A store that looks restored may have brought pods back: they are listed, if they were not just now (protocol 15). */
async function listInDoubt(
  known: ForeignListed | null | undefined,
  live: DaemonSetConfirmation | undefined,
  step: NotedStep,
): Promise<typeof known> {
  const isOpen = known === undefined && live?.kind === 'confirmed' && live.isDoubtful;
  return isOpen ? confirmForeign(step) : known;
}

/** A list that was made now and shows no pod that the view does not know; null: it does, or did not come. */
async function confirmForeign(step: NotedStep): Promise<ForeignListed | null> {
  const { input, access, result } = step;
  const { intents } = input;
  const now = foreignListedNow(input.stored);
  const { view, read } = input;
  const knownUids = new Set<string>(read.pods.map((pod) => pod.uid));
  const open = [...intents.unseen, ...intents.unresolved];
  const check = await checkForeignPods({ view, open, knownUids, now }, access);
  if (check.kind === 'clear') return check.listed;
  if (check.kind === 'unavailable') {
    result.add({ code: 'cluster-unavailable', message: check.message, pace: 'backoff' });
    return null;
  }
  const message = `pods that the view does not know: ${check.names.slice(0, 5).join(', ')}`;
  result.add({ code: 'foreign-pods-unseen', message, pace: 'backoff' });
  return null;
}

/**
 * Pods that a DaemonSet of the same name left behind may be on their way to the view: each type has a
 * watch of its own, and nothing orders them. They are adopted, never doubled (S1, faults row 85). After a
 * loss of the state, pods that the view does not show yet may have names that cannot be computed. In a
 * new era the answers of the one before are void, and those given since etcd was restored with them:
 * their pods may have other names than a strategy gives now, so names alone do not fence (row 71).
 */
function isFirstCreate({ state }: ReconcileInput, era: number): boolean {
  return state.foreignListed?.era !== era;
}

/** The nodes of some creates, live: the view was not fresh, so each must still be there. */
async function confirmNodes(
  creates: readonly PlannedCreate[],
  { access, result }: NotedStep,
): Promise<readonly PlannedCreate[]> {
  const some = creates.slice(0, LIVE_CREATES_MAX);
  if (some.length < creates.length) {
    const message = 'creates beside a silent watcher are confirmed node by node';
    result.add({ code: 'capped', message, pace: 'soon' });
  }
  const reads = await Promise.all(some.map(({ node }) => access.getNode(node)));
  return some.filter((_create, index) => {
    const read = reads[index];
    return read?.kind === 'found' && read.object.metadata.deletionTimestamp === undefined;
  });
}
