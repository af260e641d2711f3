/**
 * The view table in memory, with the compare-and-set semantics of the port.
 *
 * One suite (store-suite.ts) holds it and the DynamoDB adapter to the same answers. Items are kept
 * by reference: the model is readonly throughout. `hooks` inject throttles, lost answers and freezes.
 */
import { ZERO_STAMP, laterStamp } from '../../src/core/model/position.ts';
import type { ClusterBreaker } from '../../src/core/model/breaker.ts';
import type { ClusterUid, Uid } from '../../src/core/model/identifiers.ts';
import { LOG_DAYS_MAX } from '../../src/core/model/log-entry.ts';
import type { CoverageDays } from '../../src/core/coverage/kept-days.ts';
import type { LogItem } from '../../src/core/model/log-entry.ts';
import type { Stamp } from '../../src/core/model/position.ts';
import type { DaemonSetState } from '../../src/core/model/state.ts';
import type { ResyncWalk } from '../../src/core/hints/resync-walk.ts';
import type {
  ClusterMeta,
  DaemonSetItem,
  DaemonSetPosition,
  NameItem,
  OlderTombstones,
  Slice,
} from '../../src/core/model/view-items.ts';
import type {
  CoveragePage,
  DaemonSetRef,
  LogPage,
  NamePage,
  NamePageOptions,
  NamespacedName,
  SliceRef,
  ViewStore,
  WriteResult,
} from '../../src/ports/stores/view-store.ts';
import { aroundCall } from './store-hooks.ts';
import type { StoreCall, StoreHooks } from './store-hooks.ts';

/** What the table holds, by readable key, for comparing end states. */
export type ViewDump = Readonly<Record<string, unknown>>;

const metaKey = (cluster: ClusterUid): string => `META ${cluster}`;
const sliceKey = (ref: SliceRef): string => `SLICE ${ref.clusterUid} ${ref.set} ${ref.index}`;
const olderKey = (ref: SliceRef): string => `TOMBSTONES ${ref.clusterUid} ${ref.set} ${ref.index}`;
const daemonSetKey = (part: string, ref: DaemonSetRef): string =>
  `${part} ${ref.clusterUid} ${ref.uid}`;
const nameKey = (cluster: ClusterUid, key: NamespacedName): string =>
  `NAME ${cluster} ${key.namespace}/${key.name}`;

/** A view table in memory. */
export class MemoryViewStore implements ViewStore {
  hooks: StoreHooks = {};
  readonly calls: StoreCall[] = [];
  readonly writtenUnits = new Map<ClusterUid, number>();
  private items = new Map<string, unknown>();

  readMeta(cluster: ClusterUid): Promise<ClusterMeta | undefined> {
    return this.read('readMeta', metaKey(cluster));
  }

  writeMeta(meta: ClusterMeta): Promise<WriteResult> {
    const key = metaKey(meta.clusterUid);
    return this.write('writeMeta', key, () => {
      const stored = this.items.get(key) as ClusterMeta | undefined;
      if ((stored?.version ?? 0) !== meta.version) return 'lost';
      const { breaker: _notOurs, ...own } = meta;
      const breaker = stored?.breaker;
      const kept = breaker === undefined ? {} : { breaker };
      this.items.set(key, { ...own, version: meta.version + 1, ...kept });
      return 'written';
    });
  }

  async readBreaker(cluster: ClusterUid): Promise<ClusterBreaker | undefined> {
    return (await this.read<ClusterMeta>('readBreaker', metaKey(cluster)))?.breaker;
  }

  writeBreaker(cluster: ClusterUid, breaker: ClusterBreaker): Promise<WriteResult> {
    const key = metaKey(cluster);
    return this.write('writeBreaker', key, () => {
      const stored = this.items.get(key) as ClusterMeta | undefined;
      if (stored === undefined || (stored.breaker?.version ?? 0) !== breaker.version) return 'lost';
      this.items.set(key, { ...stored, breaker: { ...breaker, version: breaker.version + 1 } });
      return 'written';
    });
  }

  readWalk(): Promise<ResyncWalk | undefined> {
    return this.read('readWalk', 'WALK');
  }

  writeWalk(walk: ResyncWalk): Promise<WriteResult> {
    return this.write('writeWalk', 'WALK', () => {
      const stored = this.items.get('WALK') as ResyncWalk | undefined;
      if ((stored?.version ?? 0) !== walk.version) return 'lost';
      this.items.set('WALK', { ...walk, version: walk.version + 1 });
      return 'written';
    });
  }

  putLogItem(cluster: ClusterUid | undefined, item: LogItem): Promise<void> {
    const { atMs, token } = item;
    const time = new Date(atMs).toISOString();
    const key = `LOG ${cluster ?? ''} ${time.slice(0, 10)} ${time}/${token}`;
    return this.write('putLogItem', key, () => {
      this.items.set(key, item);
    });
  }

  listLogItems(
    cluster: ClusterUid | undefined,
    {
      day,
      nowMs,
      fromMs = 0,
    }: { readonly day: string; readonly nowMs: number; readonly fromMs?: number },
  ): Promise<LogPage> {
    const prefix = `LOG ${cluster ?? ''} ${day} `;
    const call = { operation: 'listLogItems', target: prefix.trim(), isWrite: false };
    return aroundCall(this, call, () => {
      const items = [...this.items.entries()]
        .filter(([key]) => key.startsWith(prefix))
        .sort(([left], [right]) => (left < right ? -1 : 1))
        .map(([, item]) => item as LogItem)
        .filter(({ atMs }) => atMs >= fromMs && atMs + LOG_DAYS_MAX * 86_400_000 > nowMs);
      return { items, unreadable: [] };
    });
  }

  putCoverageDays(cluster: ClusterUid, days: CoverageDays): Promise<void> {
    const { day, namespace, name, uid } = days;
    const key = `COVERAGE ${cluster} ${String(day).padStart(6, '0')}/${namespace}/${name}/${uid}`;
    return this.write('putCoverageDays', key, () => {
      this.items.set(key, days);
    });
  }

  listCoverageDays(
    cluster: ClusterUid,
    { fromDay }: { readonly fromDay: number },
  ): Promise<CoveragePage> {
    const prefix = `COVERAGE ${cluster} `;
    const call = { operation: 'listCoverageDays', target: prefix.trim(), isWrite: false };
    return aroundCall(this, call, () => {
      const items = [...this.items.entries()]
        .filter(([key]) => key.startsWith(prefix))
        .map(([, item]) => item as CoverageDays)
        .filter(({ day }) => day >= fromDay);
      return { items, unreadable: [] };
    });
  }

  readName(cluster: ClusterUid, key: NamespacedName): Promise<NameItem | undefined> {
    return this.read('readName', nameKey(cluster, key));
  }

  listNames(cluster: ClusterUid, options: NamePageOptions): Promise<NamePage> {
    const prefix = `NAME ${cluster} `;
    const call = { operation: 'listNames', target: prefix.trim(), isWrite: false };
    return aroundCall(this, call, () => {
      const keys = [...this.items.keys()]
        .filter((key) => key.startsWith(prefix))
        .filter((key) => options.cursor === undefined || key > prefix + options.cursor)
        .filter((key) => options.includeDeleted === true || this.nameAt(key).uid !== null)
        .sort();
      const names = keys.slice(0, options.limit).map((key) => this.nameAt(key));
      const last = keys[options.limit - 1];
      if (last === undefined || keys.length === options.limit) return { names };
      return { names, cursor: last.slice(prefix.length) };
    });
  }

  writeName(cluster: ClusterUid, item: NameItem): Promise<WriteResult> {
    return this.writeIfOlder('writeName', nameKey(cluster, item), item);
  }

  removeName(cluster: ClusterUid, item: NameItem): Promise<WriteResult> {
    return this.removeIfStamp('removeName', nameKey(cluster, item), item.stamp);
  }

  readPosition(ref: DaemonSetRef): Promise<DaemonSetPosition | undefined> {
    return this.read('readPosition', daemonSetKey('POSITION', ref));
  }

  raisePosition(ref: DaemonSetRef, position: Partial<DaemonSetPosition>): Promise<void> {
    const key = daemonSetKey('POSITION', ref);
    return this.write('raisePosition', key, () => {
      const stored = this.items.get(key) as DaemonSetPosition | undefined;
      const raised = (name: keyof DaemonSetPosition): Stamp =>
        laterStamp(stored?.[name] ?? ZERO_STAMP, position[name] ?? ZERO_STAMP);
      this.items.set(key, {
        podsChanged: raised('podsChanged'),
        revisionsChanged: raised('revisionsChanged'),
      });
    });
  }

  readDaemonSet(ref: DaemonSetRef): Promise<DaemonSetItem | undefined> {
    return this.read('readDaemonSet', daemonSetKey('DAEMONSET', ref));
  }

  writeDaemonSet(ref: DaemonSetRef, item: DaemonSetItem): Promise<WriteResult> {
    return this.writeIfOlder('writeDaemonSet', daemonSetKey('DAEMONSET', ref), item);
  }

  removeDaemonSet(ref: DaemonSetRef): Promise<void> {
    return this.write('removeDaemonSet', daemonSetKey('DAEMONSET', ref), () => {
      for (const part of ['DAEMONSET', 'POSITION', 'STATE']) {
        this.items.delete(daemonSetKey(part, ref));
      }
    });
  }

  readSlice(ref: SliceRef): Promise<Slice | undefined> {
    return this.read('readSlice', sliceKey(ref));
  }

  readOlderTombstones(ref: SliceRef): Promise<OlderTombstones | undefined> {
    return this.read('readOlderTombstones', olderKey(ref));
  }

  writeOlderTombstones(ref: SliceRef, older: OlderTombstones): Promise<WriteResult> {
    const key = olderKey(ref);
    return this.write('writeOlderTombstones', key, () => {
      const stored = this.items.get(key) as OlderTombstones | undefined;
      if ((stored?.version ?? 0) !== older.version) return 'lost';
      this.items.set(key, { ...older, version: older.version + 1 });
      return 'written';
    });
  }

  writeSlice(ref: SliceRef, slice: Slice, expected: Stamp | undefined): Promise<WriteResult> {
    const key = sliceKey(ref);
    return this.write('writeSlice', key, () => {
      const stored = this.items.get(key) as Slice | undefined;
      if (stored?.stamp !== expected) return 'lost';
      this.items.set(key, slice);
      return 'written';
    });
  }

  async removeSlice(ref: SliceRef, expected: Stamp): Promise<WriteResult> {
    const result = await this.removeIfStamp('removeSlice', sliceKey(ref), expected);
    if (result === 'lost' || !ref.set.startsWith('pods/')) return result;
    const key = olderKey(ref);
    await this.write('removeOlderTombstones', key, () => this.items.delete(key));
    return result;
  }

  readState(ref: DaemonSetRef): Promise<DaemonSetState | undefined> {
    return this.read('readState', daemonSetKey('STATE', ref));
  }

  writeState(ref: DaemonSetRef, state: DaemonSetState): Promise<WriteResult> {
    const key = daemonSetKey('STATE', ref);
    return this.write('writeState', key, () => {
      const stored = this.items.get(key) as DaemonSetState | undefined;
      if ((stored?.version ?? 0) !== state.version) return 'lost';
      this.items.set(key, { ...state, version: state.version + 1 });
      return 'written';
    });
  }

  /** What stands under a readable key, past all hooks. */
  peek(key: string): unknown {
    return this.items.get(key);
  }

  /** The state of a DaemonSet, past all hooks. */
  peekState(cluster: ClusterUid, daemonSet: string): DaemonSetState | undefined {
    const ref = { clusterUid: cluster, uid: daemonSet as Uid };
    return this.items.get(daemonSetKey('STATE', ref)) as DaemonSetState | undefined;
  }

  /** Everything in the table, in key order. */
  dump(): ViewDump {
    return Object.fromEntries([...this.items].sort(([left], [right]) => (left < right ? -1 : 1)));
  }

  /** Puts back an earlier dump: a table restored from a backup. */
  restore(dump: ViewDump): void {
    this.items = new Map(Object.entries(dump));
  }

  /** Loses every item whose readable key starts so; answers how many. */
  lose(prefix: string): number {
    const keys = [...this.items.keys()].filter((key) => key.startsWith(prefix));
    for (const key of keys) this.items.delete(key);
    return keys.length;
  }

  private nameAt(key: string): NameItem {
    return this.items.get(key) as NameItem;
  }

  private read<T>(operation: string, target: string): Promise<T | undefined> {
    const call = { operation, target, isWrite: false };
    return aroundCall(this, call, () => this.items.get(target) as T | undefined);
  }

  private write<T>(operation: string, target: string, apply: () => T): Promise<T> {
    return aroundCall(this, { operation, target, isWrite: true }, apply);
  }

  private writeIfOlder(
    operation: string,
    key: string,
    item: { readonly stamp: Stamp },
  ): Promise<WriteResult> {
    return this.write(operation, key, () => {
      const stored = this.items.get(key) as { readonly stamp: Stamp } | undefined;
      if (stored !== undefined && stored.stamp >= item.stamp) return 'lost';
      this.items.set(key, item);
      return 'written';
    });
  }

  private removeIfStamp(operation: string, key: string, expected: Stamp): Promise<WriteResult> {
    return this.write(operation, key, () => {
      const stored = this.items.get(key) as { readonly stamp: Stamp } | undefined;
      if (stored !== undefined && stored.stamp !== expected) return 'lost';
      this.items.delete(key);
      return 'written';
    });
  }
}
