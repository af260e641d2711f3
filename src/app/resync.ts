/** `resync`: the schedule that finds what no event will wake. */
import type { Clock } from '../ports/clock.ts';
import type { ClusterConnector } from '../ports/cluster-access.ts';
import type { Log } from '../ports/log.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { HintQueue } from '../ports/queue.ts';
import type { Random } from '../ports/random.ts';
import type { RegistryStore } from '../ports/registry-store.ts';
import type { ViewStore } from '../ports/view-store.ts';

/** Intervals of the schedule. */
export interface ResyncOptions {
  /** How often the schedule fires. */
  readonly tickMs: number;
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
  tickMs: 300_000,
  hintEveryMs: 6 * 3_600_000,
  overdueEveryMs: 900_000,
  overdueGraceMs: 60_000,
  silenceBoundMs: 15 * 60_000,
  snapshotRequestEveryMs: 300_000,
  concurrentClustersMax: 8,
};

/** What `resyncClusters` needs. */
export interface ResyncDependencies {
  readonly registry: Pick<RegistryStore, 'readCluster' | 'listClusters'>;
  readonly view: Pick<ViewStore, 'readMeta' | 'writeMeta' | 'listNames' | 'readState'>;
  readonly connector: ClusterConnector;
  readonly queue: HintQueue;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly options: ResyncOptions;
}

/** Where to begin, and until when. */
export interface ResyncRun {
  /** Monotonic: no further page of the directory is begun after it. */
  readonly deadlineMs: number;
  /** From the result of the invocation before; absent: from the beginning of the directory. */
  readonly cursor?: string;
}

/** What one invocation did. */
export interface ResyncResult {
  readonly clusters: number;
  readonly failedClusters: number;
  readonly hints: number;
  readonly overdue: number;
  readonly snapshotRequests: number;
  /** Present when time ran out: invoke again with it. */
  readonly cursor?: string;
}

/** Goes through the directory from a cursor, a page at a time; one failing cluster holds nothing. */
export async function resyncClusters(
  _run: ResyncRun,
  _dependencies: ResyncDependencies,
): Promise<ResyncResult> {
  throw new Error('resyncClusters is being written');
}
