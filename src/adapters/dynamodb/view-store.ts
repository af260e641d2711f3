/**
 * The view's table over DynamoDB: what `ingest` writes and `reconcile` reads, one record a call
 * (records.ts). Reads are strongly consistent unless the client's are not (lagging-reads.ts), writes
 * compare-and-set: a stamp or a version never goes back (S8).
 */
import { defined } from '@rollcall/base/defined.ts';
import type { ClusterUid } from '../../core/model/identifiers.ts';
import type { Stamp } from '../../core/model/position.ts';
import type { DaemonSetPosition, NameItem } from '../../core/model/view-items.ts';
import type {
  CoveragePage,
  DaemonSetRef,
  LogPage,
  NamePage,
  NamePageOptions,
  SliceRef,
  ViewStore,
  WriteResult,
} from '../../ports/stores/view-store.ts';
import { at, type ItemUnreadableError } from './item-codec.ts';
import {
  BREAKER,
  COVERAGE,
  DAEMON_SET,
  LOG,
  META,
  NAME,
  OLDER_TOMBSTONES,
  POSITION,
  SLICE,
  STATE,
  WALK,
  coverageDayKey,
  coveragePartition,
  daemonSetPartition,
  logPartition,
  namePartition,
} from './records.ts';
import { IF_MISSING, Table, ifStamp, ifStampOlder } from './table.ts';
import type { Condition, DynamoStoreOptions } from './table.ts';

/** The view table, over a DynamoDB-compatible one with string keys `pk` and `sk`. */
export function createDynamoViewStore(options: DynamoStoreOptions): ViewStore {
  const writtenUnits = new Map<ClusterUid, number>();
  const table = new Table({ ...options, onWrite: unitsAdder(writtenUnits) });
  return {
    writtenUnits,
    readMeta: (cluster) => table.read(META, cluster),
    writeMeta: (meta) => table.writeNext(at(META, meta.clusterUid), meta),
    readBreaker: (cluster) => table.read(BREAKER, cluster),
    writeBreaker: (cluster, breaker) => {
      const next = { ...breaker, version: breaker.version + 1 };
      return table.writeIf(at(BREAKER, cluster), next, ifBreakerVersion(breaker.version));
    },
    readName: (cluster, key) => table.read(NAME, cluster, key),
    listNames: (cluster, options) => listNames(table, cluster, options),
    writeName: (cluster, item) =>
      table.writeIf(at(NAME, cluster, item), item, ifStampOlder(item.stamp)),
    removeName: (cluster, item) => table.removeIf(NAME.keyOf(cluster, item), ifStamp(item.stamp)),
    readDaemonSet: (ref) => table.read(DAEMON_SET, ref),
    writeDaemonSet: (ref, item) =>
      table.writeIf(at(DAEMON_SET, ref), item, ifStampOlder(item.stamp)),
    removeDaemonSet: (ref) => removeDaemonSet(table, ref),
    readPosition: (ref) => table.read(POSITION, ref),
    raisePosition: (ref, position) => raisePosition(table, ref, position),
    readSlice: (ref) => table.read(SLICE, ref),
    writeSlice: (ref, slice, expected) =>
      table.writeIf(at(SLICE, ref), slice, expected === undefined ? IF_MISSING : ifStamp(expected)),
    removeSlice: (ref, expected) => removeSlice(table, ref, expected),
    readOlderTombstones: (ref) => table.read(OLDER_TOMBSTONES, ref),
    writeOlderTombstones: (ref, older) => table.writeNext(at(OLDER_TOMBSTONES, ref), older),
    readState: (ref) => table.read(STATE, ref),
    writeState: (ref, state) => table.writeNext(at(STATE, ref), state),
    readWalk: () => table.read(WALK),
    writeWalk: (walk) => table.writeNext(at(WALK), walk),
    putLogItem: (cluster, item) => table.write(at(LOG, cluster, item), item),
    listLogItems: (cluster, page) => listLogItems(table, cluster, page),
    putCoverageDays: (cluster, days) => table.write(at(COVERAGE, cluster, days), days),
    listCoverageDays: (cluster, page) => listCoverageDays(table, cluster, page),
  };
}

const WRITE_UNIT_BYTES = 1024;
/** Keys, names of attributes, stamp and token of an item: about so much beside its bodies. */
const BESIDE_BODIES_BYTES = 200;

/** Adds up by cluster what is written of it: partitions are `NODES#uid#00`, `PODS#uid/…`, `DS#uid/…` and so on. */
function unitsAdder(units: Map<ClusterUid, number>): NonNullable<DynamoStoreOptions['onWrite']> {
  return ({ pk, sk }, attributes) => {
    if (sk === 'META' || sk === 'STATE' || sk === 'WALK') return;
    const cluster = pk.split(/[#/]/, 2)[1] as ClusterUid; // every key of this table has one
    let bytes = BESIDE_BODIES_BYTES;
    for (const each of Object.values(attributes)) {
      if (each instanceof Uint8Array) bytes += each.byteLength;
    }
    units.set(cluster, (units.get(cluster) ?? 0) + Math.ceil(bytes / WRITE_UNIT_BYTES));
  };
}

/** None is noted where nothing was heard of the cluster. */
function ifBreakerVersion(version: number): Condition {
  if (version > 0)
    return { expression: 'breakerVersion = :expected', values: { ':expected': version } };
  return { expression: 'attribute_exists(version) AND attribute_not_exists(breakerVersion)' };
}

const POSITION_ATTRIBUTES = ['podsChanged', 'revisionsChanged'] as const;

/** Raises each given stamp by a condition of its own; two only when one alone does not hold. */
async function raisePosition(
  table: Table,
  ref: DaemonSetRef,
  position: Partial<DaemonSetPosition>,
): Promise<void> {
  const given = POSITION_ATTRIBUTES.filter((name) => position[name] !== undefined);
  if (given.length === 0) return;
  const raised = given.map((name) => [name, position[name]] as const);
  const result = await table.writeIf(at(POSITION, ref), Object.fromEntries(raised), {
    expression: given
      .map((name) => `(attribute_not_exists(${name}) OR ${name} < :${name})`)
      .join(' AND '),
    values: Object.fromEntries(raised.map(([name, stamp]) => [`:${name}`, stamp])),
  });
  if (result === 'written' || given.length === 1) return;
  await Promise.all(given.map((name) => raisePosition(table, ref, { [name]: position[name] })));
}

/** Pages of a partition are cut at 1 MB, and deleted names are left out after that. */
async function listNames(
  table: Table,
  cluster: ClusterUid,
  options: NamePageOptions,
): Promise<NamePage> {
  const names: NameItem[] = [];
  let cursor = options.cursor;
  for (;;) {
    const limit = options.limit + 1;
    const page = await table.list(NAME, { pk: namePartition(cluster), limit, after: cursor });
    for (const name of page.records) {
      const isWanted = options.includeDeleted === true || name.uid !== null;
      if (isWanted && names.length === options.limit) return { names, ...defined({ cursor }) };
      if (isWanted) names.push(name);
      cursor = NAME.keyOf(cluster, name).sk;
    }
    if (page.cursor === undefined) return { names };
  }
}

function messageOf({ message }: ItemUnreadableError): string {
  return message;
}

/** An expired item may still stand there for days; an unreadable one hides no other. */
async function listLogItems(
  table: Table,
  cluster: ClusterUid | undefined,
  { day, cursor, fromMs, nowMs }: Parameters<ViewStore['listLogItems']>[1],
): Promise<LogPage> {
  // Sort keys are a time and a token: what is of that very time comes after the time alone.
  const from = fromMs === undefined ? undefined : new Date(fromMs).toISOString();
  const after = cursor ?? from;
  const query = { pk: logPartition(cluster, day), after };
  const { records, ...page } = await table.listReadable(LOG, query, messageOf);
  const items = records.flatMap(({ item, expiresAtMs }) => (expiresAtMs > nowMs ? item : []));
  return { ...page, items };
}

async function listCoverageDays(
  table: Table,
  cluster: ClusterUid,
  { fromDay, cursor }: Parameters<ViewStore['listCoverageDays']>[1],
): Promise<CoveragePage> {
  const after = cursor ?? coverageDayKey(fromDay);
  const query = { pk: coveragePartition(cluster), after };
  const { records: items, ...page } = await table.listReadable(COVERAGE, query, messageOf);
  return { ...page, items };
}

/** The slice first: a late writer must not find the items gone that the slice refers to. */
async function removeSlice(table: Table, ref: SliceRef, expected: Stamp): Promise<WriteResult> {
  const result = await table.removeIf(SLICE.keyOf(ref), ifStamp(expected));
  if (result === 'written' && ref.set.startsWith('pods/')) {
    await table.remove(OLDER_TOMBSTONES.keyOf(ref));
  }
  return result;
}

async function removeDaemonSet(table: Table, ref: DaemonSetRef): Promise<void> {
  const pk = daemonSetPartition(ref);
  for await (const keys of table.keysOf(pk)) {
    await Promise.all(keys.map((key) => table.remove(key)));
  }
}
