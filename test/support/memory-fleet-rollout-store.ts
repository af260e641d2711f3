/**
 * Rollouts of fleets in memory, with the compare-and-set semantics of the port.
 *
 * One suite (fleet-rollout-store-suite.ts) holds it and the DynamoDB adapter to the same answers.
 */
import { formatFleetKey, type FleetKey } from '../../src/core/fleet/fleet-daemon-set.ts';
import type {
  FleetClusterRecord,
  FleetRecord,
  MemberList,
} from '../../src/core/fleet/rollout/fleet-record.ts';
import type { KeptLook } from '../../src/core/fleet/rollout/tally-stage.ts';
import type { ClusterId } from '../../src/core/model/identifiers.ts';
import { MEMBERS_PER_PAGE } from '../../src/ports/stores/fleet-rollout-store.ts';
import type {
  FleetInstance,
  FleetRecordPage,
  FleetRolloutStore,
  FleetVersion,
} from '../../src/ports/stores/fleet-rollout-store.ts';
import { aroundCall, type StoreCall, type StoreHooks } from './store-hooks.ts';

interface StoredList {
  readonly version: number;
  readonly clusters: readonly ClusterId[];
}

interface Grown {
  readonly lists: Map<string, StoredList>;
  readonly clusters: Map<ClusterId, FleetClusterRecord>;
  looks: readonly KeptLook[];
}

/** A store in memory. */
export class MemoryFleetRolloutStore implements FleetRolloutStore {
  hooks: StoreHooks = {};
  readonly calls: StoreCall[] = [];
  readonly #records = new Map<string, FleetRecord>();
  readonly #grown = new Map<string, Grown>();
  #lists = 0;

  readRecord(key: FleetKey): Promise<FleetRecord | undefined> {
    return this.#read('readRecord', formatFleetKey(key), () =>
      structuredClone(this.#records.get(formatFleetKey(key))),
    );
  }

  listRecords({
    cursor = '',
    limit,
  }: {
    readonly cursor?: string;
    readonly limit: number;
  }): Promise<FleetRecordPage> {
    return this.#read('listRecords', cursor, () => {
      const keys = [...this.#records.keys()].filter((key) => key > cursor).sort();
      const page = keys.slice(0, limit);
      const records = page.flatMap((key) => structuredClone(this.#records.get(key)) ?? []);
      const last = page.at(-1);
      const hasMore = keys.length > page.length && last !== undefined;
      return { records, unreadable: [], ...(hasMore ? { cursor: last } : {}) };
    });
  }

  writeRecord(record: FleetRecord): Promise<'written' | 'lost'> {
    const key = formatFleetKey(record);
    return this.#write('writeRecord', key, () => {
      const stored = this.#records.get(key);
      const isStill =
        stored === undefined
          ? record.version === 0
          : stored.version === record.version && stored.uid === record.uid;
      if (!isStill) return 'lost';
      this.#records.set(key, structuredClone({ ...record, version: record.version + 1 }));
      return 'written';
    });
  }

  removeRollout(fleet: FleetInstance): Promise<void> {
    const key = formatFleetKey(fleet);
    return this.#write('removeRollout', key, () => {
      this.#grown.delete(nameOf(fleet));
      if (this.#records.get(key)?.uid === fleet.uid) this.#records.delete(key);
    });
  }

  writeMembers(fleet: FleetVersion, clusters: readonly ClusterId[]): Promise<MemberList> {
    return this.#write('writeMembers', nameOf(fleet), () => {
      if (clusters.length === 0) return { id: '', count: 0 };
      this.#lists += 1;
      const id = String(this.#lists);
      this.#of(fleet).lists.set(id, { version: fleet.version, clusters: [...clusters] });
      return { id, count: clusters.length };
    });
  }

  readMembers(fleet: FleetInstance, list: MemberList, page: number): Promise<readonly ClusterId[]> {
    return this.#read('readMembers', `${nameOf(fleet)} ${list.id} ${String(page)}`, () => {
      const from = page * MEMBERS_PER_PAGE;
      if (from >= list.count) return [];
      const stored = this.#of(fleet).lists.get(list.id)?.clusters.slice(0, list.count);
      if (stored?.length !== list.count) throw new Error('a page that is not there');
      return stored.slice(from, from + MEMBERS_PER_PAGE);
    });
  }

  removeMembersBut(fleet: FleetVersion, lists: readonly MemberList[]): Promise<void> {
    return this.#write('removeMembersBut', nameOf(fleet), () => {
      const kept = new Set(lists.map(({ id }) => id));
      const stored = this.#of(fleet).lists;
      for (const [id, { version }] of stored) {
        if (!kept.has(id) && version < fleet.version) stored.delete(id);
      }
    });
  }

  readClusterRecords(
    fleet: FleetInstance,
    clusters: readonly ClusterId[],
  ): Promise<ReadonlyMap<ClusterId, FleetClusterRecord>> {
    return this.#read('readClusterRecords', nameOf(fleet), () => {
      const stored = this.#of(fleet).clusters;
      const found = clusters.flatMap((cluster) => structuredClone(stored.get(cluster)) ?? []);
      return new Map(found.map((record) => [record.cluster, record]));
    });
  }

  writeClusterRecord(
    fleet: FleetInstance,
    record: FleetClusterRecord,
  ): Promise<'written' | 'lost'> {
    const target = `${nameOf(fleet)} ${record.cluster}`;
    return this.#write('writeClusterRecord', target, () => {
      const { clusters } = this.#of(fleet);
      if ((clusters.get(record.cluster)?.version ?? 0) !== record.version) return 'lost';
      clusters.set(record.cluster, structuredClone({ ...record, version: record.version + 1 }));
      return 'written';
    });
  }

  readLooks(fleet: FleetInstance): Promise<ReadonlyMap<ClusterId, KeptLook>> {
    return this.#read('readLooks', nameOf(fleet), () => {
      const looks = structuredClone(this.#of(fleet).looks);
      return new Map(looks.map((look) => [look.cluster, look]));
    });
  }

  writeLooks(fleet: FleetInstance, looks: readonly KeptLook[]): Promise<void> {
    return this.#write('writeLooks', nameOf(fleet), () => {
      this.#of(fleet).looks = structuredClone(looks);
    });
  }

  #of(fleet: FleetInstance): Grown {
    const name = nameOf(fleet);
    const known = this.#grown.get(name) ?? { lists: new Map(), clusters: new Map(), looks: [] };
    this.#grown.set(name, known);
    return known;
  }

  #read<T>(operation: string, target: string, apply: () => T): Promise<T> {
    return aroundCall(this, { operation, target, isWrite: false }, apply);
  }

  #write<T>(operation: string, target: string, apply: () => T): Promise<T> {
    return aroundCall(this, { operation, target, isWrite: true }, apply);
  }
}

function nameOf(fleet: FleetInstance): string {
  return `${formatFleetKey(fleet)}#${fleet.uid}`;
}
