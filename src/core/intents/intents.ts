/**
 * Intents: effects recorded before they are sent, judged against what has been seen since.
 *
 *   record intent ──▶ send ──▶ answer recorded ──▶ seen in the view, or mark passed and not alive ──▶ settled
 *                       └─(no answer)─▶ unresolved: re-issued as it was, or dead (request-life.ts)
 *
 * Rules: a mark vouches only for a version that a successful write returned, and only in its era
 * (protocol 3); what has no answer is re-issued under the same name, or the same UID and version
 * (protocol 4); twice the request time-out after the last moment at which its run might send it resolves it
 * (protocol 5). Nothing else expires by the clock: an accepted delete that a live read contradicts was answered in a history that etcd left (row
 * 71). Merging goes by identity and never touches an intent that another run recorded later
 * (S1, design 3.6). Assumes a complete view: nothing is to be judged on another (protocol 3).
 *
 * Differs from upstream: identities and marks instead of counters that expire after five minutes.
 */
import { compareText } from '@rollcall/base/compare-text.ts';
import { compareResourceVersions, isResourceVersion, newerVersion } from '../model/identifiers.ts';
import type { ResourceVersion, Uid } from '../model/identifiers.ts';
import type { IntentJudgement } from '../model/plan.ts';
import type { PodProjection } from '../model/projections.ts';
import type { CreateIntent, DaemonSetState, DeleteIntent, Intent } from '../model/state.ts';
import type { Marks } from '../model/watcher-message.ts';
import { RUN_MAX_MS, earlierStartsByMs, resolvedAtMs, startsByMs } from '../pod/request-life.ts';
import { buryAnswered } from '../pod/tombstones.ts';

/** Marks of our own writes, as the state keeps them. */
export type WrittenMarks = DaemonSetState['written'];

/** What intents are judged by. */
export interface JudgeIntentsInput {
  readonly state: Pick<DaemonSetState, 'intents' | 'written'>;
  /** All pods of the set as read, claimed or not. */
  readonly pods: readonly PodProjection[];
  readonly marks: Marks;
  readonly era: number;
  readonly nowMs: number;
  /** Per-request time-out against API servers (protocol 5). */
  readonly requestTimeoutMs: number;
  /** Pods of intents as a live read found them; null: gone. Wins over `pods` and marks (protocol 4). */
  readonly live?: ReadonlyMap<Uid, PodProjection | null>;
}

/** Sorts the intents of a state into unseen, unresolved and settled (protocol 3–5, S1). */
export function judgeIntents(input: JudgeIntentsInput): IntentJudgement {
  const shown = new Map<Uid, PodProjection | null>(input.pods.map((pod) => [pod.uid, pod]));
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

/**
 * Creates that are settled by a mark alone: made and gone before anybody reported them, or hidden by the view, as by a
 * watcher that filters wrongly. Another pod beside one that lives would break S1, so they are read live first.
 */
export function unshownCreates(
  { settled }: Pick<IntentJudgement, 'settled'>,
  input: Pick<JudgeIntentsInput, 'state' | 'era' | 'pods'>,
): readonly CreateIntent[] {
  if (input.state.written.era !== input.era) return [];
  const shown = new Set(input.pods.map(({ uid }) => uid));
  return settled.filter(
    (intent): intent is CreateIntent =>
      intent.kind === 'create' && intent.answer !== undefined && !shown.has(intent.answer.uid),
  );
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
  return intent.earlierAtMs === undefined || isDead(intent, input) ? 'settled' : 'unresolved';
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

function hasPassed(mark: ResourceVersion | undefined, version: ResourceVersion): boolean {
  return mark !== undefined && compareResourceVersions(mark, version) >= 0;
}

/**
 * True of a settled create of which a request was never answered, so that only time resolved it: what that one made
 * at its last moment, a view may not show yet.
 */
export function isResolvedByTime(settled: Intent): boolean {
  return (
    settled.kind === 'create' && (settled.answer === undefined || settled.earlierAtMs !== undefined)
  );
}

/** What an API server answered to an intent. */
export type IntentAnswer =
  | {
      readonly kind: 'created';
      readonly name: string;
      /** When the intent was recorded whose request this answers: a later one of its name stays open. */
      readonly recordedAtMs: number;
      readonly uid: Uid;
      readonly resourceVersion: ResourceVersion;
    }
  | { readonly kind: 'deleted'; readonly uid: Uid };

/** What one run changes about the intents of a state; each part may be absent. */
export interface IntentChange {
  readonly record?: readonly Intent[];
  readonly answers?: readonly IntentAnswer[];
  /** Intents as this run judged (or recorded) them. */
  readonly settle?: readonly Intent[];
}

/** Identity of an intent: the name for a create, the victim's UID for a delete. */
export function intentIdentity(intent: Intent): string {
  return intent.kind === 'create' ? `create/${intent.name}` : `delete/${intent.uid}`;
}

/**
 * Intents that a run is about to record, each later than the stored record of its identity: so two
 * requests under one name can be told apart even if clocks stand still or go back (spec faults 14).
 */
export function stampIntents(
  stored: readonly Intent[],
  intents: readonly Intent[],
): readonly Intent[] {
  const storedAt = new Map(stored.map((each) => [intentIdentity(each), each.recordedAtMs]));
  return intents.map((intent) => {
    const beforeMs = storedAt.get(intentIdentity(intent));
    const isLater = beforeMs === undefined || intent.recordedAtMs > beforeMs;
    return isLater ? intent : { ...intent, recordedAtMs: beforeMs + 1 };
  });
}

/**
 * Merges one run's changes into the stored intents, by identity. Of two records of one identity the
 * later wins, and remembers when the earlier one was made, if that was not settled before. The answer
 * to a create lands on the record of its request only: that of an earlier one says nothing about a
 * later one that may still be on its way (S1, S2, faults 21, 86). Settling removes only the very record that was judged, unless
 * it was answered since, and falls back to an earlier request that the settler did not know of
 * (protocol 4, 5). Sorted by identity; idempotent.
 */
export function mergeIntents(stored: readonly Intent[], change: IntentChange): readonly Intent[] {
  const byIdentity = new Map<string, Intent>();
  for (const intent of stored) recordIntent(byIdentity, intent);
  for (const settled of change.settle ?? []) settleIntent(byIdentity, settled);
  for (const intent of change.record ?? []) recordIntent(byIdentity, intent);
  for (const answer of change.answers ?? []) applyAnswer(byIdentity, answer);
  return [...byIdentity.entries()]
    .sort(([left], [right]) => compareText(left, right))
    .map(([, intent]) => intent);
}

function recordIntent(byIdentity: Map<string, Intent>, intent: Intent): void {
  const identity = intentIdentity(intent);
  byIdentity.set(identity, joinIntents(byIdentity.get(identity), intent));
}

function settleIntent(byIdentity: Map<string, Intent>, settled: Intent): void {
  const identity = intentIdentity(settled);
  const current = byIdentity.get(identity);
  if (current?.recordedAtMs !== settled.recordedAtMs) return;
  if (laterIntent(current, settled) !== settled) return;
  const isKnown = earlierOf(current) === earlierOf(settled);
  const rest = isKnown ? undefined : withoutLatest(current);
  if (rest === undefined) byIdentity.delete(identity);
  else byIdentity.set(identity, rest);
}

/** Two records of one identity as one: the later, which remembers the request before it. */
function joinIntents(stored: Intent | undefined, recorded: Intent): Intent {
  if (stored === undefined) return recorded;
  const later = laterIntent(stored, recorded);
  const both = [stored, recorded];
  // Of two deletes of one pod either request may come last, whichever was recorded first.
  if (later.kind === 'delete') return withLastStart(later, both);
  const latest = both.filter(({ recordedAtMs }) => recordedAtMs === later.recordedAtMs);
  const joined = withLastStart(later, latest);
  const earlier = both
    .flatMap(requestsOf)
    .filter(({ recordedAtMs }) => recordedAtMs < later.recordedAtMs);
  if (earlier.length === 0) return joined;
  const earlierAtMs = Math.max(...earlier.map(({ recordedAtMs }) => recordedAtMs));
  const byMs = Math.max(...earlier.map((each) => each.byMs));
  const { earlierStartsByMs: _former, ...rest } = joined;
  const said = byMs === earlierAtMs + RUN_MAX_MS ? {} : { earlierStartsByMs: byMs };
  return { ...rest, earlierAtMs, ...said };
}

function withLastStart<T extends Intent>(later: T, records: readonly Intent[]): T {
  const lastMs = Math.max(...records.map(startsByMs));
  if (lastMs === startsByMs(later)) return later;
  return { ...later, startsByMs: lastMs };
}

/** The requests that an intent knows of: when each was recorded, and by when it starts. */
function requestsOf(
  intent: Intent,
): readonly { readonly recordedAtMs: number; readonly byMs: number }[] {
  const latest = { recordedAtMs: intent.recordedAtMs, byMs: startsByMs(intent) };
  const earlierAtMs = earlierOf(intent);
  const earlierByMs = earlierStartsByMs(intent);
  if (earlierAtMs === undefined || earlierByMs === undefined) return [latest];
  return [latest, { recordedAtMs: earlierAtMs, byMs: earlierByMs }];
}

function earlierOf(intent: Intent): number | undefined {
  return intent.kind === 'create' ? intent.earlierAtMs : undefined;
}

/** What is left of a create once its latest request is settled: the earlier one, if there was one. */
function withoutLatest(intent: Intent): Intent | undefined {
  if (intent.kind !== 'create' || intent.earlierAtMs === undefined) return undefined;
  const { kind, node, name, earlierAtMs } = intent;
  const byMs = intent.earlierStartsByMs;
  const started = byMs === undefined ? {} : { startsByMs: byMs };
  return { kind, node, name, recordedAtMs: earlierAtMs, ...started };
}

/** The one that knows more: recorded later, else answered; `right` when they are equal. */
function laterIntent(left: Intent, right: Intent): Intent {
  if (left.recordedAtMs !== right.recordedAtMs) {
    // Stryker disable next-line EqualityOperator: they differ here
    return left.recordedAtMs > right.recordedAtMs ? left : right;
  }
  return knowledge(left) > knowledge(right) ? left : right;
}

/** Text that orders records of one identity and one time: answered after unanswered. */
function knowledge(intent: Intent): string {
  if (intent.kind === 'delete') {
    const version = sortableVersion(intent.resourceVersion);
    return `${intent.isAccepted ? 1 : 0}${version}${intent.node ?? ''}`;
  }
  const { answer, node } = intent;
  if (answer === undefined) return `0${node}`;
  return `1${sortableVersion(answer.resourceVersion)}${answer.uid}${node}`;
}

function sortableVersion(version: ResourceVersion): string {
  return version.padStart(39, '0');
}

function applyAnswer(byIdentity: Map<string, Intent>, answer: IntentAnswer): void {
  const identity = answer.kind === 'created' ? `create/${answer.name}` : `delete/${answer.uid}`;
  const current = byIdentity.get(identity);
  if (current?.kind === 'delete') {
    byIdentity.set(identity, { ...current, isAccepted: true });
  } else if (current?.kind === 'create' && answer.kind === 'created') {
    const { uid, resourceVersion, recordedAtMs } = answer;
    if (recordedAtMs < current.recordedAtMs) return;
    const answered = { ...current, answer: { uid, resourceVersion } };
    byIdentity.set(identity, laterIntent(current, answered));
  }
}

/**
 * Of the intents that a run recorded and knows that it never sent, those that may be withdrawn: one
 * that an earlier run had left without an answer stays, because that request may be on its way.
 */
export function withdrawableIntents(input: {
  readonly neverSent: readonly Intent[];
  readonly before: readonly Intent[];
}): readonly Intent[] {
  const known = new Set(input.before.map(intentIdentity));
  return input.neverSent.filter((intent) => !known.has(intentIdentity(intent)));
}

/** Marks of own writes for this era: those of another era vouch for nothing (design 3, ingest). */
export function rebaseWrittenMarks(written: WrittenMarks, era: number): WrittenMarks {
  return written.era === era ? written : { era };
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
  const buried = [...(state.buried ?? []), ...buryAnswered(state.intents, nowMs)];
  return {
    ...kept,
    intents,
    written: rebaseWrittenMarks(state.written, era),
    ...(buried.length === 0 ? {} : { buried }),
  };
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
