/**
 * Dead letters over DynamoDB: partitions `DEAD-LETTER#<partition>`, in the order of time, and an index
 * of them that no cluster id and no sender can name. An entry is written before the first record of
 * its partition, so that a listing never misses one. A record that does not fit is shown as unreadable.
 */
import * as v from 'valibot';
import {
  REFUSED_ANEW_AFTER_MS,
  isRefusal,
  isRepeatingRefusal,
  placeOfDeadLetter,
  timeKey,
} from '../../core/hints/dead-letter-place.ts';
import type { DeadLetterPartition, DeadLetterPlace } from '../../core/hints/dead-letter-place.ts';
import type {
  DeadLetterPage,
  DeadLetterQuery,
  DeadLetterStore,
  KeptDeadLetter,
} from '../../ports/stores/dead-letter-store.ts';
import type { DeadLetterOutcome, DeadLetterRecord } from '../../ports/stores/registry-store.ts';
import type { StoredItem } from './batched-reader.ts';
import type { ItemKey } from './item-keys.ts';
import { Table } from './table.ts';
import type { DynamoStoreOptions } from './table.ts';

/** Most of a dead letter's body that is kept. */
const BODY_CHARACTERS_MAX = 16_384;
/** Of a body whose sender was not verified: enough to see what it was. */
const UNVERIFIED_BODY_CHARACTERS_MAX = 1024;
const FIELD_CHARACTERS_MAX = 256;
const PREFIX = 'DEAD-LETTER#';
const INDEX_PARTITION = `${PREFIX}/partitions`;
/** When senders were refused last, by code. */
const REFUSED_PARTITION = `${PREFIX}/refused`;
const IF_THERE = { expression: 'attribute_exists(pk)' };
const HOUR_MS = 3_600_000;
/** Places of one partition and hour, hence also the records of one forger. */
const PLACES_MAX = 20;
const PARTITIONS_MAX = 1000;
/** Among the places: the index has an entry for the partition. */
const INDEXED = '';

/**
 * What a process remembers of dead letters that it wrote, so that a look-up takes the place of a write: places by hour and
 * partition. What was not looked up for longest leaves first; what is forgotten is written once more.
 */
export type LetterMemory = Map<string, Map<string, DeadLetterOutcome>>;

function keyOf({ partition, sort }: DeadLetterPlace): ItemKey {
  return { pk: `${PREFIX}${partition}`, sk: sort };
}

/**
 * A repeat of the same letter replaces its record. What an unverified sender wrote is kept under the sender, so that it can
 * neither crowd nor fill the partition of the cluster that it named (S6, L3), is tried once, and so many times an hour. A
 * refusal that shares its record for the hour is looked up, once this process has kept it.
 */
export async function keepDeadLetter(
  record: DeadLetterRecord,
  { table, memory }: { readonly table: Table; readonly memory: LetterMemory },
): Promise<DeadLetterOutcome> {
  const place = placeOfDeadLetter(record);
  const known = rememberedIn(memory, `${Math.floor(record.atMs / HOUR_MS)} ${place.partition}`);
  const isForged = record.claim !== undefined;
  const isFull = known.size > PLACES_MAX;
  const outcome = known.get(place.sort) ?? (isForged && isFull ? 'unkept' : undefined);
  if (outcome !== undefined) return outcome;
  if (isForged) known.set(place.sort, 'unkept');
  if (!known.has(INDEXED)) {
    // An empty sort key is not allowed: the partition of nobody known is `-`.
    const sk = place.partition === '' ? '-' : place.partition;
    await table.put({ pk: INDEX_PARTITION, sk }, {});
    known.set(INDEXED, 'kept');
  }
  await putLetter(table, place, record);
  if (isForged || (!isFull && isRepeatingRefusal(record))) known.set(place.sort, 'kept');
  return isRefusal(record) ? noteRefused(record, place, { table, memory }) : 'kept';
}

/** Notes when this sender was refused so, at most once an hour for each process; `first` if it was not for a day. */
async function noteRefused(
  { queue, code, atMs }: DeadLetterRecord,
  { partition }: DeadLetterPlace,
  { table, memory }: { readonly table: Table; readonly memory: LetterMemory },
): Promise<DeadLetterOutcome> {
  const sk = `${queue}/${code}/${partition}`;
  const known = rememberedIn(memory, `${Math.floor(atMs / HOUR_MS)} refused ${partition}`);
  if (known.has(sk)) return 'kept';
  const key = { pk: REFUSED_PARTITION, sk };
  const first = await table.putIf(
    key,
    { atMs },
    {
      expression: 'attribute_not_exists(pk) OR atMs < :forgotten',
      values: { ':forgotten': atMs - REFUSED_ANEW_AFTER_MS },
    },
  );
  if (first === 'lost') await table.put(key, { atMs });
  known.set(sk, 'kept');
  return first === 'written' ? 'first' : 'kept';
}

function rememberedIn(memory: LetterMemory, hour: string): Map<string, DeadLetterOutcome> {
  const known = memory.get(hour) ?? new Map<string, DeadLetterOutcome>();
  memory.delete(hour);
  memory.set(hour, known);
  const [oldest = hour] = memory.keys();
  if (memory.size > PARTITIONS_MAX) memory.delete(oldest);
  return known;
}

async function putLetter(
  table: Table,
  place: DeadLetterPlace,
  record: DeadLetterRecord,
): Promise<void> {
  const cut = (text: string): string => text.slice(0, FIELD_CHARACTERS_MAX);
  const { claim, ...fields } = record;
  const charactersMax = claim === undefined ? BODY_CHARACTERS_MAX : UNVERIFIED_BODY_CHARACTERS_MAX;
  await table.put(keyOf(place), {
    ...fields,
    ...(claim === undefined ? {} : { claimedCluster: cut(claim.cluster) }),
    cluster: cut(record.cluster),
    messageId: cut(record.messageId),
    detail: record.detail.slice(0, BODY_CHARACTERS_MAX),
    body: record.body.slice(0, charactersMax),
    ...(record.body.length > charactersMax ? { isBodyCut: true } : {}),
  });
}

/** The records, over the registry table. */
export function createDynamoDeadLetterStore(options: DynamoStoreOptions): DeadLetterStore {
  const table = new Table(options);
  return {
    listPartitions: () => listPartitions(table),
    list: (partition, query) => list(table, partition, query),
    read: (place) => table.getAs(keyOf(place), (item) => parseItem(item, place)),
    noteRedrive: async (place, note) => {
      const redrive = { atMs: note.atMs, by: note.by, outcome: note.outcome };
      const written = await table.updateIf(keyOf(place), { redrive }, IF_THERE);
      return written === 'written' ? 'noted' : 'gone';
    },
    remove: (place) => table.remove(keyOf(place)),
  };
}

async function listPartitions(table: Table): Promise<readonly DeadLetterPartition[]> {
  const partitions: DeadLetterPartition[] = [];
  for await (const keys of table.keysOf(INDEX_PARTITION)) {
    partitions.push(...keys.map(({ sk }) => (sk === '-' ? '' : sk)));
  }
  return partitions;
}

async function list(
  table: Table,
  partition: DeadLetterPartition,
  { sinceMs, cursor, limit }: DeadLetterQuery,
): Promise<DeadLetterPage> {
  // The key of a time sorts before every record of it.
  const after = cursor ?? (sinceMs === undefined ? undefined : timeKey(sinceMs));
  const { items, ...next } = await table.query({ pk: `${PREFIX}${partition}`, limit, after });
  const letters = items.map((item) => parseItem(item, { partition, sort: String(item['sk']) }));
  return { letters, ...next };
}

const RecordSchema = v.object({
  cluster: v.string(),
  claimedCluster: v.exactOptional(v.string()),
  queue: v.string(),
  code: v.string(),
  detail: v.string(),
  messageId: v.string(),
  atMs: v.number(),
  body: v.string(),
  isBodyCut: v.optional(v.boolean(), false),
  redrive: v.exactOptional(v.object({ atMs: v.number(), by: v.string(), outcome: v.string() })),
});

function parseItem(item: StoredItem, place: DeadLetterPlace): KeptDeadLetter {
  const parsed = v.safeParse(RecordSchema, item);
  if (parsed.success) return { ...parsed.output, place };
  return {
    place,
    cluster: '',
    queue: 'unknown',
    code: 'unreadable-record',
    detail: '',
    messageId: '',
    atMs: Number(place.sort.split('#', 1)[0]),
    body: '',
    isBodyCut: true,
  };
}
