/**
 * The watcher of one cluster inside the embedded engine: the very watcher that is deployed into a
 * cluster, with the adapters that suit a process outside of it. It knows no handler and no table: what
 * it learns leaves through the queue alone.
 */
import type { Credential } from '../adapters/kubernetes/credentials/token-source.ts';
import { ApiWatchSource } from '../adapters/kubernetes/watch/watch-source.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import type { Metrics } from '../ports/process.ts';
import type { EventQueue } from '../ports/queues/queue.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import type { LeaseOptions } from '../watcher/lease/lease.ts';
import { DEFAULT_WATCHER_OPTIONS } from '../watcher/session/options.ts';
import { createWatcher } from '../watcher/session/watcher.ts';
import type { EngineCluster } from './engine-options.ts';
import { requireEndpoint } from './reach-cluster.ts';

export interface ClusterWatcherOptions {
  readonly cluster: EngineCluster;
  readonly credential: Credential;
  readonly queue: EventQueue;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Whose Lease it takes, and how it begins. */
  readonly lease: Pick<LeaseOptions, 'start' | 'installation' | 'free'>;
  /** Called once it has stopped, for what belongs to it alone. */
  readonly onStopped: () => void;
}

export interface ClusterWatcher {
  readonly started: Promise<void>;
  /** Gives the Lease back, if the API server answers soon. */
  readonly stop: () => Promise<void>;
}

export function startClusterWatcher(options: ClusterWatcherOptions): ClusterWatcher {
  const { cluster, credential, queue, clock, random, log, metrics, lease, onStopped } = options;
  const source = new ApiWatchSource({
    endpoint: requireEndpoint(cluster),
    credential,
    clock,
    ...(cluster.caPem === undefined ? {} : { caPem: cluster.caPem }),
  });
  const watcher = createWatcher({
    cluster: cluster.id,
    source,
    queue,
    clock,
    random,
    log,
    metrics,
    options: { lease: { ...DEFAULT_WATCHER_OPTIONS.lease, ...lease } },
  });
  return {
    started: watcher.start(),
    stop: async () => {
      await watcher.retire();
      source.close();
      onStopped();
    },
  };
}
