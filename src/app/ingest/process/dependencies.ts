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
} from '../../../ports/stores/view-store.ts';
import type { BatchBackgroundWork } from './background-work.ts';
import type { IngestProcessCache } from './process-cache.ts';

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
