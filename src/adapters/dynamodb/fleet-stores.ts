/**
 * FleetDaemonSets and their rollouts over DynamoDB.
 *
 *   FLEETS#00                   namespace/name              head, compare-and-set on uid and version
 *   FLEET#ns/name               DOCUMENT#id                 a document, never changed
 *   FLEET-ROLLOUTS#00           namespace/name              record, compare-and-set on uid and version
 *   FLEET-ROLLOUT#ns/name#uid   CLUSTER#id                  record of a cluster, compare-and-set
 *                               MEMBERS#version-random#page ids, never changed
 *                               LOOKS#page                  what steps found; the last write wins
 *
 * A list bears the version of the record under which it was written: the next version alone names it,
 * so a list that no later version names is garbage. A step slower than the removal of its
 * FleetDaemonSet may leave a record of a cluster in a partition that is never read.
 */
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import type { FleetKey } from '../../core/fleet/fleet-daemon-set.ts';
import type { FleetClusterRecord, FleetRelease } from '../../core/fleet/rollout/fleet-record.ts';
import type { KeptLook } from '../../core/fleet/rollout/tally-stage.ts';
import type { ClusterId } from '../../core/model/identifiers.ts';
import {
  MEMBERS_PER_PAGE,
  type FleetRolloutStore,
  type FleetHead,
  type FleetStore,
  type FleetToWrite,
  type FleetWrite,
  type StoredFleet,
} from '../../ports/stores/fleet-rollout-store.ts';
import { ItemUnreadableError, at, namesIn, type ItemKey, ItemTooLargeError } from './item-codec.ts';
import {
  FLEET_CLUSTER,
  FLEET_LOOKS,
  FLEET_MEMBERS,
  FLEET_ROLLOUT,
  FLEET_ROLLOUTS_PARTITION,
  MEMBERS_PREFIX,
  fleetPartition,
  FLEET,
  FLEETS_PARTITION,
  FLEET_DOCUMENT,
} from './fleet-records.ts';
import { Table, ifSame, type DynamoStoreOptions, IF_MISSING } from './table.ts';

/** Pages written, and items removed, side by side. */
const AT_ONCE = 16;
/** Pages of looks: of 10,000 clusters each has some 300, and some 10 KB. */
const LOOK_PAGES = Array.from({ length: 32 }, (_, page) => page);

/** The rollouts of a registry's table. */
export function createDynamoFleetRolloutStore(options: DynamoStoreOptions): FleetRolloutStore {
  const table = new Table(options);
  return {
    ...recordsIn(table),
    ...membersStoredIn(table),
    ...clustersIn(table),
    ...looksIn(table),
  };
}

type Part<TName extends keyof FleetRolloutStore> = Pick<FleetRolloutStore, TName>;

function recordsIn(
  table: Table,
): Part<'readRecord' | 'listRecords' | 'writeRecord' | 'removeRollout'> {
  return {
    readRecord: (key) => table.read(FLEET_ROLLOUT, key),
    listRecords: async ({ cursor, limit }) => {
      const query = { pk: FLEET_ROLLOUTS_PARTITION, limit, after: cursor };
      return table.listReadable(FLEET_ROLLOUT, query, (_error, { sk }) => namesIn(sk));
    },
    writeRecord: (record) => {
      const next = { ...record, version: record.version + 1 };
      return table.writeIf(at(FLEET_ROLLOUT, record), next, ifSame(record));
    },
    removeRollout: async (fleet) => {
      for await (const keys of table.keysOf(fleetPartition(fleet))) await removeAll(table, keys);
      await table.removeIf(FLEET_ROLLOUT.keyOf(fleet), {
        expression: '#uid = :uid',
        names: { '#uid': 'uid' },
        values: { ':uid': fleet.uid },
      });
    },
  };
}

async function removeAll(table: Table, keys: readonly ItemKey[]): Promise<void> {
  await sideBySide(keys, AT_ONCE, (key) => table.remove(key));
}

function membersStoredIn(table: Table): Part<'writeMembers' | 'readMembers' | 'removeMembersBut'> {
  return {
    writeMembers: async (fleet, clusters) => {
      if (clusters.length === 0) return { id: '', count: 0 };
      const id = `${String(fleet.version)}-${table.token()}`;
      const length = Math.ceil(clusters.length / MEMBERS_PER_PAGE);
      await sideBySide(
        Array.from({ length }, (_, page) => page),
        AT_ONCE,
        async (page) => {
          const from = page * MEMBERS_PER_PAGE;
          const members = clusters.slice(from, from + MEMBERS_PER_PAGE);
          await table.write(at(FLEET_MEMBERS, fleet, id, page), members);
        },
      );
      return { id, count: clusters.length };
    },
    readMembers: async (fleet, list, page) => {
      const expected = Math.min(MEMBERS_PER_PAGE, list.count - page * MEMBERS_PER_PAGE);
      if (expected <= 0) return [];
      const members = await table.read(FLEET_MEMBERS, fleet, list.id, page);
      if (members?.length === expected) return members;
      const detail =
        members === undefined ? 'is a page that is not there' : 'is no page of its list';
      throw new ItemUnreadableError(FLEET_MEMBERS.keyOf(fleet, list.id, page), detail);
    },
    removeMembersBut: async (fleet, lists) => {
      const kept = new Set(lists.map(({ id }) => id));
      for await (const keys of table.keysOf(fleetPartition(fleet), MEMBERS_PREFIX)) {
        const dead = keys.filter(({ sk }) => {
          const id = sk.split('#')[1] ?? '';
          // A key of another form is not ours: NaN is no smaller number.
          return !kept.has(id) && Number(id.split('-', 1)[0]) < fleet.version;
        });
        await removeAll(table, dead);
      }
    },
  };
}

function clustersIn(table: Table): Part<'readClusterRecords' | 'writeClusterRecord'> {
  return {
    readClusterRecords: async (fleet, clusters) => {
      const records = new Map<ClusterId, FleetClusterRecord>();
      for (let from = 0; from < clusters.length; from += MEMBERS_PER_PAGE) {
        // Asked for at the same time, so that they travel a hundred at a time (batches.ts).
        const read = clusters.slice(from, from + MEMBERS_PER_PAGE).map(async (cluster) => {
          const record = await table.read(FLEET_CLUSTER, fleet, cluster);
          if (record !== undefined) records.set(cluster, record);
        });
        await Promise.all(read);
      }
      return records;
    },
    writeClusterRecord: (fleet, record) =>
      table.writeNext(at(FLEET_CLUSTER, fleet, record.cluster), record),
  };
}

function looksIn(table: Table): Part<'readLooks' | 'writeLooks'> {
  return {
    readLooks: async (fleet) => {
      const pages = LOOK_PAGES.map((page) => table.read(FLEET_LOOKS, fleet, page));
      const looks = new Map<ClusterId, KeptLook>();
      for (const look of (await Promise.all(pages)).flatMap((page) => page ?? [])) {
        const known = looks.get(look.cluster);
        if (known === undefined || known.atMs < look.atMs) looks.set(look.cluster, look);
      }
      return looks;
    },
    writeLooks: async (fleet, looks) => {
      const perPage = Math.ceil(looks.length / LOOK_PAGES.length);
      await sideBySide(LOOK_PAGES, AT_ONCE, (page) =>
        table.write(
          at(FLEET_LOOKS, fleet, page),
          looks.slice(page * perPage, (page + 1) * perPage),
        ),
      );
    },
  };
}

/** An operator may apply anew between the two reads, and again. */
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

/**
 * The document under a new name, then the head, then documents that it names no more go. A process may die between any
 * two: a document without a name goes with its FleetDaemonSet.
 */
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
