/**
 * The embedded engine: the deployed handlers, over the AWS SDK, against local queues and tables, with a
 * watcher for each cluster, in one process (design 7).
 *
 * It composes and decides nothing: which clusters, in which mode, is registered in the very registry
 * that a deployment uses. One engine per process at a time, because handlers read the process's
 * environment. `stop` ends the watchers first, then lets running invocations finish, so that whatever
 * was begun is recorded; a kill instead is repaired at the next start on the same data.
 */
import { SQSClient } from '@aws-sdk/client-sqs';
import { CALL_LIMITS, createAwsClient } from '../adapters/aws/create-client.ts';
import { createEventQueue } from '../adapters/sqs/event-queue.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { defined } from '@rollcall/base/defined.ts';
import type { ClusterId, ClusterUid } from '../core/model/identifiers.ts';
import type { FleetRolloutStore, FleetStore } from '../ports/stores/fleet-rollout-store.ts';
import type { RegistryStore } from '../ports/stores/registry-store.ts';
import type { ViewStore } from '../ports/stores/view-store.ts';
import { startLocalAws, type LocalAws } from '@rollcall/local-aws/deployment/local-aws.ts';
import { startClusterWatcher } from './cluster-watcher.ts';
import type { ClusterWatcher, ClusterWatcherOptions } from './cluster-watcher.ts';
import { keepFresh } from './credential-renewal.ts';
import type { EngineCluster, EngineOptions } from './engine-options.ts';
import { SERVERLESS_FILE, STAGE, WATCHER_SENDERS, openStores } from './engine-stores.ts';
import { loadHandlers } from './handlers.ts';
import { Overviews, type ClusterOverview } from './overview.ts';
import { openInstallation } from './lease/installation.ts';
import { registerCluster } from './register-cluster.ts';
import type { RegisterCluster, RegisteredCluster } from './register-cluster.ts';
import { keepHeapSlim, processHeap } from '../adapters/system/slim-heap.ts';

/** A running engine. */
export interface Engine {
  readonly aws: LocalAws;
  /** As the Leases of its clusters name it (ADR 0024). */
  readonly installation: string;
  readonly registry: RegistryStore;
  readonly view: ViewStore;
  readonly fleets: FleetStore;
  readonly rollouts: FleetRolloutStore;
  readonly clusterUids: ReadonlyMap<ClusterId, ClusterUid>;
  /**
   * With which environment a watcher in a process of its own sends to this engine's queue; where its
   * API server is, and its token, are said besides (src/adapters/kubernetes/settings/watch-settings.ts).
   */
  readonly watcherEnvironment: (id: ClusterId) => Readonly<Record<string, string>>;
  /** What is known of every cluster now. */
  readonly overview: () => Promise<readonly ClusterOverview[]>;
  readonly stop: () => Promise<void>;
}

/** The access key with which a cluster's watcher signs its messages: a name, its secret is the local AWS's. */
function watcherAccessKey(id: ClusterId): string {
  return `WATCHER${id.replaceAll(/[^A-Za-z0-9]/g, '').toUpperCase()}`;
}

/** The unique id of the role that a cluster's watcher would have in AWS. */
function watcherRoleId(id: ClusterId): string {
  return `AROA${watcherAccessKey(id)}`;
}

/**
 * Starts everything; resolves when watchers and mappings run. Rejects with EngineRefusal when a
 * cluster may not be managed as asked; nothing is left running then.
 */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  const senderIds = new Map(
    options.clusters.map(({ id }) => [
      watcherAccessKey(id),
      `${watcherRoleId(id)}:rollcall-watcher`,
    ]),
  );
  const aws = await startLocalAws({
    serverlessFile: SERVERLESS_FILE,
    stage: STAGE,
    senders: {
      ids: senderIds,
      secretAccessKey: options.watchersElsewhere?.secretAccessKey,
      ...WATCHER_SENDERS,
    },
    dataDirectory: options.dataDir,
    faults: options.faults,
    onFailure: ({ functionName, message, error }) => {
      options.log.error(message, { function: functionName }, error);
    },
  });
  const stops: (() => Promise<void> | void)[] = [() => aws.stop()];
  const stop = async (): Promise<void> => {
    for (const stopOne of stops.splice(0).toReversed()) await stopOne();
  };
  try {
    return { ...(await bringUp({ options, aws, stops })), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface BringUp {
  readonly options: EngineOptions;
  readonly aws: LocalAws;
  readonly stops: (() => Promise<void> | void)[];
}

async function bringUp({ options, aws, stops }: BringUp): Promise<Omit<Engine, 'stop'>> {
  Object.assign(process.env, aws.environment);
  const { registry, freezes, view, fleets, rollouts, destroy } = openStores(aws);
  stops.push(destroy);
  const { dataDir } = options;
  const directory =
    options.installationDir ?? (typeof dataDir === 'string' ? dataDir : dataDir?.path);
  const installation = await openInstallation(directory, createSystemRandom());
  process.env['ROLLCALL_INSTALLATION'] = installation;
  const registered = await registerAll(options, { installation, stores: { registry, view } });
  const handlers = await loadHandlers({
    sinks: { log: options.log, metrics: options.metrics },
    credentialsOf: aws.credentialsOf,
  });
  aws.startMappings(handlers);
  const watched = options.watchersElsewhere === undefined ? options.clusters : [];
  const watchers = watched.map((cluster) => {
    const free = registered.get(cluster.id)?.freeLease;
    const start = options.lease === 'take' ? 'take-from-any' : 'take';
    const lease = { start, installation, ...defined({ free }) } as const;
    return startWatcher({ cluster, aws, options, registry, lease });
  });
  stops.push(async () => {
    await Promise.all(watchers.map((watcher) => watcher.stop()));
  });
  await Promise.all(watchers.map((watcher) => watcher.started));
  const clock = createSystemClock();
  stops.push(keepHeapSlim({ heap: processHeap, clock, counts: aws.counts, log: options.log }));
  const overviews = new Overviews({ registry, freezes, view, clock });
  const overview = async (): Promise<readonly ClusterOverview[]> => {
    const all = options.clusters.map(({ id }) => overviews.read(id));
    return (await Promise.all(all)).filter((one) => one !== undefined);
  };
  return {
    aws,
    installation,
    registry,
    view,
    fleets,
    rollouts,
    clusterUids: new Map([...registered].map(([id, { uid }]) => [id, uid])),
    watcherEnvironment: (id) => watcherEnvironment(id, aws, installation),
    overview,
  };
}

/** Registers the clusters side by side: each probe waits. All have ended when this rejects with the first refusal. */
async function registerAll(
  options: EngineOptions,
  on: Pick<RegisterCluster, 'installation' | 'stores'>,
): Promise<ReadonlyMap<ClusterId, RegisteredCluster>> {
  const results = await Promise.allSettled(
    options.clusters.map(async (cluster) => {
      const senderRoleId = watcherRoleId(cluster.id);
      return [
        cluster.id,
        await registerCluster({ ...on, cluster, senderRoleId, options }),
      ] as const;
    }),
  );
  const entries: (readonly [ClusterId, RegisteredCluster])[] = [];
  for (const result of results) {
    if (result.status === 'rejected') throw result.reason;
    entries.push(result.value);
  }
  return new Map(entries);
}

function eventsQueueUrl(aws: LocalAws): string {
  const queueUrl = aws.queueUrls['EventsQueue'];
  if (queueUrl === undefined) throw new Error('infra/queues.yml declares no EventsQueue');
  return queueUrl;
}

function watcherEnvironment(
  id: ClusterId,
  aws: LocalAws,
  installation: string,
): Readonly<Record<string, string>> {
  const credentials = aws.authorizer.credentialsOf(watcherAccessKey(id));
  return {
    ROLLCALL_INSTALLATION: installation,
    ROLLCALL_CLUSTER: id,
    ROLLCALL_EVENTS_QUEUE_URL: eventsQueueUrl(aws),
    ROLLCALL_SQS_ENDPOINT: aws.sqsEndpoint,
    AWS_REGION: aws.region,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_EC2_METADATA_DISABLED: 'true',
  };
}

function startWatcher(parts: {
  readonly cluster: EngineCluster;
  readonly aws: LocalAws;
  readonly options: EngineOptions;
  readonly registry: RegistryStore;
  readonly lease: ClusterWatcherOptions['lease'];
}): ClusterWatcher {
  const { cluster, aws, options, registry, lease } = parts;
  const queueUrl = eventsQueueUrl(aws);
  const client = createAwsClient(SQSClient, CALL_LIMITS.watcher, {
    region: aws.region,
    endpoint: aws.sqsEndpoint,
    credentials: aws.authorizer.credentialsOf(watcherAccessKey(cluster.id)),
  });
  const clock = createSystemClock();
  const log = options.log.with({ cluster: cluster.id });
  const renewed = keepFresh({ cluster, registry, clock, log });
  return startClusterWatcher({
    cluster,
    credential: renewed.credential,
    queue: createEventQueue({ client, queueUrl }),
    clock,
    random: createSystemRandom(),
    log,
    metrics: options.metrics,
    lease,
    onStopped: () => {
      renewed.stop();
      client.destroy();
    },
  });
}
