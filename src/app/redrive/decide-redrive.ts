/**
 * What a redrive may do with the record of a dead letter. Pure.
 *
 * A body is never sent again: what it said is old by now, and a record is kept for people. A lost hint
 * or timer names a key, and that key is looked at anew; a hint only says *look again* (design 1). A lost
 * or unreadable event may have changed anything: the way back is a snapshot that is announced after it
 * (protocol 18). Nothing comes of what an unverified sender wrote (S6), and nothing is sent about a
 * cluster that is registered under another UID by now (row 90).
 */
import { isSenderPartition } from '../../core/hints/dead-letter-place.ts';
import type { DaemonSetKey } from '../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { ClusterMeta } from '../../core/model/view-items.ts';
import type { KeptDeadLetter } from '../../ports/stores/dead-letter-store.ts';

/** The key and cluster that a lost hint or timer was about. */
export interface LostKey {
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

/** What a redrive does. */
export type RedriveStep =
  | { readonly kind: 'hint'; readonly key: DaemonSetKey }
  | { readonly kind: 'snapshot' }
  | { readonly kind: 'nothing'; readonly reason: RedriveOmission };

/** What is known about a letter and its cluster. */
export interface RedriveFacts {
  readonly letter: KeptDeadLetter;
  /** The key that its body names, if it is that of a hint or timer. */
  readonly lostKey: LostKey | undefined;
  /** Of the cluster of the letter's partition. */
  readonly registration: ClusterRegistration | undefined;
  readonly meta: ClusterMeta | undefined;
}

const nothing = (reason: RedriveOmission): RedriveStep => ({ kind: 'nothing', reason });

const OF_HINTS = ['reconcile', 'delay'];
const OF_EVENTS = ['events', 'ingest'];

/** Decides for one letter. */
export function decideRedrive(facts: RedriveFacts): RedriveStep {
  const { letter, registration } = facts;
  const never = neverSent(letter);
  if (never !== undefined) return nothing(never);
  const isOfHint = OF_HINTS.includes(letter.queue);
  if (isOfHint && facts.lostKey === undefined) return nothing('unreadable');
  if (registration === undefined) return nothing('unknown-cluster');
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
  if (lostKey === undefined || lostKey.key.cluster !== registration.id) {
    return nothing('unreadable');
  }
  if (lostKey.clusterUid !== registration.clusterUid) return nothing('other-cluster-uid');
  return { kind: 'hint', key: lostKey.key };
}

function decideEvent({ letter, meta }: RedriveFacts): RedriveStep {
  if (meta === undefined) return nothing('never-heard');
  if (!meta.isComplete) return nothing('snapshot-awaited');
  // Both are SentTimestamps of the same queue.
  const isRepaired = meta.announcedAtMs !== undefined && meta.announcedAtMs > letter.atMs;
  return isRepaired ? nothing('repaired') : { kind: 'snapshot' };
}
