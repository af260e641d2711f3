/**
 * The view table over DynamoDB: what `ingest` writes and `reconcile` reads, one item a call.
 *
 * All reads are strongly consistent, all conditional writes are single-item compare-and-set (S8: a
 * stamp or a version never goes back). Bodies are encoded by item-codec.ts; stamps and versions stand
 * beside them, for conditions. It decides nothing, caches nothing, and retries nothing but what the
 * SDK retries.
 */
import { ZERO_STAMP } from '../../core/model/position.ts';
import type { ClusterUid, Uid } from '../../core/model/identifiers.ts';
import type { Stamp } from '../../core/model/position.ts';
import type {
  ClusterMeta,
  DaemonSetItem,
  DaemonSetPosition,
  NameItem,
  Slice,
} from '../../core/model/view-items.ts';
import type {
  DaemonSetRef,
  NamePage,
  NamePageOptions,
  SliceRef,
  ViewReader,
  ViewStore,
  ViewWriter,
  WriteResult,
} from '../../ports/stores/view-store.ts';
import { decodeBody, encodeBody } from './item-codec.ts';
import {
  daemonSetKey,
  daemonSetPartition,
  formatItemKey,
  metaKey,
  nameKey,
  namePartition,
  sliceKey,
} from './item-keys.ts';
import type { ItemKey } from './item-keys.ts';
import { breakerOf, createBreakerStore } from './breaker-store.ts';
import { createStateStore } from './state-store.ts';
import { IF_MISSING, Table, ifStamp, ifStampOlder, ifVersion } from './table.ts';
import type { StoredItem } from './batched-reader.ts';
import type { DynamoStoreOptions } from './table.ts';
import { decodeTombstones, encodeTombstones } from './tombstone-codec.ts';
import { createWalkStore } from './walk-store.ts';

/** The view table, over a DynamoDB-compatible one with string keys `pk` and `sk`. */
export function createDynamoViewStore(options: DynamoStoreOptions): ViewStore {
  const table = new Table(options);
  return {
    ...readerOf(table),
    ...writerOf(table),
    ...createStateStore(table),
    ...createBreakerStore(table),
    ...createWalkStore(table),
  };
}

function readerOf(table: Table): ViewReader {
  return {
    readMeta: async (cluster) => {
      const key = metaKey(cluster);
      const item = await table.get(key);
      if (item === undefined) return undefined;
      const meta = bodyOf(key, item) as ClusterMeta;
      const breaker = breakerOf(item);
      return {
        ...meta,
        version: item['version'] as number,
        ...(breaker === undefined ? {} : { breaker }),
      };
    },
    readName: async (cluster, key) => {
      const item = await table.get(nameKey(cluster, key));
      return item === undefined ? undefined : nameItemOf(item);
    },
    listNames: (cluster, options) => listNames(table, cluster, options),
    readPosition: async (ref) => {
      const item = await table.get(daemonSetKey(ref, 'POSITION'));
      if (item === undefined) return undefined;
      return {
        podsChanged: (item['podsChanged'] as Stamp | undefined) ?? ZERO_STAMP,
        revisionsChanged: (item['revisionsChanged'] as Stamp | undefined) ?? ZERO_STAMP,
      };
    },
    readDaemonSet: async (ref) => {
      const key = daemonSetKey(ref, 'DAEMONSET');
      const item = await table.get(key);
      if (item === undefined) return undefined;
      const body = bodyOf(key, item) as Omit<DaemonSetItem, 'stamp'>;
      return { ...body, stamp: item['stamp'] as Stamp };
    },
    readSlice: async (ref) => {
      const key = sliceKey(ref);
      const item = await table.get(key);
      if (item === undefined) return undefined;
      const objects = bodyOf(key, item) as Slice['objects'];
      const gone = decodeTombstones(formatItemKey(key), item['gone']);
      return { stamp: item['stamp'] as Stamp, objects, ...(gone.length === 0 ? {} : { gone }) };
    },
  };
}

function writerOf(table: Table): ViewWriter {
  return {
    writeMeta: (meta) => writeMeta(table, meta),
    writeSlice: (ref, slice, expected) => writeSlice(table, { ref, slice, expected }),
    removeSlice: (ref, expected) => table.removeIf(sliceKey(ref), ifStamp(expected)),
    raisePosition: (ref, position) => raisePosition(table, ref, position),
    writeDaemonSet: (ref, item) => writeDaemonSet(table, ref, item),
    writeName: (cluster, item) => writeName(table, cluster, item),
    removeName: (cluster, item) => table.removeIf(nameKey(cluster, item), ifStamp(item.stamp)),
    removeDaemonSet: (ref) => removeDaemonSet(table, ref),
  };
}

function bodyOf(key: ItemKey, item: StoredItem): unknown {
  return decodeBody(formatItemKey(key), item['body']);
}

async function writeMeta(table: Table, meta: ClusterMeta): Promise<WriteResult> {
  const key = metaKey(meta.clusterUid);
  const { version, breaker: _notOurs, ...body } = meta;
  return table.updateIf(
    key,
    { version: version + 1, body: encodeBody(formatItemKey(key), body) },
    ifVersion(version),
  );
}

async function writeSlice(
  table: Table,
  write: {
    readonly ref: SliceRef;
    readonly slice: Slice;
    readonly expected: Stamp | undefined;
  },
): Promise<WriteResult> {
  const key = sliceKey(write.ref);
  const body = encodeBody(formatItemKey(key), write.slice.objects);
  const condition = write.expected === undefined ? IF_MISSING : ifStamp(write.expected);
  const { stamp, gone = [] } = write.slice;
  const attributes = { stamp, body, ...encodeTombstones(formatItemKey(key), gone) };
  return table.putIf(key, attributes, condition);
}

async function writeDaemonSet(
  table: Table,
  ref: DaemonSetRef,
  item: DaemonSetItem,
): Promise<WriteResult> {
  const key = daemonSetKey(ref, 'DAEMONSET');
  const { stamp, ...rest } = item;
  const body = encodeBody(formatItemKey(key), rest);
  return table.putIf(key, { stamp, body }, ifStampOlder(stamp));
}

async function writeName(table: Table, cluster: ClusterUid, item: NameItem): Promise<WriteResult> {
  const { stamp, uid, formerUids } = item;
  return table.putIf(
    nameKey(cluster, item),
    { stamp, uid, ...(formerUids === undefined ? {} : { formerUids }) },
    ifStampOlder(stamp),
  );
}

const POSITION_ATTRIBUTES = ['podsChanged', 'revisionsChanged'] as const;

/** Raises each given stamp by a condition of its own; two only when one alone does not hold. */
async function raisePosition(
  table: Table,
  ref: DaemonSetRef,
  position: Partial<DaemonSetPosition>,
): Promise<void> {
  const key = daemonSetKey(ref, 'POSITION');
  const given = POSITION_ATTRIBUTES.filter((name) => position[name] !== undefined);
  if (given.length === 0) return;
  const result = await table.updateIf(
    key,
    Object.fromEntries(given.map((name) => [name, position[name]])),
    {
      expression: given
        .map((name) => `(attribute_not_exists(${name}) OR ${name} < :${name})`)
        .join(' AND '),
      values: Object.fromEntries(given.map((name) => [`:${name}`, position[name]])),
    },
  );
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
    const page = await table.query({
      pk: namePartition(cluster),
      limit: options.limit + 1,
      ...(cursor === undefined ? {} : { after: cursor }),
    });
    for (const item of page.items) {
      const name = nameItemOf(item);
      const isWanted = options.includeDeleted === true || name.uid !== null;
      if (isWanted && names.length === options.limit) {
        return cursor === undefined ? { names } : { names, cursor };
      }
      if (isWanted) names.push(name);
      cursor = item['sk'] as string;
    }
    if (!page.hasMore) return { names };
  }
}

function nameItemOf(item: StoredItem): NameItem {
  const sk = item['sk'] as string;
  const slash = sk.indexOf('/');
  const formerUids = item['formerUids'] as readonly Uid[] | undefined;
  return {
    namespace: sk.slice(0, slash),
    name: sk.slice(slash + 1),
    uid: item['uid'] as Uid | null,
    stamp: item['stamp'] as Stamp,
    ...(formerUids === undefined ? {} : { formerUids }),
  };
}

async function removeDaemonSet(table: Table, ref: DaemonSetRef): Promise<void> {
  const pk = daemonSetPartition(ref);
  let after: string | undefined;
  for (;;) {
    const page = await table.query({
      pk,
      attributes: ['sk'],
      ...(after === undefined ? {} : { after }),
    });
    const sortKeys = page.items.map((item) => item['sk'] as string);
    await Promise.all(sortKeys.map((sk) => table.remove({ pk, sk })));
    after = sortKeys.at(-1);
    if (!page.hasMore || after === undefined) return;
  }
}
