/**
 * A local cluster that a deployed stack manages: started, registered, watched, given the examples.
 *
 * The cluster lives in a thread of this process (packages/local-cluster/src); its watcher is the bundled program, and the
 * bundled command line registers it (register.ts).
 */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Log } from '@rollcall/base/ports/log.ts';
import type { Stack } from '../../src/cli/reach/stack.ts';
import { applyManifests } from '../../src/engine/apply-manifests.ts';
import type { EngineCluster } from '../../src/engine/engine-options.ts';
import { startLocalFleet } from '../../src/engine/local-fleet.ts';
import { packageFile } from '../../src/engine/package-files.ts';
import { openTransport } from '../../src/engine/reach-cluster.ts';
import { createComponent, type Component } from '../lib/component.ts';
import type { Reaper } from '../lib/reaper.ts';
import { registerLocalCluster } from './register.ts';
import type { RollcallCommand } from './rollcall-command.ts';
import { REGION } from './aws-environment.ts';

/** What a cluster needs. */
export interface ManagedClusterOptions {
  readonly stack: Stack;
  readonly endpoint: string;
  /** Its name is local-N. */
  readonly number: number;
  readonly nodeCount: number;
  readonly watcherFile: string;
  /** The command line, against this stack. */
  readonly rollcall: RollcallCommand;
  /** For kubeconfig, tokens and logs; removed by the caller. */
  readonly directory: string;
  readonly reaper: Reaper;
  readonly log: Log;
  readonly say: (text: string) => void;
  readonly onFailure: (error: Error) => void;
}

/** A running, registered cluster. */
export interface ManagedCluster {
  readonly cluster: EngineCluster;
  readonly clusterUid: string;
  readonly kubeconfigPath: string;
  readonly watcher: Component;
  /** Creates what these files of the repository hold. */
  readonly apply: (files: readonly string[]) => Promise<void>;
  /** Stops the watcher, then the cluster. */
  readonly stop: () => Promise<void>;
}

const OWNER_ONLY = 0o600;

/** Starts and registers it; what was started is stopped again if a step fails. */
export async function startManagedCluster(options: ManagedClusterOptions): Promise<ManagedCluster> {
  const { stack, rollcall, directory, log, say, onFailure } = options;
  const fleet = await startLocalFleet({
    clusterCount: 1,
    firstNumber: options.number,
    nodesPerCluster: options.nodeCount,
    port: 0,
    isCold: false,
    mode: 'takeover',
    manifests: [],
    log,
    logLevel: 'info',
    onProgress: say,
    onFailure,
  });
  const stops: (() => Promise<void>)[] = [() => fleet.stop()];
  const stop = async (): Promise<void> => {
    for (const one of stops.splice(0).toReversed()) await one();
  };
  try {
    const cluster = requireOne(fleet.clusters);
    const kubeconfigPath = path.join(directory, `${cluster.id}-kubeconfig`);
    await writeFile(kubeconfigPath, fleet.kubeconfig, { mode: OWNER_ONLY });
    const known = { cluster, kubeconfigPath, stack, rollcall, directory, say };
    const clusterUid = await registerLocalCluster(known);
    const watcher = await startWatcher(options, cluster);
    stops.push(() => watcher.stop());
    return { cluster, clusterUid, kubeconfigPath, watcher, apply: applyTo(cluster), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function requireOne(clusters: readonly EngineCluster[]): EngineCluster {
  const [cluster] = clusters;
  if (cluster === undefined) throw new Error('the local fleet has no cluster');
  return cluster;
}

/**
 * Its watcher as a plain process: the bundle that the image holds, under the shipped rights. Its environment holds what a pod's
 * would, and nothing of the caller's: settings, files with certificate and token, and made-up AWS credentials for the emulator.
 */
async function startWatcher(
  { stack, endpoint, watcherFile, directory, reaper }: ManagedClusterOptions,
  { id, server, caPem = '', watcher }: EngineCluster,
): Promise<Component> {
  if (watcher.kind !== 'bearer') throw new Error('a local watcher has a token');
  const caFile = path.join(directory, `${id}-ca.pem`);
  const tokenFile = path.join(directory, `${id}-watcher-token`);
  await writeFile(caFile, caPem);
  await writeFile(tokenFile, watcher.token, { mode: OWNER_ONLY });
  const component = createComponent({
    name: `watcher of ${id}`,
    logPath: path.join(directory, `${id}-watcher.log`),
    reaper,
    commandLine: () => [
      ...(['env', '-i'] as const),
      `ROLLCALL_CLUSTER=${id}`,
      `ROLLCALL_EVENTS_QUEUE_URL=${stack.outputs.EventsQueueUrl}`,
      `ROLLCALL_SQS_ENDPOINT=${endpoint}`,
      `ROLLCALL_API_SERVER=${server}`,
      `ROLLCALL_CA_FILE=${caFile}`,
      `ROLLCALL_TOKEN_FILE=${tokenFile}`,
      `AWS_REGION=${REGION}`,
      ...['AWS_ACCESS_KEY_ID=test', 'AWS_SECRET_ACCESS_KEY=test'],
      ...[process.execPath, watcherFile],
    ],
  });
  component.start();
  return component;
}

function applyTo(cluster: EngineCluster): ManagedCluster['apply'] {
  return async (files) => {
    const transport = openTransport(cluster, cluster.probe);
    try {
      await applyManifests(transport, files.map(packageFile));
    } finally {
      transport.retire();
    }
  };
}
