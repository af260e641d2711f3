/**
 * The view table over DynamoDB: what `ingest` writes and `reconcile` reads, one item a call. Reads
 * are strongly consistent unless the client's are not (lagging-reads.ts), conditional writes
 * compare-and-set (S8: a stamp or a version never goes back). Stamps and versions stand beside the
 * encoded bodies.
 */
import { STATE_SCHEMA } from '../../core/model/state.ts';
import type { DaemonSetState } from '../../core/model/state.ts';
import { ZERO_STAMP } from '../../core/model/position.ts';
import type { ClusterUid, Uid } from '../../core/model/identifiers.ts';
import type { Stamp } from '../../core/model/position.ts';
import type {
  ClusterMeta,
  DaemonSetItem,
  DaemonSetPosition,
  NameItem,
  OlderTombstonesRef,
  Slice,
} from '../../core/model/view-items.ts';
import type {
  DaemonSetRef,
  NamePage,
  NamePageOptions,
  SliceRef,
  StateStore,
  ViewReader,
  ViewStore,
  ViewWriter,
  WriteResult,
} from '../../ports/stores/view-store.ts';
import { ItemUnreadableError, decodeBody, encodeBody } from './item-codec.ts';
import {
  daemonSetKey,
  daemonSetPartition,
  metaKey,
  nameKey,
  namePartition,
  olderTombstonesKey,
  sliceKey,
} from './item-keys.ts';
import type { ItemKey } from './item-keys.ts';
import { defined } from '@rollcall/base/defined.ts';
import { breakerOf, createBreakerStore, createWalkStore } from './breaker-store.ts';
import { encodeObjects, openObjects } from './slice-columns.ts';
import { IF_MISSING, Table, ifStamp, ifStampOlder, ifVersion } from './table.ts';
import type { StoredItem } from './batched-reader.ts';
import type { DynamoStoreOptions } from './table.ts';
import { decodeTombstones, encodeTombstones } from './tombstone-codec.ts';

/** The view table, over a DynamoDB-compatible one with string keys `pk` and `sk`. */
export function createDynamoViewStore(options: DynamoStoreOptions): ViewStore {
  const table = new Table(options);
  return {
    ...readerOf(table),
    ...writerOf(table),
    ...statesOf(table),
    ...createBreakerStore(table),
    ...createWalkStore(table),
  };
}

function readerOf(table: Table): ViewReader {
  return {
    readMeta: (cluster) =>
      table.getAs(metaKey(cluster), (item, key) => {
        const body = decodeBody(key, item['body']) as Omit<ClusterMeta, 'version' | 'breaker'>;
        const version = item['version'] as number;
        return { ...body, version, ...defined({ breaker: breakerOf(item) }) };
      }),
    readName: (cluster, key) => table.getAs(nameKey(cluster, key), nameItemOf),
    listNames: (cluster, options) => listNames(table, cluster, options),
    readPosition: (ref) =>
      table.getAs(daemonSetKey(ref, 'POSITION'), (item) => ({
        podsChanged: (item['podsChanged'] as Stamp | undefined) ?? ZERO_STAMP,
        revisionsChanged: (item['revisionsChanged'] as Stamp | undefined) ?? ZERO_STAMP,
      })),
    readDaemonSet: (ref) =>
      table.getAs(daemonSetKey(ref, 'DAEMONSET'), (item, key) => ({
        ...(decodeBody(key, item['body']) as Omit<DaemonSetItem, 'stamp'>),
        stamp: item['stamp'] as Stamp,
      })),
    readSlice: (ref) => table.getAs(sliceKey(ref), sliceOf),
    readOlderTombstones: (ref) =>
      table.getAs(olderTombstonesKey(ref), (item, key) => ({
        version: item['version'] as number,
        gone: decodeTombstones(key, item['gone']),
      })),
    readSliceStamps: async ({ sliceCount, ...of }) => {
      const keys = Array.from({ length: sliceCount }, (_, index) => sliceKey({ ...of, index }));
      const items = await Promise.all(keys.map((key) => table.getStamp(key)));
      return items.map((item) => item?.['stamp'] as Stamp | undefined);
    },
  };
}

// Async where a body is encoded: one that is too large rejects.
function writerOf(table: Table): ViewWriter {
  return {
    writeMeta: async ({ version, breaker: _notOurs, ...body }) => {
      const key = metaKey(body.clusterUid);
      const attributes = { version: version + 1, body: encodeBody(key, body) };
      return table.updateIf(key, attributes, ifVersion(version));
    },
    writeSlice: async (ref, { stamp, objects, gone = [], older }, expected) => {
      const key = sliceKey(ref);
      const body = encodeObjects(key, objects);
      const tombstones = { gone: undefined, ...encodeTombstones(key, gone), older };
      const condition = expected === undefined ? IF_MISSING : ifStamp(expected);
      return table.replaceIf(key, { stamp, body, ...tombstones }, condition);
    },
    writeOlderTombstones: async (ref, { version, gone }) => {
      const key = olderTombstonesKey(ref);
      const attributes = { version: version + 1, gone: undefined, ...encodeTombstones(key, gone) };
      return table.replaceIf(key, attributes, ifVersion(version));
    },
    removeSlice: (ref, expected) => removeSlice(table, ref, expected),
    raisePosition: (ref, position) => raisePosition(table, ref, position),
    writeDaemonSet: async (ref, { stamp, ...rest }) => {
      const key = daemonSetKey(ref, 'DAEMONSET');
      return table.replaceIf(key, { stamp, body: encodeBody(key, rest) }, ifStampOlder(stamp));
    },
    writeName: (cluster, item) => {
      const { stamp, uid, formerUids } = item;
      const attributes = { stamp, uid, ...defined({ formerUids }) };
      return table.putIf(nameKey(cluster, item), attributes, ifStampOlder(stamp));
    },
    removeName: (cluster, item) => table.removeIf(nameKey(cluster, item), ifStamp(item.stamp)),
    removeDaemonSet: (ref) => removeDaemonSet(table, ref),
  };
}

/** Compare-and-set on its version: the loser of that write has done nothing yet (design 3, step 6). */
function statesOf(table: Table): StateStore {
  return {
    readState: (ref) =>
      table.getAs(daemonSetKey(ref, 'STATE'), (item, key) => {
        const state = decodeBody(key, item['body']) as DaemonSetState;
        if (state.schema > STATE_SCHEMA) {
          throw new ItemUnreadableError(key, `state schema ${state.schema} is of a newer release`);
        }
        return { ...state, version: item['version'] as number };
      }),
    writeState: async (ref, { version, ...rest }) => {
      const key = daemonSetKey(ref, 'STATE');
      const attributes = { version: version + 1, body: encodeBody(key, rest) };
      return table.replaceIf(key, attributes, ifVersion(version));
    },
  };
}

/** Decoded when somebody asks: whoever holds a slice of this stamp already has no need to. */
function sliceOf(item: StoredItem, key: ItemKey): Slice {
  const objects = once(openObjects(key, item['body']));
  const gone = once(() => decodeTombstones(key, item['gone']));
  const slice = {
    stamp: item['stamp'] as Stamp,
    get objects() {
      return objects();
    },
    ...defined({ older: item['older'] as OlderTombstonesRef | undefined }),
  };
  if (item['gone'] === undefined) return slice;
  return Object.defineProperty(slice, 'gone', { enumerable: true, get: gone });
}

/** Made when it is first asked for; what it was made of is let go of then. */
function once<T>(make: () => T): () => T {
  let answer = (): T => {
    const made = make();
    answer = () => made;
    return made;
  };
  return () => answer();
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
    const limit = options.limit + 1;
    const page = await table.query({ pk: namePartition(cluster), limit, after: cursor });
    for (const item of page.items) {
      const name = nameItemOf(item);
      const isWanted = options.includeDeleted === true || name.uid !== null;
      if (isWanted && names.length === options.limit) return { names, ...defined({ cursor }) };
      if (isWanted) names.push(name);
      cursor = item['sk'] as string;
    }
    if (page.cursor === undefined) return { names };
  }
}

function nameItemOf(item: StoredItem): NameItem {
  const sk = item['sk'] as string;
  const slash = sk.indexOf('/');
  return {
    namespace: sk.slice(0, slash),
    name: sk.slice(slash + 1),
    uid: item['uid'] as Uid | null,
    stamp: item['stamp'] as Stamp,
    ...defined({ formerUids: item['formerUids'] as readonly Uid[] | undefined }),
  };
}

/** The slice first: whoever still writes there must not find that what it refers to is gone. */
async function removeSlice(table: Table, ref: SliceRef, expected: Stamp): Promise<WriteResult> {
  const result = await table.removeIf(sliceKey(ref), ifStamp(expected));
  if (result === 'written' && ref.set.startsWith('pods/')) {
    await table.remove(olderTombstonesKey(ref));
  }
  return result;
}

async function removeDaemonSet(table: Table, ref: DaemonSetRef): Promise<void> {
  const pk = daemonSetPartition(ref);
  for await (const keys of table.keysOf(pk)) {
    await Promise.all(keys.map((key) => table.remove(key)));
  }
}
