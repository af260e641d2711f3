/**
 * The watcher of one cluster inside the embedded engine: the very watcher that is deployed into a
 * cluster, with the adapters that suit a process outside of it.
 */
import { PooledAgent } from '../adapters/kubernetes/pooled-agent.ts';
import { createWatchSource } from '../adapters/kubernetes/watch-source.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { EventQueue } from '../ports/queue.ts';
import type { Random } from '../ports/random.ts';
import { createWatcher } from '../watcher/watcher.ts';
import type { EngineCluster } from './engine-options.ts';
import { openTransport, requireEndpoint } from './open-transport.ts';

/** What it runs on. */
export interface ClusterWatcherOptions {
  readonly cluster: EngineCluster;
  readonly queue: EventQueue;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Called once it has stopped, for what belongs to it alone. */
  readonly onStopped: () => void;
}

/** A running watcher. */
export interface ClusterWatcher {
  readonly started: Promise<void>;
  readonly stop: () => Promise<void>;
}

const STREAMS_MAX = 16;

/** Starts it. */
export function startClusterWatcher(options: ClusterWatcherOptions): ClusterWatcher {
  const { cluster, queue, clock, random, log, metrics, onStopped } = options;
  const { watcher: authentication, caPem } = cluster;
  const agent = new PooledAgent({
    tlsVerification: 'required',
    socketsMax: STREAMS_MAX,
    monotonicMs: () => clock.monotonicMs(),
    ...(caPem === undefined ? {} : { caPem }),
    ...(authentication.kind === 'client-certificate' ? { clientCertificate: authentication } : {}),
  });
  const transport = openTransport(cluster, authentication);
  const source = createWatchSource({
    transport,
    connection: {
      endpoint: requireEndpoint(cluster),
      agent,
      token: () =>
        Promise.resolve(authentication.kind === 'bearer' ? authentication.token : undefined),
      nowMs: () => clock.nowMs(),
    },
  });
  const watcher = createWatcher({ cluster: cluster.id, source, queue, clock, random, log, metrics });
  return {
    started: watcher.start(),
    stop: async () => {
      await watcher.stop();
      transport.retire();
      agent.retire();
      onStopped();
    },
  };
}
