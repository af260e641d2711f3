/**
 * Message group and deduplication ids, at most 128 characters that SQS accepts (design 3), and the id of a sender.
 *
 * An id that would be too long, or hold other characters, is replaced by its hash: equal input gives
 * equal ids in every process, and different input different ones.
 */
import { createHash } from 'node:crypto';
import type { DaemonSetKey } from '../../core/model/identifiers.ts';
import type { WatcherHeader } from '../../core/model/watcher-message.ts';
import type { HintPace } from '../../ports/queues/queue.ts';

const ID_LENGTH_MAX = 128;
/** Letters, digits and ASCII punctuation. */
const ID_PATTERN = /^[\x21-\x7e]{1,128}$/;
/** 32 hexadecimal digits: 128 bits. */
const DIGEST_LENGTH = 32;

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, DIGEST_LENGTH);
}

function fitting(id: string): string {
  return id.length <= ID_LENGTH_MAX && ID_PATTERN.test(id) ? id : digest(id);
}

export function eventGroupId(header: WatcherHeader): string {
  return fitting(header.cluster);
}

/** cluster/epoch/incarnation/seq: a repeated send is swallowed, no two messages share an id. */
export function eventDeduplicationId(header: WatcherHeader): string {
  return fitting(`${header.cluster}/${header.epoch}/${header.incarnation}/${header.seq}`);
}

/** Group of a key's hints in reconcile.fifo: one reconcile at a time for one key. */
export function hintGroupId(key: DaemonSetKey): string {
  return fitting(`${key.cluster}/${digest(`${key.namespace}/${key.name}`)}`);
}

/** More keys in one call than `reconcile` has room for (maximumConcurrency in serverless.yml): a crowd. */
export const CROWD_KEYS_MIN = 51;
/** Lanes of a crowd: a quarter of the room for all clusters. */
const CROWD_LANES = 12;
/** Lanes of a cluster that is slow or does not answer: each run may take long. */
const SUSPECT_LANES = 4;

/**
 * Groups of hints that are sent together: each key's own; or for a crowd, and for a suspect cluster, one
 * of the cluster's lanes. A group is served one message at a time, so lanes are permits that the queue
 * itself keeps: one cluster's crowd holds no more of the room than it has lanes (L3, row 61), in order,
 * and nothing has to be given back. Two hints of one key may then stand in two groups: overlap is made a
 * little less rare, and nothing rests on it (S1–S5).
 */
export function hintGroupIds(keys: readonly DaemonSetKey[], pace: HintPace): readonly string[] {
  if (typeof pace === 'object') return keys.map(() => pace.group);
  if (pace === 'suspect') return keys.map((key) => laneId(key, SUSPECT_LANES));
  if (keys.length < CROWD_KEYS_MIN) return keys.map(hintGroupId);
  return keys.map((key) => laneId(key, CROWD_LANES));
}

/** A key keeps to its lane. No key's own group looks like a lane: that is a digest. */
function laneId(key: DaemonSetKey, lanes: number): string {
  const lane = parseInt(digest(`${key.namespace}/${key.name}`).slice(0, 8), 16) % lanes;
  return fitting(`${key.cluster}/lane-${String(lane).padStart(2, '0')}`);
}

/** Tenant of a timer on the delay queue, a fair queue (spec aws-facts 1.1): the cluster. */
export function timerGroupId(key: DaemonSetKey): string {
  return fitting(key.cluster);
}

/** Deduplication id of a hint: the producer's prefix and the key (protocol 12). */
export function hintDeduplicationId(prefix: string, key: DaemonSetKey): string {
  const keyDigest = digest(`${key.cluster}/${key.namespace}/${key.name}`);
  const id = `${prefix}${keyDigest}`;
  return id.length <= ID_LENGTH_MAX && ID_PATTERN.test(id) ? id : digest(prefix) + keyDigest;
}

/**
 * The sender of a message: the SenderId that SQS fills in, which a sender cannot forge (S6). Undefined when it is missing or
 * has another form: refuse the message then.
 *
 * For a role it is `AROA…:<session name>`; the session name is the caller's own choice under IRSA, so only the part
 * before the colon is an identity (spec aws-facts 1.6). An IAM user's id, and the account id that some emulators put
 * there, have no colon and stand for themselves: a registration names what is expected, so neither can pass for a role.
 */
export function identifySender(senderId: string | undefined): string | undefined {
  const identity = senderId?.split(':', 1)[0];
  return identity !== undefined && /^[A-Za-z0-9]{1,128}$/.test(identity) ? identity : undefined;
}
