/**
 * FleetDaemonSets over DynamoDB: heads in one partition, listed by one query; documents in one each.
 *
 *   write    document under a new name ─▶ head (compare-and-set) ─▶ documents that it names no more go
 *   remove   head (compare-and-set) ─▶ documents of its uid
 *
 * A process may die between any two: a document that nobody names goes with its FleetDaemonSet.
 */
import * as v from 'valibot';
import { isJsonObject } from '@rollcall/base/json.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { FleetKey } from '../../../core/fleet/fleet-daemon-set.ts';
import type { FleetRelease } from '../../../core/fleet/rollout/fleet-record.ts';
import type {
  FleetHead,
  FleetStore,
  FleetToWrite,
  FleetWrite,
  StoredFleet,
} from '../../../ports/stores/fleet-store.ts';
import type { StoredItem } from '../batched-reader.ts';
import {
  ItemTooLargeError,
  ItemUnreadableError,
  decodeBody,
  encodeBody,
  storedAs,
} from '../item-codec.ts';
import { FLEETS_PARTITION, fleetDocumentKey, fleetHeadKey } from '../item-keys.ts';
import { IF_MISSING, Table, ifSame } from '../table.ts';
import type { DynamoStoreOptions } from '../table.ts';
import { ReleaseSchema } from './fleet-record-schema.ts';

/** Somebody may apply anew between the two reads, and again. */
const READS_MAX = 4;

const countSchema = v.pipe(v.number(), v.safeInteger(), v.minValue(1));
const headIn = storedAs(
  v.object({
    uid: v.string(),
    version: countSchema,
    generation: countSchema,
    appliedAtMs: v.number(),
    appliedBy: v.string(),
    documentId: v.string(),
    contentHash: v.string(),
    // Of a release of Rollcall that kept none.
    history: v.array(ReleaseSchema),
  }),
  'is no head of a FleetDaemonSet',
);
const documentIn = storedAs(v.custom<JsonObject>(isJsonObject), 'holds no object');

/** The FleetDaemonSets of a registry's table. */
export function createDynamoFleetStore(options: DynamoStoreOptions): FleetStore {
  const table = new Table(options);
  return {
    readFleet: (key) => readFleet(table, key),
    readDocument: (key, documentId) => readDocument(table, key, documentId),
    listFleets: async ({ cursor, limit }) => {
      const { items, ...next } = await table.query({ pk: FLEETS_PARTITION, limit, after: cursor });
      return { fleets: items.map(headOf), ...next };
    },
    writeFleet: (fleet, former) => writeFleet(table, fleet, former),
    removeFleet: async (head) => {
      const removed = await table.removeIf(fleetHeadKey(head), ifSame(head));
      if (removed === 'lost') return 'lost';
      const own = fleetDocumentKey(head, head.uid);
      for await (const keys of table.keysOf(own.pk)) {
        const ours = keys.filter(({ sk }) => sk.startsWith(own.sk));
        await Promise.all(ours.map((key) => table.remove(key)));
      }
      return 'written';
    },
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
  return table.getAs(fleetDocumentKey(key, documentId), ({ body }, at) =>
    documentIn(decodeBody(at, body), at),
  );
}

function headOf(item: StoredItem): FleetHead {
  const sk = String(item['sk']);
  const [namespace = '', name = ''] = sk.split('/', 2);
  return { namespace, name, ...headIn(item, { pk: FLEETS_PARTITION, sk }) };
}

async function writeFleet(
  table: Table,
  { document, ...head }: FleetToWrite,
  former: FleetHead | undefined,
): Promise<FleetWrite> {
  const documentId = `${head.uid}#${table.token()}`;
  const at = fleetDocumentKey(head, documentId);
  try {
    await table.put(at, { body: encodeBody(at, document) });
  } catch (error) {
    if (error instanceof ItemTooLargeError) return 'too-large';
    throw error;
  }
  const { namespace: _namespace, name: _name, ...rest } = head;
  const attributes = { ...rest, documentId, version: (former?.version ?? 0) + 1 };
  const ifFormer = former === undefined ? IF_MISSING : ifSame(former);
  const written = await table.putIf(fleetHeadKey(head), attributes, ifFormer);
  const dead = written === 'lost' ? [documentId] : unnamed(former, head.history);
  await Promise.all(dead.map((id) => table.remove(fleetDocumentKey(head, id))));
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
