/**
 * Notes of refusals over DynamoDB: partition `REFUSED#<cluster>`, an item for each sender, queue
 * and code.
 *
 * What an unverified sender claims is apart from what a cluster's own senders sent (S6):
 * `REFUSED#/<cluster>` where the cluster is registered, else `REFUSED#/`. No cluster id holds a
 * slash, so none names another's partition.
 */
import * as v from 'valibot';
import type { ClusterId } from '../../../core/model/identifiers.ts';
import type { RefusalNote, RefusalOutcome } from '../../../ports/stores/registry-store.ts';
import type { StoredItem } from '../batched-reader.ts';
import { ItemUnreadableError } from '../item-codec.ts';
import type { ItemKey } from '../item-keys.ts';
import type { Table } from '../table.ts';

const PREFIX = 'REFUSED#';
const OF_NOBODY = `${PREFIX}/`;
const HOUR_MS = 3_600_000;
/** Without a refusal of its sender and code for so long, one is the first again. */
const ANEW_AFTER_MS = 24 * HOUR_MS;
const FIELD_CHARACTERS_MAX = 256;
/** Notes of one unverified sender in an hour. */
const NOTES_MAX = 20;
const SENDERS_MAX = 1000;
/** Most that is read of a partition. */
const LISTED_MAX = 500;
/** Refused after the registration was read: the cluster is one. */
const OF_REGISTERED: readonly string[] = ['wrong-sender', 'not-bound-token'];
const REPEATED_BY_WATCHERS = 'wrong-cluster-uid';

/**
 * What a process remembers to have noted, by hour and sender, so that a look-up takes the place of
 * a write. What was not looked up for longest leaves first; what is forgotten is written once more.
 */
export type RefusalMemory = Map<string, Map<string, RefusalOutcome>>;

function cut(text: string): string {
  return text.slice(0, FIELD_CHARACTERS_MAX);
}

function keyOf({ cluster, sender, senderRoleId = '', queue, code }: RefusalNote): ItemKey {
  const sk = `${queue}/${code}/${cut(senderRoleId)}`;
  if (sender === 'verified') return { pk: `${PREFIX}${cluster}`, sk };
  return { pk: OF_REGISTERED.includes(code) ? `${OF_NOBODY}${cluster}` : OF_NOBODY, sk };
}

/** Replaces the note before. A sender that nobody vouches for is tried once, and so many times an hour. */
export async function noteRefusal(
  note: RefusalNote,
  { table, memory }: { readonly table: Table; readonly memory: RefusalMemory },
): Promise<RefusalOutcome> {
  const key = keyOf(note);
  const id = `${key.pk} ${key.sk}`;
  const isForged = note.sender === 'unverified';
  const sender = isForged ? `/${note.senderRoleId ?? ''}` : note.cluster;
  const known = rememberedIn(memory, `${Math.floor(note.atMs / HOUR_MS)} ${sender}`);
  const isFull = isForged && known.size >= NOTES_MAX;
  const outcome = known.get(id) ?? (isFull ? 'unkept' : undefined);
  if (outcome !== undefined) return outcome;
  if (isForged) known.set(id, 'unkept');
  const item = itemOf(note);
  const first = await table.putIf(key, item, {
    expression: 'attribute_not_exists(pk) OR atMs < :forgotten',
    values: { ':forgotten': note.atMs - ANEW_AFTER_MS },
  });
  if (first === 'lost') await table.put(key, item);
  if (isForged || note.code === REPEATED_BY_WATCHERS) known.set(id, 'noted');
  return first === 'written' ? 'first' : 'noted';
}

function itemOf({ senderRoleId = '', cluster, detail, ...rest }: RefusalNote): StoredItem {
  const { sender, queue, code, atMs } = rest;
  const texts = { cluster: cut(cluster), detail: cut(detail), senderRoleId: cut(senderRoleId) };
  return { ...texts, sender, queue, code, atMs };
}

function rememberedIn(memory: RefusalMemory, hour: string): Map<string, RefusalOutcome> {
  const known = memory.get(hour) ?? new Map<string, RefusalOutcome>();
  memory.delete(hour);
  memory.set(hour, known);
  const [oldest = hour] = memory.keys();
  if (memory.size > SENDERS_MAX) memory.delete(oldest);
  return known;
}

/** What others claim is read from the cluster's claims, and from those of whom no registration was read. */
export async function listRefusals(
  table: Table,
  cluster: ClusterId,
  sender: RefusalNote['sender'],
): Promise<readonly RefusalNote[]> {
  const partitions =
    sender === 'verified' ? [`${PREFIX}${cluster}`] : [`${OF_NOBODY}${cluster}`, OF_NOBODY];
  const pages = await Promise.all(partitions.map((pk) => table.query({ pk, limit: LISTED_MAX })));
  const notes = pages.flatMap(({ items }) => items.map(parseNote));
  return notes.filter((note) => note.cluster === cluster);
}

const NoteSchema = v.object({
  cluster: v.string(),
  sender: v.picklist(['verified', 'unverified']),
  senderRoleId: v.string(),
  queue: v.picklist(['ingest', 'credentials']),
  code: v.string(),
  detail: v.string(),
  atMs: v.number(),
});

function parseNote(item: StoredItem): RefusalNote {
  const parsed = v.safeParse(NoteSchema, item);
  if (parsed.success) {
    const { senderRoleId, ...rest } = parsed.output;
    return { ...rest, senderRoleId: senderRoleId === '' ? undefined : senderRoleId };
  }
  const key = { pk: String(item['pk']), sk: String(item['sk']) };
  throw new ItemUnreadableError(key, 'is no note of a refusal');
}
