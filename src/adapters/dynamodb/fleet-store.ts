/**
 * FleetDaemonSets over DynamoDB: heads in one partition, listed by one query; documents in one each.
 *
 *   write    document under a new name ─▶ head (compare-and-set) ─▶ documents that it names no more go
 *   remove   head (compare-and-set) ─▶ documents of its uid
 *
 * A process may die between any two: a document that nobody names goes with its FleetDaemonSet.
 */
import type { FleetKey } from '../../core/fleet/fleet-daemon-set.ts';
import type { FleetRelease } from '../../core/fleet/rollout/fleet-record.ts';
import type {
  FleetHead,
  FleetStore,
  FleetToWrite,
  FleetWrite,
  StoredFleet,
} from '../../ports/stores/fleet-store.ts';
import { ItemTooLargeError, ItemUnreadableError, at } from './item-codec.ts';
import { FLEET, FLEETS_PARTITION, FLEET_DOCUMENT } from './fleet-records.ts';
import { IF_MISSING, Table, ifSame, type DynamoStoreOptions } from './table.ts';

/** Somebody may apply anew between the two reads, and again. */
const READS_MAX = 4;

/** The FleetDaemonSets of a registry's table. */
export function createDynamoFleetStore(options: DynamoStoreOptions): FleetStore {
  const table = new Table(options);
  return {
    readFleet: (key) => readFleet(table, key),
    readDocument: (key, documentId) => table.read(FLEET_DOCUMENT, key, documentId),
    listFleets: async ({ cursor, limit }) => {
      const query = { pk: FLEETS_PARTITION, limit, after: cursor };
      const { records: fleets, ...next } = await table.list(FLEET, query);
      return { fleets, ...next };
    },
    writeFleet: (fleet, former) => writeFleet(table, fleet, former),
    removeFleet: async (head) => {
      const removed = await table.removeIf(FLEET.keyOf(head), ifSame(head));
      if (removed === 'lost') return 'lost';
      const own = FLEET_DOCUMENT.keyOf(head, head.uid);
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
    const head = await table.read(FLEET, key);
    if (head === undefined) return undefined;
    const document = await table.read(FLEET_DOCUMENT, key, head.documentId);
    if (document !== undefined) return { head, document };
  }
  throw new ItemUnreadableError(FLEET.keyOf(key), 'names a document that is not there');
}

async function writeFleet(
  table: Table,
  { document, ...head }: FleetToWrite,
  former: FleetHead | undefined,
): Promise<FleetWrite> {
  const documentId = `${head.uid}#${table.token()}`;
  try {
    await table.write(at(FLEET_DOCUMENT, head, documentId), document);
  } catch (error) {
    if (error instanceof ItemTooLargeError) return 'too-large';
    throw error;
  }
  const next = { ...head, documentId, version: (former?.version ?? 0) + 1 };
  const ifFormer = former === undefined ? IF_MISSING : ifSame(former);
  const written = await table.writeIf(at(FLEET, head), next, ifFormer);
  const dead = written === 'lost' ? [documentId] : unnamed(former, head.history);
  await Promise.all(dead.map((id) => table.remove(FLEET_DOCUMENT.keyOf(head, id))));
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
