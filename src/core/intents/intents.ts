/**
 * Intents: effects recorded before they are sent, judged against what has been seen since (protocol 3–5).
 *
 *  record intent ──▶ send ──▶ answer recorded ──▶ seen in the view, or mark passed and not alive ──▶ settled
 *                      └─(no answer)─▶ unresolved: re-issued as it was, or dead (request-life.ts)
 *
 * Differs from upstream: identities and marks instead of counters that expire after five minutes.
 */
import {
  compareResourceVersions,
  type Uid,
  isResourceVersion,
  newerVersion,
  type ResourceVersion,
} from '../model/identifiers.ts';
import type { IntentJudgement } from '../model/plan.ts';
import type { PodProjection } from '../model/projections.ts';
import type { CreateIntent, DaemonSetState, DeleteIntent, Intent } from '../model/state.ts';
import type { Marks } from '../model/watcher-message.ts';
import { resolvedAtMs } from '../pod/request-life.ts';
import { tombstonesOfAnswered } from '../pod/tombstones.ts';
import { withoutLatest, intentIdentity } from './merge-intents.ts';

export interface JudgeIntentsInput {
  readonly state: Pick<DaemonSetState, 'intents' | 'written'>;
  /** All pods of the set as read, claimed or not. */
  readonly pods: readonly PodProjection[];
  readonly marks: Marks;
  readonly era: number;
  readonly nowMs: number;
  readonly requestTimeoutMs: number;
  /** Pods of intents as a live read found them; null: gone. Wins over `pods` and marks (protocol 4). */
  readonly live?: ReadonlyMap<Uid, PodProjection | null>;
}

/** Sorts the intents of a state into unseen, unresolved and settled (protocol 3–5, S1). */
export function judgeIntents(input: JudgeIntentsInput): IntentJudgement {
  const shown = shownPods(input);
  const podsByUid = new Map([...shown, ...(input.live ?? [])]);
  const lists = {
    unseen: new Array<Intent>(),
    unresolved: new Array<Intent>(),
    settled: new Array<Intent>(),
  };
  for (const intent of input.state.intents) {
    const list =
      intent.kind === 'create'
        ? judgeCreate(intent, input, { known: podsByUid, shown })
        : judgeDelete(intent, input, { known: podsByUid, shown });
    lists[list].push(intent);
  }
  return lists;
}

/** Of all pods those that an intent is about: a few of thousands. */
function shownPods({ state, pods }: JudgeIntentsInput): Map<Uid, PodProjection | null> {
  const awaited = new Set<Uid>();
  for (const intent of state.intents) {
    const awaitedUid = intent.kind === 'delete' ? intent.uid : intent.answer?.uid;
    if (awaitedUid !== undefined) awaited.add(awaitedUid);
  }
  const shown = new Map<Uid, PodProjection | null>();
  // Stryker disable next-line ConditionalExpression: saves a look at each pod where nothing is awaited
  if (awaited.size === 0) return shown;
  for (const pod of pods) if (awaited.has(pod.uid)) shown.set(pod.uid, pod);
  return shown;
}

/**
 * Creates that are settled by a mark alone: made and gone before the watcher reported them, or hidden by the view, as by a
 * watcher that filters wrongly. Another pod beside one that lives would break S1, so they are read live first.
 */
export function unshownCreates(
  { settled }: Pick<IntentJudgement, 'settled'>,
  input: Pick<JudgeIntentsInput, 'state' | 'era' | 'pods'>,
): readonly CreateIntent[] {
  if (input.state.written.era !== input.era) return [];
  const answered = settled.filter(
    (intent): intent is CreateIntent => intent.kind === 'create' && intent.answer !== undefined,
  );
  // Stryker disable next-line ConditionalExpression: saves a look at each pod where nothing was settled
  if (answered.length === 0) return [];
  const shown = new Set(input.pods.map(({ uid }) => uid));
  return answered.filter(({ answer }) => answer !== undefined && !shown.has(answer.uid));
}

type PodsByUid = ReadonlyMap<Uid, PodProjection | null>;

function judgeCreate(
  intent: CreateIntent,
  input: JudgeIntentsInput,
  pods: { readonly known: PodsByUid; readonly shown: PodsByUid },
): keyof IntentJudgement {
  const { answer } = intent;
  // A name in the view proves nothing: the request may still be on its way, so only time resolves.
  if (answer === undefined) return isDead(intent, input) ? 'settled' : 'unresolved';
  const found = pods.known.get(answer.uid);
  // What only a live read found is forgotten by the next run, unless it stays recorded (S3, S10). A mark says that a
  // pod which was never shown is gone, if the view hides none: a live read knows better (S1).
  const isMet =
    isOldEra(input) ||
    pods.shown.has(answer.uid) ||
    found === null ||
    (found === undefined && hasPassed(input.marks.Pod, answer.resourceVersion));
  if (!isMet) return 'unseen';
  // An earlier request of that name, never answered, may outlive the pod that the later one made.
  return intent.earlier === undefined || isDead(intent, input) ? 'settled' : 'unresolved';
}

function judgeDelete(
  intent: DeleteIntent,
  input: JudgeIntentsInput,
  pods: { readonly known: PodsByUid; readonly shown: PodsByUid },
): keyof IntentJudgement {
  if (intent.isAccepted && isAnswerVoid(intent, input)) return 'settled';
  const pod = pods.known.get(intent.uid);
  // What a live read found gone may look alive in the view: it must not count as available (S3).
  if (!isAlive(pod)) return isAlive(pods.shown.get(intent.uid)) ? 'unseen' : 'settled';
  const hasMoved =
    !isOldEra(input) && compareResourceVersions(pod.resourceVersion, intent.resourceVersion) > 0;
  if (hasMoved) return 'settled';
  if (intent.isAccepted) return 'unseen';
  return isDead(intent, input) ? 'settled' : 'unresolved';
}

/**
 * True if the answer to a delete is of a history that etcd has left: of another era, or before a restore that was not noticed yet.
 * A live read after the answer finds the pod terminating or gone, unless etcd was restored in between (row 71).
 */
function isAnswerVoid({ uid }: DeleteIntent, input: JudgeIntentsInput): boolean {
  return isOldEra(input) || isAlive(input.live?.get(uid));
}

function isAlive(pod: PodProjection | null | undefined): pod is PodProjection {
  return pod !== undefined && pod !== null && !pod.isTerminating;
}

/** The state was written under another history of etcd: answers and versions are void. */
function isOldEra(input: JudgeIntentsInput): boolean {
  return input.state.written.era !== input.era;
}

/** No request of the intent can be on its way any more (protocol 5, an assumption we publish). */
function isDead(
  intent: Intent,
  at: { readonly nowMs: number; readonly requestTimeoutMs: number },
): boolean {
  return at.nowMs >= resolvedAtMs(intent, at.requestTimeoutMs);
}

/**
 * True of a settled create of which a request was never answered, so that only time resolved it: what that one made
 * at its last moment, a view may not show yet.
 */
export function isResolvedByTime(settled: Intent): boolean {
  return (
    settled.kind === 'create' && (settled.answer === undefined || settled.earlier !== undefined)
  );
}

/**
 * A state for this era. In a new one, answers of the old are void: those intents go, unanswered ones
 * stay until they are resolved (design 3, ingest; protocol 14). Same object when nothing changes.
 */
export function rebaseState(state: DaemonSetState, era: number, nowMs: number): DaemonSetState {
  if (state.written.era === era) return state;
  const intents = state.intents.flatMap((intent) => {
    const isAnswered = intent.kind === 'create' ? intent.answer !== undefined : intent.isAccepted;
    return isAnswered ? (withoutLatest(intent) ?? []) : intent;
  });
  // Generations are given out again: what was current at one of them says nothing now.
  const { history: _void, ...kept } = state;
  // What they had made bore its name all the same (S13).
  const buried = [...(state.buried ?? []), ...tombstonesOfAnswered(state.intents, nowMs)];
  return {
    ...kept,
    intents,
    written: rebaseWrittenMarks(state.written, era),
    ...(buried.length === 0 ? {} : { buried }),
  };
}

/** How long a live read of an intent's pod stands for the next one, milliseconds: as long as a deferral may last. */
export const CONFIRMED_FOR_MS = 30_000;

/**
 * True while a live read of this intent's pod need not be repeated (faults row 64, ADR 0031): a thousand open creates
 * would be a thousand reads in every run. It stays unseen, so its node gets nothing else (S1, S2), and its pod counts as
 * unavailable (S3); only that it is gone may be learned this much later. A clock that went back confirms nothing.
 */
export function isConfirmed({ confirmedAtMs }: Intent, nowMs: number): boolean {
  if (confirmedAtMs === undefined) return false;
  const agoMs = nowMs - confirmedAtMs;
  return agoMs >= 0 && agoMs < CONFIRMED_FOR_MS;
}

/** Milliseconds until the first of these is to be read again; at most CONFIRMED_FOR_MS. */
export function confirmedForMs(intents: readonly Intent[], nowMs: number): number {
  const left = intents.map(({ confirmedAtMs = nowMs }) => confirmedAtMs + CONFIRMED_FOR_MS - nowMs);
  return Math.min(CONFIRMED_FOR_MS, ...left);
}

/** Intents that were found live, and when they were asked for, milliseconds since the epoch. */
export interface FoundIntents {
  readonly intents: readonly Intent[];
  readonly atMs: number;
}

/** Notes a live read in the stored intents: in the very records that were read, no later ones of their identity. */
export function confirmIntents(
  stored: readonly Intent[],
  found: FoundIntents | undefined,
): readonly Intent[] {
  if (found === undefined) return stored;
  const { intents, atMs: confirmedAtMs } = found;
  const readAt = new Map(intents.map((intent) => [intentIdentity(intent), intent.recordedAtMs]));
  return stored.map((intent) =>
    readAt.get(intentIdentity(intent)) === intent.recordedAtMs
      ? { ...intent, confirmedAtMs }
      : intent,
  );
}

/** Marks of our own writes, as the state keeps them. */
type WrittenMarks = DaemonSetState['written'];

/**
 * True if a type has been read as far as this version (spec 2.3 step 1, protocol 3); false while it has not been read
 * at all. A mark vouches only for a version that a successful write returned, and only in its era.
 */
function hasPassed(mark: ResourceVersion | undefined, version: ResourceVersion): boolean {
  return mark !== undefined && compareResourceVersions(mark, version) >= 0;
}

/** Marks of own writes for this era: those of another era vouch for nothing (design 3, ingest). */
export function rebaseWrittenMarks(written: WrittenMarks, era: number): WrittenMarks {
  return written.era === era ? written : { era };
}

/** Raises the mark of one type to a version that a successful write returned (protocol 3). */
export function noteWritten(
  written: WrittenMarks,
  write: {
    readonly era: number;
    readonly type: 'pods' | 'daemonSet' | 'revisions';
    readonly resourceVersion: ResourceVersion;
  },
): WrittenMarks {
  const base = rebaseWrittenMarks(written, write.era);
  // A version that cannot be compared must never block (spec 2.3 step 1).
  if (!isResourceVersion(write.resourceVersion)) return base;
  const isKnown = hasPassed(base[write.type], write.resourceVersion);
  return isKnown ? base : { ...base, [write.type]: write.resourceVersion };
}

/** True while a type has not been read as far as we have written it, in this era (spec 2.3 step 1). */
export function hasUnseenWrites(input: {
  readonly written: WrittenMarks;
  readonly marks: Marks;
  readonly era: number;
  /** Version of the DaemonSet that was read: seeing it is as good as the mark. */
  readonly daemonSetVersion?: ResourceVersion;
}): boolean {
  const { written, marks } = input;
  if (written.era !== input.era) return false;
  const daemonSetMark = newerVersion(marks.DaemonSet, input.daemonSetVersion);
  return (
    isBehind(marks.Pod, written.pods) ||
    isBehind(daemonSetMark, written.daemonSet) ||
    isBehind(marks.ControllerRevision, written.revisions)
  );
}

function isBehind(
  mark: ResourceVersion | undefined,
  version: ResourceVersion | undefined,
): boolean {
  return isResourceVersion(version) && !hasPassed(mark, version);
}
