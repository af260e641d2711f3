/**
 * The local clusters of `npm start`: started, given RBAC and workloads, described for the engine and for kubectl.
 *
 * Each cluster runs in a thread of its own and is managed over TLS as any other. A cluster made here has certainly no
 * built-in DaemonSet loop, so the takeover probe may be short; it is not skipped.
 */
import { counted } from '@rollcall/base/counted.ts';
import path from 'node:path';
import type { Transport } from '../adapters/kubernetes/transport/transport.ts';
import { clusterId } from '../core/model/identifiers.ts';
import { jsonItems, jsonMember, type Json, type JsonObject } from '@rollcall/base/json.ts';
import type { ClusterMode } from '../core/model/registration.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import { applyManifests } from './apply-manifests.ts';
import type { EngineCluster } from './engine-options.ts';
import { EngineRefusal } from './engine-refusal.ts';
import { startClusterThread } from '@rollcall/local-cluster/cluster/cluster-thread.ts';
import { renderKubeconfig } from '@rollcall/local-cluster/cluster/kubeconfig.ts';
import type { LocalCluster } from '@rollcall/local-cluster/cluster/local-cluster.ts';
import { READINESS_ANNOTATION } from '@rollcall/local-cluster/machines/machine.ts';
import { variedMachines } from '@rollcall/local-cluster/machines/machines.ts';
import { deleteOldestPod } from './local/delete-oldest-pod.ts';
import { CATCH_UP_NODES_AGE_MS, ringLabels, ringMachines } from './local/local-rings.ts';
import { openTransport } from './reach-cluster.ts';
import { packageFile } from './package-files.ts';

export interface LocalFleetOptions {
  readonly clusterCount: number;
  /** What the first one is called: local-1, unless another fleet of this machine has that name. */
  readonly firstNumber?: number;
  readonly nodesPerCluster: number;
  /** `mixed`: as varied as a newcomer should meet; `rings`: plain clusters in rings, for one FleetDaemonSet (local/local-rings.ts). Default: mixed. */
  readonly layout?: 'mixed' | 'rings';
  /** Port of the first API server; the others follow. 0: free ones. */
  readonly port: number;
  /** No node is Ready before its CNI DaemonSet runs there. */
  readonly isCold: boolean;
  readonly mode: ClusterMode;
  /** Objects live there between runs; in memory when absent. */
  readonly dataDir?: string;
  /** Manifests besides the shipped RBAC. */
  readonly manifests: readonly string[];
  readonly log: Log;
  readonly logLevel: 'debug' | 'info';
  readonly onProgress?: (text: string) => void;
  readonly onFailure: (error: Error) => void;
}

/** The nodes of one cluster. */
export interface NodeCounts {
  readonly cluster: string;
  readonly total: number;
  readonly ready: number;
  /** The first node that can become Ready and has not; undefined when all that ever will have. */
  readonly awaited?: string;
}

export interface DaemonSetPlace {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
}

/** The running clusters. */
export interface LocalFleet {
  readonly clusters: readonly EngineCluster[];
  /** Text of a kubeconfig with a context for each. It holds secrets. */
  readonly kubeconfig: string;
  /** How each cluster's nodes fare now; a cluster that does not answer is left out. */
  readonly readNodes: () => Promise<readonly NodeCounts[]>;
  /** Edits a DaemonSet as a user does, by a strategic merge patch. Rejects when it is refused. */
  readonly patchDaemonSet: (ref: DaemonSetPlace, body: JsonObject) => Promise<void>;
  /** Deletes its oldest pod that runs this image, as an autoscaler does that replaces nodes; false: there is none. */
  readonly deleteOldestPod: (ref: DaemonSetPlace, image: string) => Promise<boolean>;
  readonly stop: () => Promise<void>;
}

/** How long a built-in loop would get to show itself: there is none. */
export const LOCAL_PROBE_WAIT_MS = 1000;

/** The RBAC that is shipped, for the watcher and for the functions. */
export const RBAC_MANIFESTS: readonly string[] = [
  'infra/watcher/rbac.yaml',
  'infra/functions/rbac.yaml',
].map(packageFile);

/** Starts them; what was started is stopped again if one fails. Throws EngineRefusal. */
export async function startLocalFleet(options: LocalFleetOptions): Promise<LocalFleet> {
  const running: LocalCluster[] = [];
  const transports: Transport[] = [];
  const stop = async (): Promise<void> => {
    for (const transport of transports) transport.retire();
    await Promise.all(running.map((cluster) => cluster.stop()));
  };
  try {
    for (let index = 0; index < options.clusterCount; index += 1) {
      running.push(await startOne(index, options));
    }
    const clusters = running.map((cluster, index) => ({
      ...engineClusterOf(cluster, options.mode),
      ...(options.layout === 'rings' ? { labels: ringLabels(index) } : {}),
    }));
    for (const cluster of clusters) {
      const transport = openTransport(cluster, cluster.probe);
      transports.push(transport);
      await applyManifests(transport, [...RBAC_MANIFESTS, ...options.manifests]);
    }
    return {
      clusters,
      kubeconfig: renderKubeconfig(running),
      readNodes: () => readNodes(clusters, transports),
      patchDaemonSet: async (place, body) => {
        const index = clusters.findIndex(({ id }) => id === place.cluster);
        await patchDaemonSet(transports[index], place, body);
      },
      deleteOldestPod: async (place, image) => {
        const index = clusters.findIndex(({ id }) => id === place.cluster);
        return deleteOldestPod(transports[index], place, image);
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startOne(index: number, options: LocalFleetOptions): Promise<LocalCluster> {
  const { nodesPerCluster, port, isCold, dataDir, log, onProgress, onFailure } = options;
  const name = `local-${String(index + (options.firstNumber ?? 1))}`;
  const network = isCold ? 'daemon' : 'preinstalled';
  const machines =
    options.layout === 'rings'
      ? ringMachines(index, nodesPerCluster)
      : variedMachines({ count: nodesPerCluster, network });
  onProgress?.(`starting cluster ${name} with ${counted(machines.length, 'node')} …`);
  const settings = {
    name,
    logLevel: options.logLevel,
    port: port === 0 ? 0 : port + index,
    machines,
    ...(options.layout === 'rings' ? { joinedMsAgo: CATCH_UP_NODES_AGE_MS } : {}),
    ...(dataDir === undefined ? {} : { dataDirectory: path.join(dataDir, 'clusters', name) }),
  };
  try {
    return await startClusterThread({ settings, log, onFailure });
  } catch (error) {
    throw new EngineRefusal({
      code: 'local-cluster',
      message: `The local cluster ${name} could not start: ${error instanceof Error ? error.message : String(error)}.`,
      remedy: 'Is the port taken? Pass another --port, or none to use a free one.',
      cause: error,
    });
  }
}

/** How the engine is told of a local cluster: each actor under its own token, the functions under none in mode observe. */
export function engineClusterOf(cluster: LocalCluster, mode: ClusterMode): EngineCluster {
  const { tokens } = cluster;
  return {
    id: clusterId(cluster.name),
    server: cluster.server,
    caPem: cluster.caPem,
    mode,
    watcher: { kind: 'bearer', token: tokens.watcher },
    functions: mode === 'observe' ? { kind: 'none' } : { kind: 'bearer', token: tokens.functions },
    probe: { kind: 'bearer', token: tokens.admin },
  };
}

async function patchDaemonSet(
  transport: Transport | undefined,
  { cluster, namespace, name }: DaemonSetPlace,
  body: JsonObject,
): Promise<void> {
  const answer = await transport?.send({
    method: 'PATCH',
    path: `/apis/apps/v1/namespaces/${namespace}/daemonsets/${name}`,
    contentType: 'application/strategic-merge-patch+json',
    body: JSON.stringify(body),
  });
  if (answer?.kind === 'answered' && answer.status < 400) return;
  const why =
    answer?.kind === 'answered' ? String(answer.status) : (answer?.message ?? 'no such cluster');
  throw new EngineRefusal({
    code: 'local-cluster',
    message: `The DaemonSet ${namespace}/${name} of ${cluster} could not be edited: ${why}.`,
    remedy: 'Is it still there? Without --data the examples are as they were.',
  });
}

async function readNodes(
  clusters: readonly EngineCluster[],
  transports: readonly Transport[],
): Promise<readonly NodeCounts[]> {
  const answers = await Promise.all(
    transports.map((transport) => transport.send({ method: 'GET', path: '/api/v1/nodes' })),
  );
  return clusters.flatMap(({ id }, index) => {
    const answer = answers[index];
    const body = answer?.kind === 'answered' ? answer.body : undefined;
    const nodes = jsonMember(body, 'items');
    return nodes === undefined ? [] : [countNodes(id, jsonItems(nodes))];
  });
}

function countNodes(cluster: string, nodes: readonly Json[]): NodeCounts {
  const awaited = nodes.find((node) => isAwaited(node));
  return {
    cluster,
    total: nodes.length,
    ready: nodes.filter((node) => isReady(node)).length,
    ...(awaited === undefined ? {} : { awaited: nameOf(awaited) }),
  };
}

function isReady(node: Json): boolean {
  const conditions = jsonItems(jsonMember(jsonMember(node, 'status'), 'conditions'));
  return conditions.some(
    (one) => jsonMember(one, 'type') === 'Ready' && jsonMember(one, 'status') === 'True',
  );
}

/** A node that can become Ready, and has not, or still carries the taint of one that has not. */
function isAwaited(node: Json): boolean {
  const annotations = jsonMember(jsonMember(node, 'metadata'), 'annotations');
  if (jsonMember(annotations, READINESS_ANNOTATION) === 'never') return false;
  const taints = jsonItems(jsonMember(jsonMember(node, 'spec'), 'taints'));
  const isTainted = taints.some((one) => jsonMember(one, 'key') === 'node.kubernetes.io/not-ready');
  return !isReady(node) || isTainted;
}

function nameOf(node: Json): string {
  const name = jsonMember(jsonMember(node, 'metadata'), 'name');
  return typeof name === 'string' ? name : '';
}
