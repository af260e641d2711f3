/**
 * What `resync` is given, and its published intervals.
 *
 * The intervals are promises (docs/scale.md) and count from what was last looked at, whenever the schedule fires.
 */
import type { ProcessPorts } from '../../ports/process.ts';
import type { ClusterConnector } from '../../ports/cluster/cluster-access.ts';
import type { HintQueue } from '../../ports/queues/queue.ts';
import type { RegistryStore } from '../../ports/stores/registry-store.ts';
import type { ViewStore } from '../../ports/stores/view-store.ts';

/** Intervals of the schedule. None of them rests on how often it fires, or how long a walk takes. */
interface ResyncOptions {
  /** How often every key gets a hint: six hours, so four times a day. */
  readonly hintEveryMs: number;
  /** How often the state of every key is looked at for an overdue due time. */
  readonly overdueEveryMs: number;
  /** A due time counts as overdue when it passed longer ago than this. */
  readonly overdueGraceMs: number;
  /** A cluster counts as silent when not heard of for longer (protocol 1). */
  readonly silenceBoundMs: number;
  /** At most one request for a snapshot per cluster in this time (protocol 17). */
  readonly snapshotRequestEveryMs: number;
  /** Clusters looked at side by side. */
  readonly concurrentClustersMax: number;
}

/** The published intervals (docs/reference.md). */
export const defaultResyncOptions: ResyncOptions = {
  hintEveryMs: 6 * 3_600_000,
  overdueEveryMs: 900_000,
  overdueGraceMs: 60_000,
  silenceBoundMs: 15 * 60_000,
  snapshotRequestEveryMs: 300_000,
  concurrentClustersMax: 8,
};

/** Kept back of an invocation for the last cluster begun: what is left of its time is a walk's. */
export const WALK_RESERVE_MS = 5_000;

/** What `resyncClusters` needs. */
export interface ResyncDependencies extends ProcessPorts {
  readonly registry: Pick<RegistryStore, 'readCluster' | 'listClusters'>;
  readonly view: Pick<
    ViewStore,
    'readMeta' | 'writeMeta' | 'listNames' | 'readState' | 'readWalk' | 'writeWalk'
  >;
  readonly connector: ClusterConnector;
  readonly queue: HintQueue;
  readonly options: ResyncOptions;
}
