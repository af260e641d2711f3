/**
 * Redrives one dead letter: decides, does it, notes it on the record or removes the record. Its body is never sent again.
 *
 * Repeats are harmless: a hint leads to one more look, and a view that is incomplete is not made so again. A snapshot is
 * not asked for here, because a person's AWS credentials open no cluster: the view is marked incomplete (protocol 18), and
 * `resync` asks at its next tick; in observe mode without a credential the watcher's own six-hourly snapshot is the way
 * back (protocol 17). The note comes last: a redrive that fails in between is done again.
 */
import { isSuspect } from '../../core/model/breaker.ts';
import { isSenderPartition } from '../../core/hints/dead-letter-place.ts';
import { HINT_SCHEMA } from '../../core/model/hint.ts';
import { clusterId } from '../../core/model/identifiers.ts';
import type { DaemonSetKey } from '../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { ClusterMeta } from '../../core/model/view-items.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { DeadLetterStore, KeptDeadLetter } from '../../ports/stores/dead-letter-store.ts';
import type { HintPace, HintQueue } from '../../ports/queues/queue.ts';
import type { RegistryStore } from '../../ports/stores/registry-store.ts';
import type { ViewStore } from '../../ports/stores/view-store.ts';
import { META_WRITES_MAX, changeMeta } from '../clusters/change-stored.ts';
import { lost } from '../ingest/message/meta-transitions.ts';

/** What a redrive needs. */
export interface RedriveDependencies {
  readonly letters: Pick<DeadLetterStore, 'noteRedrive' | 'remove'>;
  readonly registry: Pick<RegistryStore, 'readCluster'>;
  readonly view: Pick<ViewStore, 'readMeta' | 'writeMeta'>;
  readonly queue: Pick<HintQueue, 'sendHints'>;
  readonly clock: Clock;
  /** Reads the body of a hint or timer; undefined when it is none. */
  readonly readLostKey: (letter: KeptDeadLetter) => LostKey | undefined;
}

/** How to redrive. */
export interface RedriveOptions {
  /** Who asks, for the record. */
  readonly by: string;
  /** Makes deduplication ids of this redrive differ from those of the one before. */
  readonly redriveId: string;
  /** `remove` takes the record away once something was done, or nothing needs to be. */
  readonly afterwards: 'note' | 'remove';
  /** Of many letters together: `suspect`, so that their looks take no room from other clusters (L3). */
  readonly pace: HintPace;
}

/** Outcome codes; public, listed in docs/reference.md. */
export type RedriveOutcome = 'hint-sent' | 'snapshot-needed' | RedriveOmission;

/** Outcomes after which a letter still stands for something that somebody has to look at. */
const UNSETTLED: readonly RedriveOutcome[] = [
  'unverified-sender',
  'unreadable',
  'unknown-cluster',
  'other-cluster-uid',
];

/** True when nothing is left to do for the letter. */
export function isSettled(outcome: RedriveOutcome): boolean {
  return !UNSETTLED.includes(outcome);
}

/** Redrives one letter. Rejects when a table or queue fails: the record is then as it was. */
export async function redriveLetter(
  letter: KeptDeadLetter,
  options: RedriveOptions,
  dependencies: RedriveDependencies,
): Promise<RedriveOutcome> {
  const outcome = await perform(letter, options, dependencies);
  if (!isSettled(outcome)) return outcome;
  const { letters, clock } = dependencies;
  if (options.afterwards === 'remove') await letters.remove(letter.place);
  else await letters.noteRedrive(letter.place, { atMs: clock.nowMs(), by: options.by, outcome });
  return outcome;
}

async function perform(
  letter: KeptDeadLetter,
  { redriveId, pace }: RedriveOptions,
  dependencies: RedriveDependencies,
): Promise<RedriveOutcome> {
  const { registry, view, queue } = dependencies;
  const { partition } = letter.place;
  const isOfCluster = partition !== '' && !isSenderPartition(partition);
  const registration = isOfCluster ? await registry.readCluster(clusterId(partition)) : undefined;
  const meta =
    registration === undefined ? undefined : await view.readMeta(registration.clusterUid);
  const lostKey = dependencies.readLostKey(letter);
  const step = decideRedrive({ letter, lostKey, registration, meta });
  if (typeof step === 'string' && step !== 'snapshot') return step;
  if (registration === undefined) throw new Error('decided without a registration');
  if (step === 'snapshot') return demandSnapshot(registration, dependencies);
  const { clusterUid } = registration;
  const hint = { schema: HINT_SCHEMA, key: step, clusterUid, reason: 'manual' } as const;
  const isSlow = pace === 'suspect' || isSuspect(meta?.breaker, dependencies.clock.nowMs());
  // Letters of one key share the id: one look is enough.
  await queue.sendHints([hint], `redrive/${redriveId}/`, isSlow ? 'suspect' : 'usual');
  return 'hint-sent';
}

/** Marks the view incomplete, by compare-and-set beside a busy ingest. */
async function demandSnapshot(
  { id, clusterUid }: ClusterRegistration,
  { view }: RedriveDependencies,
): Promise<RedriveOutcome> {
  const result = await changeMeta(view, clusterUid, (meta) => {
    if (!meta.isComplete) return undefined;
    // No request is noted: the next tick of `resync` asks.
    const { snapshotRequestedAtMs: _asked, ...rest } = lost(meta, 'dead-letter');
    return rest;
  });
  if (result === 'missing') return 'never-heard';
  if (result === 'kept') return 'snapshot-awaited';
  if (result === 'written') return 'snapshot-needed';
  throw new Error(`META of ${id}: lost ${META_WRITES_MAX} compare-and-sets`);
}

/** The key and cluster that a lost hint or timer was about. */
interface LostKey {
  readonly key: DaemonSetKey;
  readonly clusterUid: string;
}

/** Why nothing is sent for a letter; public, listed in docs/reference.md. */
export type RedriveOmission =
  /** Nobody vouched for its sender: never. */
  | 'unverified-sender'
  /** Its body was cut or cannot be read: what it was about is not known. */
  | 'unreadable'
  /** Its cluster is not registered any more. */
  | 'unknown-cluster'
  /** It is about a cluster that was rebuilt since, or is: `cluster reset` is the way. */
  | 'other-cluster-uid'
  /** A snapshot that was announced after it has repaired the view. */
  | 'repaired'
  /** Nothing was ever heard of the cluster: its first message leads to a snapshot. */
  | 'never-heard'
  /** The view is incomplete already: a snapshot is awaited. */
  | 'snapshot-awaited'
  /** The CronJob of the cluster sends a new token at its next run. */
  | 'renewed-by-cluster';

/** A look at a key, a snapshot, or why there is nothing to do. */
type RedriveStep = DaemonSetKey | 'snapshot' | RedriveOmission;

/** What is known about a letter and its cluster. */
interface RedriveFacts {
  readonly letter: KeptDeadLetter;
  /** The key that its body names, if it is that of a hint or timer. */
  readonly lostKey: LostKey | undefined;
  /** Of the cluster of the letter's partition. */
  readonly registration: ClusterRegistration | undefined;
  readonly meta: ClusterMeta | undefined;
}

const OF_HINTS = ['reconcile', 'delay'];
const OF_EVENTS = ['events', 'ingest'];

/**
 * Decides for one letter; pure. A lost hint or timer names a key, and that key is looked at anew (design 1). A
 * lost event may have changed anything: the way back is a snapshot announced after it (protocol 18). Nothing
 * comes of what an unverified sender wrote (S6), or of a cluster registered under another UID by now (row 90).
 */
function decideRedrive(facts: RedriveFacts): RedriveStep {
  const { letter, registration } = facts;
  const never = neverSent(letter);
  if (never !== undefined) return never;
  const isOfHint = OF_HINTS.includes(letter.queue);
  if (isOfHint && facts.lostKey === undefined) return 'unreadable';
  if (registration === undefined) return 'unknown-cluster';
  return isOfHint ? decideHint(facts, registration) : decideEvent(facts);
}

/** Why nothing can come of this letter, whatever its cluster looks like now. */
function neverSent({ place, queue, code }: KeptDeadLetter): RedriveOmission | undefined {
  // Nothing is sent, whoever it was of: the cluster sends a new one.
  if (queue === 'credentials') return 'renewed-by-cluster';
  if (isSenderPartition(place.partition)) return 'unverified-sender';
  if (code === 'wrong-cluster-uid') return 'other-cluster-uid';
  const isKnown = OF_HINTS.includes(queue) || OF_EVENTS.includes(queue);
  return isKnown && place.partition !== '' ? undefined : 'unreadable';
}

function decideHint({ lostKey }: RedriveFacts, registration: ClusterRegistration): RedriveStep {
  if (lostKey?.key.cluster !== registration.id) return 'unreadable';
  if (lostKey.clusterUid !== registration.clusterUid) return 'other-cluster-uid';
  return lostKey.key;
}

function decideEvent({ letter, meta }: RedriveFacts): RedriveStep {
  if (meta === undefined) return 'never-heard';
  if (!meta.isComplete) return 'snapshot-awaited';
  // Both are SentTimestamps of the same queue.
  const isRepaired = meta.announcedAtMs !== undefined && meta.announcedAtMs > letter.atMs;
  return isRepaired ? 'repaired' : 'snapshot';
}
