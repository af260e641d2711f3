/**
 * Intents as the state keeps them: identity, order, and how the changes of one run join what is stored.
 *
 * Merging goes by identity and never touches an intent that another run recorded later (S1, design 3.6), so that two
 * runs of one key leave the same list in whichever order they write. Sorted by identity; idempotent. What an intent has
 * come to, intents.ts judges.
 */
import { compareText } from '@rollcall/base/compare-text.ts';
import type { ResourceVersion, Uid } from '../model/identifiers.ts';
import type { Intent } from '../model/state.ts';

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
    return isLater ? intent : { ...intent, recordedAtMs: Math.floor(beforeMs) + 1 };
  });
}

/**
 * Merges one run's changes into the stored intents. Of two records of one identity the later wins, and remembers when
 * the earlier one was made, if that was not settled before. The answer to a create lands on the record of its request
 * only: that of an earlier one says nothing about a later one that may still be on its way (S1, S2, faults 21, 86).
 * Settling removes only the very record that was judged, unless it was answered since, and falls back to an earlier
 * request that the settler did not know of (protocol 4, 5).
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
  const times = new Set(earlier.map(({ recordedAtMs }) => recordedAtMs));
  // Several are one from here on, under a time that no record bears, as those are whole milliseconds: what speaks of them all,
  // none of their runs can withdraw or answer, and it is open until the last of them is dead.
  const recordedAtMs = times.size > 1 ? later.recordedAtMs - 0.5 : Math.max(...times);
  const startsByMs = Math.max(...earlier.map((each) => each.startsByMs));
  return { ...joined, earlier: { recordedAtMs, startsByMs } };
}

function withLastStart<T extends Intent>(later: T, records: readonly Intent[]): T {
  const startsByMs = Math.max(...records.map((each) => each.startsByMs));
  return startsByMs === later.startsByMs ? later : { ...later, startsByMs };
}

/** The requests that an intent knows of: when each was recorded, and by when it starts. */
function requestsOf(intent: Intent): readonly Pick<Intent, 'recordedAtMs' | 'startsByMs'>[] {
  const earlier = intent.kind === 'create' ? intent.earlier : undefined;
  return earlier === undefined ? [intent] : [intent, earlier];
}

function earlierOf(intent: Intent): number | undefined {
  return intent.kind === 'create' ? intent.earlier?.recordedAtMs : undefined;
}

/** What is left of a create once its latest request is settled: the earlier one, if there was one. */
export function withoutLatest(intent: Intent): Intent | undefined {
  if (intent.kind !== 'create' || intent.earlier === undefined) return undefined;
  const { kind, node, name, earlier } = intent;
  return { kind, node, name, ...earlier };
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
