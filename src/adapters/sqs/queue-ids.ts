/**
 * Message group and deduplication ids: at most 128 characters that SQS accepts (design 3).
 *
 * An id that would be too long, or hold other characters, is replaced by its hash: equal input gives
 * equal ids in every process, and different input different ones.
 */
import { createHash } from 'node:crypto';
import type { DaemonSetKey } from '../../core/model/identifiers.ts';
import type { WatcherHeader } from '../../core/model/watcher-message.ts';

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

/** Group of a cluster's messages in events.fifo. */
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

/** Deduplication id of a hint: the producer's prefix and the key (protocol 12). */
export function hintDeduplicationId(prefix: string, key: DaemonSetKey): string {
  const keyDigest = digest(`${key.cluster}/${key.namespace}/${key.name}`);
  const id = `${prefix}${keyDigest}`;
  return id.length <= ID_LENGTH_MAX && ID_PATTERN.test(id) ? id : digest(prefix) + keyDigest;
}
