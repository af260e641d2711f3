/**
 * Where the record of a dead letter is kept: a partition, and a place in it by time.
 *
 * A cluster's records are apart from those of senders that nobody could vouch for (S6, L3). A record is
 * replaced by its repeat. A watcher that may not speak sends a message every few seconds for as long as
 * nobody looks: its refusals of one kind share one record an hour, so that a partition grows by two
 * dozen small items a day and not by thousands. So do lost hints of one key. Pure text; it holds no key
 * of a table.
 */
/** What decides where a record is kept. */
export interface PlacedLetter {
  /** Empty when it is not known whose message it was. */
  readonly cluster: string;
  readonly claim?: { readonly cluster: string; readonly senderRoleId: string | undefined };
  readonly queue: string;
  readonly code: string;
  readonly detail: string;
  readonly messageId: string;
  readonly atMs: number;
}

/** Name of a partition: a cluster id, `unverified/<role id>`, or empty for letters of nobody known. */
export type DeadLetterPartition = string;

/** Place of a record. */
export interface DeadLetterPlace {
  readonly partition: DeadLetterPartition;
  readonly sort: string;
}

const CLUSTER_ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
const UNVERIFIED = 'unverified/';
const TIME_DIGITS = 15;
const HOUR_MS = 3_600_000;
const FIELD_CHARACTERS_MAX = 256;
/** Of `ingest` and `credential`: refusals that come again with every message of the same sender. */
const REPEATING: readonly string[] = [
  'wrong-group',
  'unknown-cluster',
  'not-bound-token',
  'wrong-sender',
  'wrong-cluster-uid',
];
const HINT_QUEUES: readonly string[] = ['reconcile', 'delay'];
const LOST_HINT = 'lost-hint';
const SENDERS_QUEUES: readonly string[] = ['ingest', 'credentials'];

/** Where this letter's record is. */
export function placeOfDeadLetter(letter: PlacedLetter): DeadLetterPlace {
  const { cluster, claim, queue } = letter;
  // A key that can never be looked at is given up again a few times an hour (core/looks.ts).
  const isLostHint =
    HINT_QUEUES.includes(queue) && letter.code === LOST_HINT && letter.detail !== '';
  const isRepeating = isRepeatingRefusal(letter) || isLostHint;
  const atMs = isRepeating ? Math.floor(letter.atMs / HOUR_MS) * HOUR_MS : letter.atMs;
  const name = isRepeating
    ? [letter.code, claim?.cluster ?? letter.detail].join('/')
    : letter.messageId;
  return {
    partition: claim === undefined ? ownPartition(cluster) : senderPartition(claim.senderRoleId),
    // Printable, so that it can be given on a command line.
    sort: `${timeKey(atMs)}#${queue}#${name.slice(0, FIELD_CHARACTERS_MAX).replace(/[^\x21-\x7e]/g, '?')}`,
  };
}

/** True for what `ingest` or `credential` refused, whatever it was. */
export function isRefusal({ queue }: Pick<PlacedLetter, 'queue'>): boolean {
  return SENDERS_QUEUES.includes(queue);
}

/** Without a refusal of its sender and code for so long, one is the first again. */
export const REFUSED_ANEW_AFTER_MS = 24 * HOUR_MS;

/** True for a refusal that comes again with every message of the same sender: they share a record an hour. */
export function isRepeatingRefusal({ queue, code }: Pick<PlacedLetter, 'queue' | 'code'>): boolean {
  return isRefusal({ queue }) && REPEATING.includes(code);
}

/** Begins every place of this moment or later. */
export function timeKey(atMs: number): string {
  return String(Math.max(0, Math.floor(atMs))).padStart(TIME_DIGITS, '0');
}

/** The partition of a sender whose messages were not verified. */
function senderPartition(senderRoleId: string | undefined): DeadLetterPartition {
  return `${UNVERIFIED}${senderRoleId ?? ''}`;
}

/** True for the partition of a sender that was not verified: nothing in it is ever sent again. */
export function isSenderPartition(partition: DeadLetterPartition): boolean {
  return partition.startsWith(UNVERIFIED);
}

/** What is no cluster id belongs to nobody known: it cannot form another partition's name. */
function ownPartition(cluster: string): DeadLetterPartition {
  return CLUSTER_ID_PATTERN.test(cluster) ? cluster : '';
}

const ID = /^([^\n]*)\/(\d{15}#[^\n]*)$/;

/** The place as one text, for a command line. */
export function formatDeadLetterId({ partition, sort }: DeadLetterPlace): string {
  return `${partition}/${sort}`;
}

/** Reads such a text; undefined when it is none. */
export function parseDeadLetterId(text: string): DeadLetterPlace | undefined {
  const [, partition, sort] = ID.exec(text) ?? [];
  return partition === undefined || sort === undefined ? undefined : { partition, sort };
}
