/**
 * Rollouts of fleets over DynamoDB: records in one partition, which the schedule lists by one query; the
 * rest in a partition of each FleetDaemonSet's own.
 *
 *   FLEET-ROLLOUTS#00           namespace/name              record, compare-and-set on uid and version
 *   FLEET-ROLLOUT#ns/name#uid   CLUSTER#id                  record of a cluster, compare-and-set
 *                               MEMBERS#version-random#page ids, never changed
 *                               LOOKS#page                  what steps found, whoever wrote last
 *
 * A list bears the version of the record under which it was written: the next version alone names it,
 * so one that a later version does not name is nobody's. A step slower than the removal of its
 * FleetDaemonSet may leave a record of a cluster in a partition that nobody reads.
 */
import * as v from 'valibot';
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import type { FleetKey } from '../../../core/fleet/fleet-daemon-set.ts';
import type { FleetClusterRecord, FleetRecord } from '../../../core/fleet/rollout/fleet-record.ts';
import type { KeptLook } from '../../../core/fleet/rollout/tally-stage.ts';
import { clusterId } from '../../../core/model/identifiers.ts';
import type { ClusterId } from '../../../core/model/identifiers.ts';
import { MEMBERS_PER_PAGE } from '../../../ports/stores/fleet-rollout-store.ts';
import type {
  FleetInstance,
  FleetRolloutStore,
} from '../../../ports/stores/fleet-rollout-store.ts';
import type { StoredItem } from '../batched-reader.ts';
import { ItemUnreadableError, decodeBody, encodeBody, storedAs } from '../item-codec.ts';
import {
  FLEET_ROLLOUTS_PARTITION,
  fleetClusterKey,
  fleetLooksKey,
  fleetMembersKey,
  fleetRecordKey,
} from '../item-keys.ts';
import type { ItemKey } from '../item-keys.ts';
import { Table, ifSame, ifVersion } from '../table.ts';
import type { DynamoStoreOptions } from '../table.ts';
import { ClusterRecordSchema, LooksSchema, RecordSchema } from './fleet-record-schema.ts';

/** Pages written, and items removed, side by side. */
const AT_ONCE = 16;
/** Pages of looks: of 10,000 clusters each has some 300, and some 10 KB. */
const LOOK_PAGES = 32;
const versionSchema = v.pipe(v.number(), v.safeInteger(), v.minValue(1));
const membersIn = storedAs(
  v.array(v.pipe(v.string(), v.minLength(1), v.transform(clusterId))),
  'is no page of its list',
);

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
    readRecord: (key) => table.getAs(fleetRecordKey(key), recordOf),
    listRecords: async ({ cursor, limit }) => {
      const query = { pk: FLEET_ROLLOUTS_PARTITION, limit, after: cursor };
      const { items, ...next } = await table.query(query);
      const records: FleetRecord[] = [];
      const unreadable: FleetKey[] = [];
      for (const item of items) {
        try {
          records.push(recordOf(item));
        } catch (error) {
          if (!(error instanceof ItemUnreadableError)) throw error;
          unreadable.push(fleetKeyOf(item));
        }
      }
      return { records, unreadable, ...next };
    },
    // uid and version stand beside the body, for conditions.
    writeRecord: async ({ namespace, name, version, ...rest }) => {
      const key = fleetRecordKey({ namespace, name });
      const { uid } = rest;
      const attributes = { uid, version: version + 1, body: encodeBody(key, rest) };
      return table.putIf(key, attributes, ifSame({ uid, version }));
    },
    removeRollout: async (fleet) => {
      const { pk } = fleetMembersKey(fleet, '', 0);
      for await (const keys of table.keysOf(pk)) await removeAll(table, keys);
      await table.removeIf(fleetRecordKey(fleet), {
        expression: '#uid = :uid',
        names: { '#uid': 'uid' },
        values: { ':uid': fleet.uid },
      });
    },
  };
}

function recordOf(item: StoredItem): FleetRecord {
  return { ...fleetKeyOf(item), ...bodyOf(item, fleetRecordKey(fleetKeyOf(item)), RecordSchema) };
}

function fleetKeyOf({ sk }: StoredItem): FleetKey {
  const [namespace = '', name = ''] = String(sk).split('/', 2);
  return { namespace, name };
}

/** Body and version; names the fields that do not fit, never a value. */
function bodyOf<T>(item: StoredItem, key: ItemKey, schema: v.GenericSchema<unknown, T>) {
  const body = v.safeParse(schema, decodeBody(key, item['body']));
  const version = v.safeParse(versionSchema, item['version']);
  if (body.success && version.success) return { ...body.output, version: version.output };
  const fields = body.success
    ? ['version']
    : body.issues.map((issue) => v.getDotPath(issue) ?? 'the whole');
  throw new ItemUnreadableError(key, `is no record of a rollout: ${fields.slice(0, 8).join(', ')}`);
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
          const key = fleetMembersKey(fleet, id, page);
          const from = page * MEMBERS_PER_PAGE;
          const members = clusters.slice(from, from + MEMBERS_PER_PAGE);
          await table.put(key, { body: encodeBody(key, members) });
        },
      );
      return { id, count: clusters.length };
    },
    readMembers: async (fleet, list, page) => {
      const expected = Math.min(MEMBERS_PER_PAGE, list.count - page * MEMBERS_PER_PAGE);
      if (expected <= 0) return [];
      const key = fleetMembersKey(fleet, list.id, page);
      const item = await table.get(key);
      if (item === undefined) throw new ItemUnreadableError(key, 'is a page that is not there');
      const members = membersIn(decodeBody(key, item['body']), key);
      if (members.length === expected) return members;
      throw new ItemUnreadableError(key, 'is no page of its list');
    },
    removeMembersBut: async (fleet, lists) => {
      const kept = new Set(lists.map(({ id }) => id));
      const { pk, sk: first } = fleetMembersKey(fleet, '', 0);
      for await (const keys of table.keysOf(pk, first)) {
        const dead = keys.filter(({ sk }) => {
          const id = sk.split('#')[1] ?? '';
          // What has another form is not ours: NaN is no smaller number.
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
        // Asked for at the same time, so that they travel a hundred at a time (batched-reader.ts).
        const read = clusters.slice(from, from + MEMBERS_PER_PAGE).map(async (cluster) => {
          const key = fleetClusterKey(fleet, cluster);
          const item = await table.get(key);
          if (item === undefined) return;
          records.set(cluster, { cluster, ...bodyOf(item, key, ClusterRecordSchema) });
        });
        await Promise.all(read);
      }
      return records;
    },
    writeClusterRecord: async (fleet, { cluster, version, ...rest }) => {
      const key = fleetClusterKey(fleet, cluster);
      const attributes = { version: version + 1, body: encodeBody(key, rest) };
      return table.putIf(key, attributes, ifVersion(version));
    },
  };
}

function looksIn(table: Table): Part<'readLooks' | 'writeLooks'> {
  return {
    readLooks: async (fleet) => {
      const items = await Promise.all(
        lookKeys(fleet).map((key) => table.getAs(key, ({ body }) => decodeBody(key, body))),
      );
      const looks = new Map<ClusterId, KeptLook>();
      for (const item of items) {
        const page = v.safeParse(LooksSchema, item);
        // What cannot be read is looked at again.
        for (const look of page.success ? page.output : []) {
          const known = looks.get(look.cluster);
          if (known === undefined || known.atMs < look.atMs) looks.set(look.cluster, look);
        }
      }
      return looks;
    },
    writeLooks: async (fleet, looks) => {
      const perPage = Math.ceil(looks.length / LOOK_PAGES);
      await sideBySide([...lookKeys(fleet).entries()], AT_ONCE, ([page, key]) =>
        table.put(key, {
          body: encodeBody(key, looks.slice(page * perPage, (page + 1) * perPage)),
        }),
      );
    },
  };
}

function lookKeys(fleet: FleetInstance): readonly ItemKey[] {
  return Array.from({ length: LOOK_PAGES }, (_, page) => fleetLooksKey(fleet, page));
}
