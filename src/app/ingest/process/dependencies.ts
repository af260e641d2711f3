/**
 * What `ingest` is given: ports, bounds, and the memory that a warm process keeps.
 *
 * Nothing here is needed for correctness but the ports: a run with an empty process cache writes the same.
 */
import type { ProcessPorts } from '../../../ports/process.ts';
import type { ClusterConnector } from '../../../ports/cluster/cluster-access.ts';
import type { HintQueue } from '../../../ports/queues/queue.ts';
import type { RegistryStore } from '../../../ports/stores/registry-store.ts';
import type {
  CoverageStore,
  LogStore,
  StateStore,
  ViewReader,
  ViewWriter,
  SliceRef,
} from '../../../ports/stores/view-store.ts';
import type { BatchBackgroundWork } from './background-work.ts';
import type { ClusterId, ClusterUid, Uid } from '../../../core/model/identifiers.ts';
import type { Stamp } from '../../../core/model/position.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import type { NameItem, OlderTombstones, Slice } from '../../../core/model/view-items.ts';

/** Bounds of ingest; `defaultIngestOptions` has the published ones. */
export interface IngestOptions {
  /** How long a registration may be believed without reading it again, for the sender's identity. */
  readonly registrationAgeMaxMs: number;
  /** At most one request for a snapshot per cluster in this time (protocol 17). */
  readonly snapshotRequestEveryMs: number;
  /** At most one snapshot because of a set hash in this time, then an alarm (protocol 19). */
  readonly hashSnapshotEveryMs: number;
  /** The Lease is read at most once in this time for messages of one lower epoch (protocol 15). */
  readonly leaseCheckEveryMs: number;
  /** … and at most once in this time for another incarnation. */
  readonly leaseCheckOtherEveryMs: number;
  /** Without a credential: silence of the stored epoch after which a lower one is accepted. */
  readonly epochSilenceMs: number;
  /** Tries of one compare-and-set before the record is left to its redelivery. */
  readonly writeTriesMax: number;
  /** Reads or writes of one stage that run side by side. */
  readonly concurrencyMax: number;
  /** DaemonSets of which META keeps the position (ADR 0076): any more have an item each. */
  readonly positionsMax: number;
  /** Tombstones in a slice of pods (ADR 0076): with more, all of them move to an item of their own. */
  readonly sliceTombstonesMax: number;
}

/** The published bounds (docs/reference/codes.md). */
export const defaultIngestOptions: IngestOptions = {
  registrationAgeMaxMs: 30_000,
  snapshotRequestEveryMs: 60_000,
  hashSnapshotEveryMs: 3_600_000,
  leaseCheckEveryMs: 10_000,
  leaseCheckOtherEveryMs: 1_000,
  epochSilenceMs: 780_000,
  writeTriesMax: 8,
  concurrencyMax: 32,
  positionsMax: 100,
  sliceTombstonesMax: 64,
};

/** Ports and options of ingest. */
export interface IngestDependencies extends ProcessPorts {
  readonly registry: Pick<RegistryStore, 'readCluster' | 'noteRefusal'>;
  /** States are read only where an era begins anew; they are reconcile's to write. */
  readonly view: ViewReader &
    ViewWriter &
    Pick<StateStore, 'readState'> &
    Pick<LogStore, 'putLogItem'> &
    Pick<CoverageStore, 'putCoverageDays'>;
  readonly connector: ClusterConnector;
  readonly queue: Pick<HintQueue, 'sendHints'>;
  readonly options: IngestOptions;
  /** Of the batch that a message belongs to; absent outside of one. */
  readonly background?: BatchBackgroundWork;
  /** One per process, made by `createIngestProcessCache`; shared by all clusters. */
  readonly processCache: IngestProcessCache;
}

/** A cluster's DaemonSets as they were listed when the list last changed at `asOf`. */
export interface WarmNames {
  readonly asOf: Stamp;
  readonly byUid: ReadonlyMap<Uid, NameItem>;
}

/** A registration, and when it was read (monotonic). */
interface WarmRegistration {
  readonly registration: ClusterRegistration;
  readonly readAtMs: number;
}

/**
 * Memory shared by all clusters of one process, oldest out first. A slice is used only to save a read: the write still
 * compares the stamp (row 79); older tombstones likewise, by their version. Names are believed only for the very stamp
 * under which META says that the list last changed. Keys hold the cluster's UID (row 31).
 */
export class IngestProcessCache {
  readonly names = new Map<ClusterUid, WarmNames>();
  readonly registrations = new Map<ClusterId, WarmRegistration>();
  private readonly slices = new Map<string, Slice>();
  private readonly olderTombstones = new Map<string, OlderTombstones>();
  private readonly objectsMax: number;
  private objects = 0;

  constructor(objectsMax: number) {
    this.objectsMax = objectsMax;
  }

  /** The slice as this process last read or wrote it. */
  slice(ref: SliceRef): Slice | undefined {
    return this.slices.get(keyOf(ref));
  }

  /** Remembers a slice; forgets it when undefined. */
  keepSlice(ref: SliceRef, slice: Slice | undefined): void {
    this.keep(this.slices, keyOf(ref), slice);
  }

  /** Older tombstones of a slice as this process last read or wrote them. */
  older(ref: SliceRef): OlderTombstones | undefined {
    return this.olderTombstones.get(keyOf(ref));
  }

  /** Remembers older tombstones; forgets them when undefined. */
  keepOlder(ref: SliceRef, older: OlderTombstones | undefined): void {
    this.keep(this.olderTombstones, keyOf(ref), older);
  }

  /** Slices leave first: without one that it needs, a message reads it. */
  private keep<Kept extends Slice | OlderTombstones>(
    into: Map<string, Kept>,
    key: string,
    kept: Kept | undefined,
  ): void {
    this.forget(into, key);
    if (kept === undefined) return;
    into.set(key, kept);
    this.objects += sizeOf(kept);
    for (const from of [this.slices, this.olderTombstones]) {
      for (const oldest of from.keys()) {
        if (this.objects <= this.objectsMax) return;
        this.forget(from, oldest);
      }
    }
  }

  private forget(from: Map<string, Slice | OlderTombstones>, key: string): void {
    const former = from.get(key);
    if (former === undefined) return;
    from.delete(key);
    this.objects -= sizeOf(former);
  }
}

function sizeOf(kept: Slice | OlderTombstones): number {
  const objects = 'objects' in kept ? kept.objects.length : 0;
  return objects + (kept.gone?.length ?? 0) + 1;
}

function keyOf(ref: SliceRef): string {
  return `${ref.clusterUid} ${ref.set} ${ref.index}`;
}

/** A fresh memory; one per process. `objectsMax` bounds the projections that it holds. */
export function createIngestProcessCache(
  options: { readonly objectsMax?: number } = {},
): IngestProcessCache {
  return new IngestProcessCache(options.objectsMax ?? 150_000);
}
