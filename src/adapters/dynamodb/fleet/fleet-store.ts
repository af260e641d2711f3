/**
 * FleetDaemonSets over DynamoDB: heads in one partition, so that they are listed by one query, documents in one of their own.
 *
 *   write    document under a new name ─▶ head (compare-and-set, names it) ─▶ documents that it names no more are removed
 *   remove   head (compare-and-set) ─▶ documents of its uid
 *
 * A process may die between any two: then a document stays that nobody names, and is gone with the FleetDaemonSet. Nobody
 * else's document is ever removed, since each write names its own, and what another uid has is left alone.
 */
import * as v from 'valibot';
import { isJsonObject } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { FleetKey } from '../../../core/fleet/fleet-daemon-set.ts';
import type { FleetRelease } from '../../../core/fleet/rollout/fleet-record.ts';
import type {
  FleetHead,
  FleetPage,
  FleetStore,
  FleetToWrite,
  FleetWrite,
  StoredFleet,
} from '../../../ports/stores/fleet-store.ts';
import type { StoredItem } from '../batched-reader.ts';
import { ItemTooLargeError, ItemUnreadableError, decodeBody, encodeBody } from '../item-codec.ts';
import { FLEETS_PARTITION, fleetDocumentKey, fleetHeadKey } from '../item-keys.ts';
import { IF_MISSING, Table } from '../table.ts';
import type { Condition, DynamoStoreOptions } from '../table.ts';
import { ReleaseSchema } from './fleet-record-schema.ts';

/** Somebody may apply anew between the two reads, and again. */
const READS_MAX = 4;

const countSchema = v.pipe(v.number(), v.safeInteger(), v.minValue(1));
const HeadSchema = v.object({
  uid: v.string(),
  version: countSchema,
  generation: countSchema,
  appliedAtMs: v.number(),
  appliedBy: v.string(),
  documentId: v.string(),
  contentHash: v.string(),
  // Of a release of Rollcall that kept none.
  history: v.array(ReleaseSchema),
});

/** The FleetDaemonSets of a registry's table. */
export function createDynamoFleetStore(options: DynamoStoreOptions): FleetStore {
  const table = new Table(options);
  return {
    readFleet: (key) => readFleet(table, key),
    readDocument: (key, documentId) => readDocument(table, key, documentId),
    listFleets: (page) => listFleets(table, page),
    writeFleet: (fleet, former) => writeFleet(table, fleet, former),
    removeFleet: (head) => removeFleet(table, head),
  };
}

async function readFleet(table: Table, key: FleetKey): Promise<StoredFleet | undefined> {
  for (let reads = 0; reads < READS_MAX; reads += 1) {
    const head = await table.getAs(fleetHeadKey(key), headOf);
    if (head === undefined) return undefined;
    const document = await readDocument(table, key, head.documentId);
    if (document !== undefined) return { head, document };
  }
  throw new ItemUnreadableError(fleetHeadKey(key), 'names a document that is not there');
}

function readDocument(
  table: Table,
  key: FleetKey,
  documentId: string,
): Promise<JsonObject | undefined> {
  const at = fleetDocumentKey(key, documentId);
  return table.getAs(at, ({ body }) => documentOf(at, body));
}

function documentOf(key: ReturnType<typeof fleetDocumentKey>, body: unknown): JsonObject {
  const document = decodeBody(key, body) as Json;
  if (isJsonObject(document)) return document;
  throw new ItemUnreadableError(key, 'holds no object');
}

function headOf(item: StoredItem): FleetHead {
  const sk = String(item['sk']);
  const parsed = v.safeParse(HeadSchema, item);
  const [namespace, name] = sk.split('/', 2);
  if (parsed.success && namespace !== undefined && name !== undefined) {
    return { namespace, name, ...parsed.output };
  }
  throw new ItemUnreadableError({ pk: FLEETS_PARTITION, sk }, 'is no head of a FleetDaemonSet');
}

async function listFleets(
  table: Table,
  { cursor, limit }: Parameters<FleetStore['listFleets']>[0],
): Promise<FleetPage> {
  const { items, hasMore } = await table.query({ pk: FLEETS_PARTITION, limit, after: cursor });
  const last = items.at(-1)?.['sk'];
  const fleets = items.map(headOf);
  return hasMore && typeof last === 'string' ? { fleets, cursor: last } : { fleets };
}

async function writeFleet(
  table: Table,
  { namespace, name, document, ...head }: FleetToWrite,
  former: FleetHead | undefined,
): Promise<FleetWrite> {
  const key = { namespace, name };
  const documentId = `${head.uid}#${table.token()}`;
  const at = fleetDocumentKey(key, documentId);
  try {
    await table.put(at, { body: encodeBody(at, document) });
  } catch (error) {
    if (error instanceof ItemTooLargeError) return 'too-large';
    throw error;
  }
  const attributes = { ...head, documentId, version: (former?.version ?? 0) + 1 };
  const written = await table.putIf(fleetHeadKey(key), attributes, ifStill(former));
  if (written === 'lost') await table.remove(at);
  else await removeDocuments(table, key, unnamed(former, head.history));
  return written;
}

/** Documents that a head named, and the one after it does not. */
function unnamed(
  former: FleetHead | undefined,
  history: readonly FleetRelease[],
): readonly string[] {
  const named = new Set(history.map(({ documentId }) => documentId));
  const before = former === undefined ? [] : [former, ...former.history];
  return before.map(({ documentId }) => documentId).filter((id) => !named.has(id));
}

async function removeDocuments(
  table: Table,
  key: FleetKey,
  documentIds: readonly string[],
): Promise<void> {
  await Promise.all(documentIds.map((id) => table.remove(fleetDocumentKey(key, id))));
}

async function removeFleet(table: Table, head: FleetHead): Promise<'written' | 'lost'> {
  const removed = await table.removeIf(fleetHeadKey(head), ifStill(head));
  if (removed === 'lost') return 'lost';
  const { pk } = fleetDocumentKey(head, '');
  const own = fleetDocumentKey(head, head.uid).sk;
  let after: string | undefined;
  for (;;) {
    const page = await table.query({ pk, attributes: ['sk'], after });
    const names = page.items.map((item) => String(item['sk']));
    const ours = names.filter((sk) => sk.startsWith(own));
    await Promise.all(ours.map((sk) => table.remove({ pk, sk })));
    after = names.at(-1);
    if (!page.hasMore || after === undefined) return 'written';
  }
}

/** A head of the same name that was made after the former one was removed is another one. */
function ifStill(head: FleetHead | undefined): Condition {
  if (head === undefined) return IF_MISSING;
  return {
    expression: 'version = :version AND #uid = :uid',
    names: { '#uid': 'uid' },
    values: { ':version': head.version, ':uid': head.uid },
  };
}
