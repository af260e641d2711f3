/**
 * Where the clusters of `npm start` come from: a kubeconfig, or local ones that are started here.
 *
 * The rest of the command does not know which. Local clusters end with the process; their kubeconfig lies in the working
 * directory, readable by its owner alone.
 */
import path from 'node:path';
import { defined } from '@rollcall/base/defined.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import { writeOwnerFile } from '@rollcall/local-aws/deployment/owner-file.ts';
import type { EngineCluster } from '../../engine/engine-options.ts';
import { LOCAL_PROBE_WAIT_MS, startLocalFleet } from '../../engine/local-fleet.ts';
import type { LocalFleet, NodeCounts } from '../../engine/local-fleet.ts';
import { packageFile } from '../../engine/package-files.ts';
import { loadCluster } from '../reach/open-kubeconfig.ts';
import type { ClusterChoice, StartOptions } from './options.ts';

export interface ClusterSource {
  readonly clusters: readonly EngineCluster[];
  /** How long the takeover probe waits; undefined: as long as a real cluster needs. */
  readonly probeWaitMs?: number;
  /** A kubeconfig that was written for the user. */
  readonly kubeconfigPath?: string;
  /** Lines that say what to try next, in a terminal that has read this file (second-terminal.ts). */
  readonly nextSteps: (environmentPath: string) => readonly string[];
  /** How the nodes fare, where the clusters are ours; else none. */
  readonly readNodes: () => Promise<readonly NodeCounts[]>;
  /** Edits a DaemonSet of a local cluster; absent for clusters of a kubeconfig. */
  readonly patchDaemonSet?: LocalFleet['patchDaemonSet'];
  /** Replaces a pod of a local cluster; absent for clusters of a kubeconfig. */
  readonly deleteOldestPod?: LocalFleet['deleteOldestPod'];
  readonly close: () => Promise<void>;
}

export interface OpenSource {
  readonly options: StartOptions;
  /** Where files for the user lie while this runs. */
  readonly directory: string;
  readonly log: Log;
  readonly onProgress: (text: string) => void;
  /** A local cluster died: a bug, or no memory was left. */
  readonly onFailure: (error: Error) => void;
}

const EXAMPLES = ['log-collector', 'node-metrics', 'storage-daemon', 'gpu-telemetry'];
/** First, so that the network is on its way before the rest asks for it. */
const COLD_EXAMPLES = ['cold/pod-network', ...EXAMPLES];

/** Opens the clusters that the options choose. Throws CommandError and EngineRefusal. */
export async function openClusterSource(request: OpenSource): Promise<ClusterSource> {
  const { choice, mode } = request.options;
  if (choice.kind === 'local') return openLocal(choice, request);
  return {
    clusters: [await loadCluster(choice, mode)],
    nextSteps: ordersFrom,
    readNodes: () => Promise.resolve([]),
    close: () => Promise.resolve(),
  };
}

/** Of a fleet: its DaemonSet comes with the play, and nothing else is to be watched. */
const FLEET_MANIFESTS = ['examples/fleet/namespace.yaml', 'examples/fleet/rights.yaml'];

function manifestsOf({ fleet, isCold }: LocalChoice): readonly string[] {
  if (fleet !== undefined) return FLEET_MANIFESTS;
  const examples = isCold ? COLD_EXAMPLES : EXAMPLES;
  return examples.map((name) => `examples/${name}.yaml`);
}

type LocalChoice = Extract<ClusterChoice, { readonly kind: 'local' }>;

async function openLocal(choice: LocalChoice, request: OpenSource): Promise<ClusterSource> {
  const { options, directory, log, onProgress, onFailure } = request;
  const fleet = await startLocalFleet({
    ...choice,
    layout: choice.fleet === undefined ? 'mixed' : 'rings',
    mode: options.mode,
    ...defined({ dataDir: options.dataDir }),
    manifests: manifestsOf(choice).map(packageFile),
    log,
    logLevel: options.isVerbose ? 'debug' : 'info',
    onProgress,
    onFailure,
  });
  const kubeconfigPath = path.resolve(directory, 'kubeconfig');
  writeOwnerFile(kubeconfigPath, fleet.kubeconfig);
  return {
    clusters: fleet.clusters,
    probeWaitMs: LOCAL_PROBE_WAIT_MS,
    kubeconfigPath,
    nextSteps: choice.fleet === undefined ? nextSteps : fleetSteps,
    readNodes: fleet.readNodes,
    patchDaemonSet: fleet.patchDaemonSet,
    deleteOldestPod: fleet.deleteOldestPod,
    close: fleet.stop,
  };
}

function nextSteps(environmentPath: string): string[] {
  return [
    'Try in another terminal:',
    `  . ${environmentPath}`,
    '  kubectl get nodes,daemonsets,pods --all-namespaces --output wide',
    '  kubectl label node worker-1 storage.example.com/local-disks=true     # its storage daemon appears',
    '  kubectl --namespace node-agents delete pod --all --wait=false        # and all come back',
    '  rollcall status                                                      # why, log, cost, rollout undo …',
    '',
  ];
}

function fleetSteps(environmentPath: string): string[] {
  return [
    'Try in another terminal:',
    `  . ${environmentPath}`,
    '  rollcall fleet status node-agents/fleet-agent --watch                # pause, resume, undo …',
    '  kubectl --context local-1 get nodes,daemonsets,pods --all-namespaces --output wide',
    '',
  ];
}

function ordersFrom(environmentPath: string): string[] {
  return [
    `For \`rollcall\` in another terminal (status, why, log, rollout undo …): . ${environmentPath}`,
    '',
  ];
}
