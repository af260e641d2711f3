/**
 * Rollouts of fleets over DynamoDB: records in one partition, so that the schedule lists them by one query; lists of members and
 * records of clusters in a partition of each FleetDaemonSet's own.
 *
 *   FLEET-ROLLOUTS#00           namespace/name              record, compare-and-set on uid and version
 *   FLEET-ROLLOUT#ns/name#uid   CLUSTER#id                  record of a cluster, compare-and-set on version
 *                               MEMBERS#version-random#page ids, never changed
 *                               LOOKS#page                  what steps found at clusters, whoever wrote last
 *
 * A list bears the version of the record under which it was written: it can be named by the next version alone, so one that
 * a later version does not name is nobody's. A step that is slower than the removal of its FleetDaemonSet may leave a record of a
 * cluster behind, in a partition that nobody reads.
 */
import * as v from 'valibot';
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import type { FleetKey } from '../../../core/fleet/fleet-daemon-set.ts';
import type {
  FleetClusterRecord,
  FleetRecord,
  MemberList,
} from '../../../core/fleet/rollout/fleet-record.ts';
import type { KeptLook } from '../../../core/fleet/rollout/tally-stage.ts';
import { clusterId } from '../../../core/model/identifiers.ts';
import type { ClusterId } from '../../../core/model/identifiers.ts';
import { MEMBERS_PER_PAGE } from '../../../ports/stores/fleet-rollout-store.ts';
import type {
  FleetInstance,
  FleetRecordPage,
  FleetRolloutStore,
  FleetVersion,
} from '../../../ports/stores/fleet-rollout-store.ts';
import type { StoredItem } from '../batched-reader.ts';
import { ItemUnreadableError, decodeBody, encodeBody } from '../item-codec.ts';
import {
  FLEET_ROLLOUTS_PARTITION,
  fleetClusterKey,
  fleetLooksKey,
  fleetMembersKey,
  fleetRecordKey,
} from '../item-keys.ts';
import type { ItemKey } from '../item-keys.ts';
import { IF_MISSING, Table, ifVersion } from '../table.ts';
import type { Condition, DynamoStoreOptions } from '../table.ts';
import { ClusterRecordSchema, LooksSchema, RecordSchema } from './fleet-record-schema.ts';

/** Pages written, and items removed, side by side. */
const AT_ONCE = 16;
/** Pages of looks: of 10,000 clusters each has some 300, and some 10 KB. */
const LOOK_PAGES = 32;
/** Keys of a partition that are read at a time. */
const KEYS_PER_PAGE = 1000;

const versionSchema = v.pipe(v.number(), v.safeInteger(), v.minValue(1));
const PageSchema = v.array(v.pipe(v.string(), v.minLength(1), v.transform(clusterId)));

/** The rollouts of a registry's table. */
export function createDynamoFleetRolloutStore(options: DynamoStoreOptions): FleetRolloutStore {
  const table = new Table(options);
  return {
    readRecord: (key) => table.getAs(fleetRecordKey(key), recordOf),
    listRecords: (page) => listRecords(table, page),
    writeRecord: (record) => writeRecord(table, record),
    removeRollout: (fleet) => removeRollout(table, fleet),
    writeMembers: (fleet, clusters) => writeMembers(table, fleet, clusters),
    readMembers: (fleet, list, page) => readMembers(table, { fleet, list, page }),
    removeMembersBut: (fleet, lists) => removeMembersBut(table, fleet, lists),
    readClusterRecords: (fleet, clusters) => readClusterRecords(table, fleet, clusters),
    writeClusterRecord: async (fleet, { cluster, version, ...rest }) => {
      const key = fleetClusterKey(fleet, cluster);
      const attributes = { version: version + 1, body: encodeBody(key, rest) };
      return table.putIf(key, attributes, ifVersion(version));
    },
    readLooks: (fleet) => readLooks(table, fleet),
    writeLooks: (fleet, looks) => writeLooks(table, fleet, looks),
  };
}

function recordOf(item: StoredItem): FleetRecord {
  const key = { pk: FLEET_ROLLOUTS_PARTITION, sk: String(item['sk']) };
  return { ...fleetKeyOf(key), ...bodyOf(key, item, RecordSchema) };
}

function fleetKeyOf({ sk }: ItemKey): FleetKey {
  const [namespace = '', name = ''] = sk.split('/', 2);
  return { namespace, name };
}

/** Body and version; names the fields that do not fit, never a value. */
function bodyOf<T>(key: ItemKey, item: StoredItem, schema: v.GenericSchema<unknown, T>) {
  const body = v.safeParse(schema, decodeBody(key, item['body']));
  const version = v.safeParse(versionSchema, item['version']);
  if (body.success && version.success) return { ...body.output, version: version.output };
  const fields = body.success
    ? ['version']
    : body.issues.map((issue) => v.getDotPath(issue) ?? 'the whole');
  throw new ItemUnreadableError(key, `is no record of a rollout: ${fields.slice(0, 8).join(', ')}`);
}

async function listRecords(
  table: Table,
  { cursor, limit }: Parameters<FleetRolloutStore['listRecords']>[0],
): Promise<FleetRecordPage> {
  const query = { pk: FLEET_ROLLOUTS_PARTITION, limit, after: cursor };
  const { items, hasMore } = await table.query(query);
  const records: FleetRecord[] = [];
  const unreadable: FleetKey[] = [];
  for (const item of items) {
    try {
      records.push(recordOf(item));
    } catch (error) {
      if (!(error instanceof ItemUnreadableError)) throw error;
      unreadable.push(fleetKeyOf({ pk: query.pk, sk: String(item['sk']) }));
    }
  }
  const last = items.at(-1)?.['sk'];
  const page = { records, unreadable };
  return hasMore && typeof last === 'string' ? { ...page, cursor: last } : page;
}

/** uid and version stand beside the body, for conditions. */
async function writeRecord(
  table: Table,
  { namespace, name, version, ...rest }: FleetRecord,
): Promise<'written' | 'lost'> {
  const key = fleetRecordKey({ namespace, name });
  const attributes = { uid: rest.uid, version: version + 1, body: encodeBody(key, rest) };
  return table.putIf(key, attributes, ifStill(rest.uid, version));
}

/** A record under this name of another FleetDaemonSet may have come to the same version. */
function ifStill(uid: string, version: number): Condition {
  if (version === 0) return IF_MISSING;
  return {
    expression: 'version = :version AND #uid = :uid',
    names: { '#uid': 'uid' },
    values: { ':version': version, ':uid': uid },
  };
}

async function removeRollout(table: Table, fleet: FleetInstance): Promise<void> {
  const { pk } = fleetMembersKey(fleet, '', 0);
  for await (const keys of keysAfter(table, { pk, sk: ' ' })) await removeAll(table, keys);
  await table.removeIf(fleetRecordKey(fleet), {
    expression: '#uid = :uid',
    names: { '#uid': 'uid' },
    values: { ':uid': fleet.uid },
  });
}

async function* keysAfter(
  table: Table,
  { pk, sk }: ItemKey,
): AsyncGenerator<readonly ItemKey[], void> {
  let after: string | undefined = sk;
  while (after !== undefined) {
    const query = { pk, after, limit: KEYS_PER_PAGE, attributes: ['sk'] };
    const { items, hasMore } = await table.query(query);
    const keys = items.map((item) => ({ pk, sk: String(item['sk']) }));
    yield keys;
    after = hasMore ? keys.at(-1)?.sk : undefined;
  }
}

async function removeAll(table: Table, keys: readonly ItemKey[]): Promise<void> {
  await sideBySide(keys, AT_ONCE, (key) => table.remove(key));
}

async function writeMembers(
  table: Table,
  fleet: FleetVersion,
  clusters: readonly ClusterId[],
): Promise<MemberList> {
  if (clusters.length === 0) return { id: '', count: 0 };
  const id = `${String(fleet.version)}-${table.token()}`;
  const pages = Array.from({ length: pagesOf(clusters.length) }, (_, page) => page);
  await sideBySide(pages, AT_ONCE, async (page) => {
    const key = fleetMembersKey(fleet, id, page);
    const from = page * MEMBERS_PER_PAGE;
    await table.put(key, { body: encodeBody(key, clusters.slice(from, from + MEMBERS_PER_PAGE)) });
  });
  return { id, count: clusters.length };
}

function pagesOf(count: number): number {
  return Math.ceil(count / MEMBERS_PER_PAGE);
}

async function readMembers(
  table: Table,
  {
    fleet,
    list,
    page,
  }: { readonly fleet: FleetInstance; readonly list: MemberList; readonly page: number },
): Promise<readonly ClusterId[]> {
  const expected = Math.min(MEMBERS_PER_PAGE, list.count - page * MEMBERS_PER_PAGE);
  if (expected <= 0) return [];
  const key = fleetMembersKey(fleet, list.id, page);
  const item = await table.get(key);
  if (item === undefined) throw new ItemUnreadableError(key, 'is a page that is not there');
  const members = v.safeParse(PageSchema, decodeBody(key, item['body']));
  if (members.success && members.output.length === expected) return members.output;
  throw new ItemUnreadableError(key, 'is no page of its list');
}

async function removeMembersBut(
  table: Table,
  fleet: FleetVersion,
  lists: readonly MemberList[],
): Promise<void> {
  const kept = new Set(lists.map(({ id }) => id));
  for await (const keys of keysAfter(table, fleetMembersKey(fleet, '', 0))) {
    const dead = keys.filter(({ sk }) => {
      const id = sk.split('#')[1] ?? '';
      // What has another form is not ours: NaN is no smaller number.
      return !kept.has(id) && Number(id.split('-', 1)[0]) < fleet.version;
    });
    await removeAll(table, dead);
  }
}

async function readClusterRecords(
  table: Table,
  fleet: FleetInstance,
  clusters: readonly ClusterId[],
): Promise<ReadonlyMap<ClusterId, FleetClusterRecord>> {
  const records = new Map<ClusterId, FleetClusterRecord>();
  for (let from = 0; from < clusters.length; from += MEMBERS_PER_PAGE) {
    // Asked for at the same time, so that they travel a hundred at a time (batched-reader.ts).
    const read = clusters.slice(from, from + MEMBERS_PER_PAGE).map(async (cluster) => {
      const key = fleetClusterKey(fleet, cluster);
      const item = await table.get(key);
      if (item === undefined) return;
      records.set(cluster, { cluster, ...bodyOf(key, item, ClusterRecordSchema) });
    });
    await Promise.all(read);
  }
  return records;
}

/** What cannot be read is looked at again. */
async function readLooks(
  table: Table,
  fleet: FleetInstance,
): Promise<ReadonlyMap<ClusterId, KeptLook>> {
  const pages = await Promise.all(
    lookKeys(fleet).map(async (key) => [key, await table.get(key)] as const),
  );
  const looks = new Map<ClusterId, KeptLook>();
  for (const [key, item] of pages) {
    if (item === undefined) continue;
    const page = v.safeParse(LooksSchema, decodeBody(key, item['body']));
    for (const look of page.success ? page.output : []) {
      const known = looks.get(look.cluster);
      if (known === undefined || known.atMs < look.atMs) looks.set(look.cluster, look);
    }
  }
  return looks;
}

async function writeLooks(
  table: Table,
  fleet: FleetInstance,
  looks: readonly KeptLook[],
): Promise<void> {
  const perPage = Math.ceil(looks.length / LOOK_PAGES);
  const pages = lookKeys(fleet).map(
    (key, page) => [key, looks.slice(page * perPage, (page + 1) * perPage)] as const,
  );
  await sideBySide(pages, AT_ONCE, ([key, page]) =>
    table.put(key, { body: encodeBody(key, page) }),
  );
}

function lookKeys(fleet: FleetInstance): readonly ItemKey[] {
  return Array.from({ length: LOOK_PAGES }, (_, page) => fleetLooksKey(fleet, page));
}
