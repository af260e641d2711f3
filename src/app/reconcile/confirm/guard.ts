/**
 * May this run act, and on what (design 3, step 3; protocol 1–4, 13)? The mode and the freeze, then doubts about the view.
 *
 * A doubt defers; a deferral is capped, and then live reads take the place of what was not seen. Open deletes, and created pods
 * that the view was read past and never showed, are read live before they are judged (S1). Silence is the caller's matter.
 * Who would act by all that looks at the sentinel and at a pause, last.
 * Differs from upstream: an unseen create or delete of a pod holds back its node, not the DaemonSet.
 */
import { generationOf, isObserved } from '../../../core/daemon-set/generation.ts';
import { resourceVersion, uid, type Uid } from '../../../core/model/identifiers.ts';
import { judgeFreshness } from '../../../core/view/freshness.ts';
import type { Freshness, FreshnessGuard, FreshnessInput } from '../../../core/view/freshness.ts';
import {
  confirmedForMs,
  isConfirmed,
  judgeIntents,
  unshownCreates,
  hasUnseenWrites,
} from '../../../core/intents/intents.ts';
import type { Guard, IntentJudgement } from '../../../core/model/plan.ts';
import type { PodProjection } from '../../../core/model/projections.ts';
import { guardOfSubject } from '../../../core/may-act/registration-guard.ts';
import type { Intent } from '../../../core/model/state.ts';
import type { ClusterReader } from '../../../ports/cluster/cluster-access.ts';
import type { ReconcileOptions } from '../process/dependencies.ts';
import type { Judged, LoadedInput, RunContext, Waiting } from '../run/context.ts';
import { projectLivePod } from '../../../core/projections/project.ts';
import { SENTINEL_KEY } from '../../../core/may-act/takeover-sentinel.ts';
import { guardOfPause } from '../../../core/status/status-writers.ts';
import { confirmDaemonSet } from './live-daemon-set.ts';

/** What a run may do. */
export type Judgement =
  | (Judged & {
      readonly kind: 'judged';
      /** Pods as read, with what live reads added. */
      readonly pods: readonly PodProjection[];
    })
  | { readonly kind: 'defer'; readonly guard: FreshnessGuard; readonly retryInMs: number }
  | { readonly kind: 'unavailable'; readonly message: string };

/** What judging without live reads needs of a run. */
interface Judging {
  readonly dependencies: { readonly options: ReconcileOptions };
}

/** Freshness of a view; `hasWork` brings silence into it. */
export function freshnessOf(
  input: Pick<LoadedInput, 'stored' | 'state' | 'nowMs'>,
  context: Judging,
  doubt: Pick<FreshnessInput, 'unseenCount' | 'hasWork' | 'podsFreshMs'>,
): Freshness {
  const { options } = context.dependencies;
  return judgeFreshness({
    meta: input.stored.meta,
    nowMs: input.nowMs,
    silentAfterMs: options.silenceBoundMs,
    deferralCapMs: options.deferralMaxMs,
    deferredSinceMs: input.state.deferredSinceMs,
    ...doubt,
  });
}

/** What the run may do by what was read, by the sentinel and by a pause. */
export async function judgeInput(input: LoadedInput, context: RunContext): Promise<Judgement> {
  const judged = await judgeWrites(input, context);
  return checkPause(await checkSentinel(judged, input, context), input, context);
}

/** Judges intents and freshness of what was read. */
async function judgeWrites(input: LoadedInput, context: RunContext): Promise<Judgement> {
  const whole = freshnessOf(input, context, { unseenCount: 0, hasWork: false });
  if (whole.kind === 'defer' && whole.guard.code === 'view-incomplete') return whole;
  const registered = guardOfSubject(
    input.stored.registration,
    input.daemonSet,
    input.stored.frozen,
  );
  const { first, unshown } = judgeStored(input, context);
  if (registered.kind !== 'act') {
    const { pods } = input.read;
    const intents = keepUnshown(first, unshown);
    return { kind: 'judged', guard: registered, intents, pods, isLive: false };
  }
  const openDeletes = first.unresolved.filter((intent) => intent.kind === 'delete');
  const { nowMs } = input;
  const isFound = (intent: Intent): boolean => isConfirmed(intent, nowMs);
  const asked: readonly Intent[] = unshown.filter((intent) => !isFound(intent));
  const live = await readLive([...openDeletes, ...asked], input);
  if (live === undefined) return { kind: 'unavailable', message: 'own writes are unreadable' };
  const intents = keepUnshown(judgeByLive(input, context, live), unshown.filter(isFound));
  const marks = judgeMarks(input);
  const confirmed = intents.unseen.filter(isFound);
  const doubtful = intents.unseen.filter((intent) => !isFound(intent));
  const freshness = freshnessOf(input, context, {
    unseenCount: doubtful.length + (marks === 'seen' ? 0 : 1),
    hasWork: false,
  });
  if (freshness.kind === 'live-read' || hasOverdue(doubtful, nowMs, context)) {
    return judgeLive(input, context, live, intents);
  }
  const { pods } = input.read;
  const found = { intents: intents.unseen.filter((each) => asked.includes(each)), atMs: nowMs };
  const judged = {
    kind: 'judged',
    guard: registered,
    intents,
    pods,
    isLive: false,
    found,
  } as const;
  const waiting = findWaiting(freshness, { confirmed, marks, nowMs });
  if (waiting !== undefined) return { ...judged, waiting };
  return freshness.kind === 'fresh' ? judged : freshness;
}

/** Judges intents by stored reads alone, without a live read. */
export function judgeUnasked(
  input: Parameters<typeof judgeByLive>[0],
  context: Judging,
): IntentJudgement {
  const { first, unshown } = judgeStored(input, context);
  return keepUnshown(first, unshown);
}

function judgeStored(
  input: Parameters<typeof judgeByLive>[0],
  context: Judging,
): { readonly first: IntentJudgement; readonly unshown: readonly Intent[] } {
  const first = judgeByLive(input, context, new Map());
  const { state, stored, read } = input;
  return {
    first,
    unshown: unshownCreates(first, { state, era: stored.meta.era, pods: read.pods }),
  };
}

/** What is not asked for live stays recorded: it is for a run that may act, or was found a moment ago (ADR 0031). */
function keepUnshown(judged: IntentJudgement, unshown: readonly Intent[]): IntentJudgement {
  if (unshown.length === 0) return judged;
  const isKept = new Set(unshown);
  return {
    ...judged,
    unseen: [...judged.unseen, ...unshown],
    settled: judged.settled.filter((intent) => !isKept.has(intent)),
  };
}

/** Own writes beside which others may go on: those that the view does not show, read live a moment ago or not yet. */
function findWaiting(
  freshness: Exclude<Freshness, { kind: 'live-read' }>,
  step: {
    readonly confirmed: readonly Intent[];
    readonly marks: ReturnType<typeof judgeMarks>;
    readonly nowMs: number;
  },
): Waiting | undefined {
  const { confirmed, marks, nowMs } = step;
  if (freshness.kind === 'fresh') {
    if (confirmed.length === 0) return undefined;
    const retryInMs = confirmedForMs(confirmed, nowMs);
    return { guard: CONFIRMED, retryInMs, isStatusHeld: true };
  }
  const { guard, retryInMs } = freshness;
  if (guard.code !== 'own-writes-unseen' || marks === 'unseen') return undefined;
  const isStatusHeld = marks === 'status-unseen' || confirmed.length > 0;
  return { guard, retryInMs, isStatusHeld };
}

const CONFIRMED: FreshnessGuard = {
  kind: 'status-only',
  code: 'own-writes-unseen',
  message: 'Own writes were read live a moment ago; waiting for the watcher to report them.',
};

/**
 * An intent that stayed unseen for as long as a deferral may last: while others go on, no run defers,
 * so each has a cap of its own (row 64).
 */
function hasOverdue(unseen: readonly Intent[], nowMs: number, context: Judging): boolean {
  const { deferralMaxMs } = context.dependencies.options;
  return unseen.some(({ recordedAtMs }) => nowMs - recordedAtMs >= deferralMaxMs);
}

type LivePods = ReadonlyMap<Uid, PodProjection | null>;

/** The cap is reached: live reads say what became of what was never seen (rows 64, 91). */
async function judgeLive(
  input: LoadedInput,
  context: RunContext,
  known: LivePods,
  intents: IntentJudgement,
): Promise<Judgement> {
  const unread = intents.unseen.filter((intent) => !known.has(awaitedUidOf(intent)));
  const unseen = await readLive(unread, input);
  if (unseen === undefined) return { kind: 'unavailable', message: 'own writes are unreadable' };
  const live: LivePods = new Map([...known, ...unseen]);
  const pods = input.read.pods.filter((pod) => !live.has(pod.uid));
  for (const pod of live.values()) if (pod !== null) pods.push(pod);
  // By what the view shows: what it does not show yet, the next run does not know either.
  const judged = judgeByLive(input, context, live);
  return {
    kind: 'judged',
    guard: { kind: 'act' },
    intents: judged,
    pods,
    isLive: true,
    found: { intents: judged.unseen, atMs: input.nowMs },
  };
}

/** Intents judged by what its view shows and by what was found live; null: gone. */
export function judgeByLive(
  input: Pick<LoadedInput, 'stored' | 'state' | 'read' | 'nowMs'>,
  context: Judging,
  live: LivePods,
): IntentJudgement {
  return judgeIntents({
    state: input.state,
    pods: input.read.pods,
    marks: input.stored.meta.marks,
    era: input.stored.meta.era,
    nowMs: input.nowMs,
    requestTimeoutMs: context.dependencies.options.requestTimeoutMs,
    live,
  });
}

/**
 * Marks of own writes that are not intents: patches of pods, revisions, the DaemonSet's status. What
 * they changed cannot be accounted for, so nothing is planned before they are seen. A status counts
 * for nothing in a plan once it has observed the generation and history is known for it.
 */
function judgeMarks(input: LoadedInput): 'seen' | 'status-unseen' | 'unseen' {
  const { marks, era } = input.stored.meta;
  const { written, history } = input.state;
  const version = input.stored.daemonSet.object?.metadata.resourceVersion;
  const seen = version === undefined ? {} : { daemonSetVersion: resourceVersion(version) };
  if (!hasUnseenWrites({ written, marks, era, ...seen })) return 'seen';
  const { daemonSet: _status, ...others } = written;
  const { daemonSet } = input;
  const isSettled = isObserved(daemonSet) && history?.generation === generationOf(daemonSet);
  return isSettled && !hasUnseenWrites({ written: others, marks, era })
    ? 'status-unseen'
    : 'unseen';
}

/** Pods of intents as they are now; undefined when one cannot be read. */
async function readLive(
  intents: readonly Intent[],
  input: LoadedInput,
): Promise<LivePods | undefined> {
  const live = new Map<Uid, PodProjection | null>();
  if (intents.length === 0) return live;
  const reader = await input.access.get();
  if (reader === undefined) return undefined;
  const namespace = input.daemonSet.metadata.namespace ?? '';
  const reads = await Promise.all(
    intents.map((intent) => readIntent(intent, { reader, namespace })),
  );
  for (const read of reads) {
    if (read === undefined) return undefined;
    live.set(read.uid, read.pod);
  }
  return live;
}

/** The pod that an intent waits for; empty while it is unknown. */
function awaitedUidOf(intent: Intent): Uid {
  return intent.kind === 'delete' ? intent.uid : (intent.answer?.uid ?? uid(''));
}

async function readIntent(
  intent: Intent,
  at: { readonly reader: ClusterReader; readonly namespace: string },
): Promise<{ readonly uid: Uid; readonly pod: PodProjection | null } | undefined> {
  const wanted = awaitedUidOf(intent);
  const live = await at.reader.getPod({ namespace: at.namespace, name: intent.name });
  if (live.kind === 'unavailable') return undefined;
  if (live.kind === 'missing') return { uid: wanted, pod: null };
  const pod = projectLivePod(live.object);
  return { uid: wanted, pod: pod.uid === wanted ? pod : null };
}

// Does the sentinel of the registered takeover still stand? Only then does a run act in takeover (ADR 0012).
//
// A hand-back ends with the sentinel's deletion, and each takeover leaves one of its own: a registration that says
// takeover beside a cluster without its sentinel is older than the hand-back (a registry that was restored), or a user
// deleted it. The view knows it by its UID; where it does not show it, or nothing was heard lately, a live read decides.
// A registration that names none is believed until the next probe: takeover is never entered without one.

/** A judgement as it stands once the sentinel was looked for: who would not act anyway need not look. */
async function checkSentinel(
  judgement: Judgement,
  input: LoadedInput,
  context: RunContext,
): Promise<Judgement> {
  if (judgement.kind !== 'judged' || judgement.guard.kind === 'observe') return judgement;
  const { registration, sentinel: shown } = input.stored;
  const { mode, sentinel } = registration;
  if (mode !== 'takeover' || sentinel === undefined) return judgement;
  const { log, metrics } = context.dependencies;
  const isHeard = freshnessOf(input, context, { unseenCount: 0, hasWork: true }).kind === 'fresh';
  if (isHeard && shown !== undefined && shown.object !== null) return judgement;
  const access = await input.access.get();
  if (access === undefined) return { kind: 'unavailable', message: 'no access' };
  const live = await access.getDaemonSet(SENTINEL_KEY);
  if (live.kind === 'unavailable') return { kind: 'unavailable', message: live.message };
  if (live.kind === 'found' && live.object.metadata.uid === sentinel.uid) return judgement;
  metrics.count('ConflictingControllers', { outcome: 'sentinel-missing' });
  log.error('the sentinel of the takeover is gone; nothing is done in this cluster', {
    cluster: registration.id,
    code: 'sentinel-missing',
  });
  return { ...judgement, guard: SENTINEL_MISSING };
}

/** Why nothing is done in a cluster whose takeover lost its sentinel. */
export const SENTINEL_MISSING: Guard = {
  kind: 'observe',
  code: 'sentinel-missing',
  message:
    'The sentinel of this takeover is gone: the cluster may have been handed back, or the sentinel was deleted. ' +
    'Nothing is done here until takeover is entered anew.',
};

/** A judgement as it stands once the pause was looked at: who would not act anyway need not look. */
async function checkPause(
  judgement: Judgement,
  input: LoadedInput,
  context: RunContext,
): Promise<Judgement> {
  const { stored, state, nowMs } = input;
  if (judgement.kind !== 'judged' || judgement.guard.kind !== 'act') return judgement;
  if (state.paused === undefined) return judgement;
  const held = guardOfPause(state.paused, stored.registration, nowMs);
  if (held !== undefined) return observed(judgement, held);
  const access = await input.access.get();
  if (access === undefined) return { kind: 'unavailable', message: 'no access' };
  const live = await confirmDaemonSet({ context, input, access });
  if (live.kind === 'unavailable') return { kind: 'unavailable', message: live.message };
  const again = guardOfPause(context.note.paused, stored.registration, nowMs);
  return again === undefined ? judgement : observed(judgement, again);
}

/** What waits for own writes to be seen would tell a status meanwhile: the counters are the other one's now. */
function observed(
  { waiting: _waiting, ...judgement }: Extract<Judgement, { kind: 'judged' }>,
  guard: Guard,
): Judgement {
  return { ...judgement, guard };
}
