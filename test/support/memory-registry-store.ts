/**
 * The registry in memory, with the compare-and-set semantics of the port.
 *
 * One suite (store-suite.ts) holds it and the DynamoDB adapter to the same answers.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { ClusterId } from '../../src/core/model/identifiers.ts';
import { takeoverOf } from '../../src/core/model/registration.ts';
import type { ClusterRegistration, RivalNote } from '../../src/core/model/registration.ts';
import type { RegistryRevisionStore } from '../../src/ports/stores/fleet-rollout-store.ts';
import type {
  DirectoryPage,
  RefusalNote,
  RefusalOutcome,
  RegistrationRemoval,
  RegistrationWrite,
  RegistryStore,
} from '../../src/ports/stores/registry-store.ts';
import { aroundCall, type StoreCall, type StoreHooks } from './store-hooks.ts';

const DAY_MS = 86_400_000;
/** Of these each claimed cluster has a note of its own. */
const OF_REGISTERED: readonly string[] = ['wrong-sender', 'not-bound-token'];

/** A registry in memory. */
export class MemoryRegistryStore implements RegistryStore, RegistryRevisionStore {
  hooks: StoreHooks = {};
  readonly calls: StoreCall[] = [];
  /** Notes by cluster, queue, code and sender: a repeat replaces. */
  readonly refusals = new Map<string, RefusalNote>();
  private revision = 0;
  private readonly clusters = new Map<ClusterId, ClusterRegistration>();
  private readonly rivals = new Map<ClusterId, { of: string; rival: RivalNote }>();

  readCluster(id: ClusterId): Promise<ClusterRegistration | undefined> {
    const call = { operation: 'readCluster', target: id, isWrite: false };
    return aroundCall(this, call, () => {
      const stored = this.clusters.get(id);
      const noted = this.rivals.get(id);
      if (stored === undefined || noted === undefined) return stored;
      return noted.of === takeoverOf(stored) ? { ...stored, rival: noted.rival } : stored;
    });
  }

  writeCluster(
    registration: ClusterRegistration,
    expectedVersion: number,
  ): Promise<RegistrationWrite> {
    const call = { operation: 'writeCluster', target: registration.id, isWrite: true };
    return aroundCall(this, call, () => {
      const stored = this.clusters.get(registration.id)?.configVersion ?? 0;
      if (stored !== expectedVersion) return 'lost';
      const { id, clusterUid } = registration;
      const others = [...this.clusters.values()].filter((other) => other.id !== id);
      if (others.some((other) => other.clusterUid === clusterUid)) return 'uid-taken';
      this.revision += 1;
      const { frozen, rival: _noted, ...rest } = registration;
      const note = registration.isFrozen ? defined({ frozen }) : {};
      this.clusters.set(id, { ...rest, ...note, configVersion: expectedVersion + 1 });
      return 'written';
    });
  }

  noteRival(seenUnder: ClusterRegistration, rival: RivalNote): Promise<'noted' | 'standing'> {
    const { id } = seenUnder;
    return aroundCall(this, { operation: 'noteRival', target: id, isWrite: true }, () => {
      const of = takeoverOf(seenUnder);
      if (of === undefined || this.rivals.get(id)?.of === of) return 'standing';
      this.rivals.set(id, { of, rival });
      return 'noted';
    });
  }

  removeCluster(id: ClusterId, expectedVersion: number): Promise<RegistrationRemoval> {
    return aroundCall(this, { operation: 'removeCluster', target: id, isWrite: true }, () => {
      const stored = this.clusters.get(id)?.configVersion;
      if (stored === undefined) return 'missing';
      if (stored !== expectedVersion) return 'lost';
      this.clusters.delete(id);
      this.revision += 1;
      return 'removed';
    });
  }

  readRegistryRevision(): Promise<number> {
    const call = { operation: 'readRegistryRevision', target: '', isWrite: false };
    return aroundCall(this, call, () => this.revision);
  }

  listClusters(options: {
    readonly cursor?: string;
    readonly limit: number;
  }): Promise<DirectoryPage> {
    const call = { operation: 'listClusters', target: options.cursor ?? '', isWrite: false };
    return aroundCall(this, call, () => {
      const ids = [...this.clusters.keys()]
        .filter((id) => options.cursor === undefined || id > options.cursor)
        .sort();
      const page = ids.slice(0, options.limit);
      const last = page.at(-1);
      return ids.length > page.length && last !== undefined
        ? { clusters: page, cursor: last }
        : { clusters: page };
    });
  }

  noteRefusal(note: RefusalNote): Promise<RefusalOutcome> {
    const { cluster, sender, senderRoleId, queue, code } = note;
    const of = sender === 'verified' || OF_REGISTERED.includes(code) ? cluster : '';
    const key = [sender, of, queue, code, senderRoleId].join(' ');
    return aroundCall(this, { operation: 'noteRefusal', target: key, isWrite: true }, () => {
      const formerMs = this.refusals.get(key)?.atMs ?? -Infinity;
      this.refusals.set(key, note);
      return note.atMs - formerMs > DAY_MS ? 'first' : 'noted';
    });
  }

  listRefusals(cluster: ClusterId, sender: RefusalNote['sender']): Promise<readonly RefusalNote[]> {
    const call = { operation: 'listRefusals', target: cluster, isWrite: false };
    return aroundCall(this, call, () =>
      [...this.refusals.values()].filter(
        (note) => note.cluster === cluster && note.sender === sender,
      ),
    );
  }

  /** Puts a registration in place whatever was there: how a test sets its scene. */
  seed(registration: ClusterRegistration): void {
    this.clusters.set(registration.id, registration);
    this.revision += 1;
  }
}
