/**
 * `npm start -- --release`: hands a cluster back to the built-in controller, from a process that runs
 * nothing else (src/app/takeover/hand-back.ts says how).
 *
 * No handler and no watcher is started here. Another process that still looks after the cluster would
 * go on, so it must have stopped: its Lease says so. With a data directory the registration and open
 * intents in it are honoured; without one there is nothing to read, and the wait stands for it.
 */
import { createHandBackAccess } from '../adapters/kubernetes/operator/hand-back-access.ts';
import type { Transport } from '../adapters/kubernetes/transport/transport.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { handBack, type HandBackResult } from '../app/takeover/hand-back.ts';
import { defaultReconcileOptions } from '../app/reconcile/process/dependencies.ts';
import type { ClusterUid } from '../core/model/identifiers.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import { startLocalAws } from '@rollcall/local-aws/deployment/local-aws.ts';
import { openTransport, readClusterUid } from './reach-cluster.ts';
import type { EngineCluster, EngineOptions } from './engine-options.ts';
import { EngineRefusal } from './engine-refusal.ts';
import { SERVERLESS_FILE, STAGE, openStores } from './engine-stores.ts';
import { readWatcherLease, watchForVacancy } from './lease/lease-vacancy.ts';

export interface ReleaseOptions {
  readonly cluster: EngineCluster;
  /** Of the process that looked after the cluster; without one its registration is unknown. */
  readonly dataDir?: EngineOptions['dataDir'];
  readonly log: Log;
  readonly onProgress?: (text: string) => void;
}

export interface Release {
  readonly clusterUid: ClusterUid;
  readonly result: Extract<HandBackResult, { kind: 'handed-back' }>;
}

/** Hands the cluster back. Throws EngineRefusal. */
export async function releaseCluster(options: ReleaseOptions): Promise<Release> {
  const { cluster } = options;
  const transport = openTransport(cluster, cluster.probe);
  try {
    const clusterUid = await readClusterUid(transport, cluster.server);
    const quietForMs = await requireVacancy(options, transport);
    return await release(options, { transport, clusterUid, quietForMs });
  } finally {
    transport.retire();
  }
}

/** For how long the Lease was not renewed. Throws when a holder renews it. */
async function requireVacancy(
  { cluster, onProgress }: ReleaseOptions,
  transport: Transport,
): Promise<number> {
  const vacancy = await watchForVacancy({
    readLease: () => readWatcherLease(transport),
    clock: createSystemClock(),
    onWatching: (limitMs) => {
      const seconds = String(Math.ceil(limitMs / 1000));
      onProgress?.(
        `checking that no Rollcall process runs for ${cluster.id}: up to ${seconds} s …`,
      );
    },
  });
  switch (vacancy.kind) {
    case 'vacant':
      return vacancy.quietForMs;
    case 'unreadable':
      throw new EngineRefusal({
        code: 'handover-failed',
        message: `The watcher’s Lease of ${cluster.id} cannot be read: ${vacancy.message}.`,
        remedy: 'The kubeconfig’s user must be able to read Leases in rollcall-system.',
      });
    case 'held':
      throw new EngineRefusal({
        code: 'still-managed',
        message:
          `${cluster.id} is still looked after by another Rollcall process: ${vacancy.holder} holds the Lease ` +
          `rollcall-system/rollcall-watcher and renewed it at ${vacancy.renewedAt}.`,
        remedy:
          'Stop that process first (Ctrl-C leaves the pods as they are), or delete the watcher’s Deployment; then run --release again.',
      });
  }
}

async function release(
  { cluster, dataDir, log, onProgress }: ReleaseOptions,
  known: {
    readonly transport: Transport;
    readonly clusterUid: ClusterUid;
    readonly quietForMs: number;
  },
): Promise<Release> {
  const { transport, clusterUid, quietForMs } = known;
  const aws = await startLocalAws({
    serverlessFile: SERVERLESS_FILE,
    stage: STAGE,
    dataDirectory: dataDir,
    onFailure: ({ functionName, message, error }) => {
      log.error(message, { function: functionName }, error);
    },
  });
  Object.assign(process.env, aws.environment);
  const stores = openStores(aws);
  try {
    const stored = await stores.registry.readCluster(cluster.id);
    if (stored !== undefined && stored.clusterUid !== clusterUid) {
      throw new EngineRefusal({
        code: 'other-cluster',
        message: `${cluster.id} is registered as the cluster ${stored.clusterUid}, but ${cluster.server} is another one.`,
        remedy: 'Pass the --data directory that belongs to this cluster, or none.',
      });
    }
    const result = await handBack(cluster.id, {
      ...stores,
      access: createHandBackAccess({ transport }),
      clock: createSystemClock(),
      requestTimeoutMs: defaultReconcileOptions.requestTimeoutMs,
      functionMaxMs: 0,
      quietForMs,
      ...(onProgress === undefined ? {} : { onProgress }),
    });
    return { clusterUid, result: requireHandedBack(cluster, result) };
  } finally {
    stores.destroy();
    await aws.stop();
  }
}

function requireHandedBack(
  cluster: Pick<EngineCluster, 'id'>,
  result: HandBackResult,
): Extract<HandBackResult, { kind: 'handed-back' }> {
  if (result.kind === 'handed-back') return result;
  throw new EngineRefusal({
    code: 'handover-failed',
    message: `${cluster.id} could not be handed back (step ${result.step}): ${result.message}.`,
    remedy:
      'Nothing was switched on and no pod was touched; run --release again, it goes on from there.',
  });
}
