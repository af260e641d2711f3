/**
 * A node agent: the stages that its pods pass through, connected, and the node's duties.
 *
 *     pod config → sync loop → admission → pod workers → sync pod → status manager
 *
 * Beside them the lifecycle generator, the work queue and the prober feed the loop. Order at start: the node registers,
 * its Lease and status follow, then pods are taken. After `stop` nothing is written; containers go on.
 */
import type { Cancel } from '@rollcall/base/ports/clock.ts';
import { isJsonObject, jsonMember } from '@rollcall/base/json.ts';
import type { ApiObject } from '../objects/api-object.ts';
import type { ContainerRuntime } from '../runtime/cri.ts';
import type { AdmissionNode } from './admission.ts';
import { createNodeDuties } from './node/node-duties.ts';
import { startPodSource } from './pod-config.ts';
import { createPodWorkers, createWorkQueue } from './pod-workers.ts';
import type { PodWorkers } from './pod-workers.ts';
import type { AgentContext } from './shared/agent-context.ts';
import { uidOf } from './shared/pod-object.ts';
import type { PodRuntime, ProbeManager } from './shared/pod-runtime.ts';
import { createStatusManager } from './status/status-manager.ts';
import { startSyncLoop } from './sync-loop.ts';
import { createPodSyncer } from './sync-pod.ts';
import type { ScriptContext } from './sync-pod.ts';
import { createVolumeManager } from './volume-manager.ts';

/** What the stages drive. */
export interface AgentParts {
  readonly runtime: ContainerRuntime;
  readonly podRuntime: PodRuntime;
  readonly probes: ProbeManager;
}

/** A running agent, without its power switch. */
export interface RunningAgent {
  /** The node is registered, its Lease and first status are written, or the agent has been stopped. */
  readonly ready: Promise<void>;
  /** Takes no more work; resolves when what is being written has been. */
  readonly stop: () => Promise<void>;
}

/** The words of the kubelet for a runtime without a network. */
const NETWORK_NOT_READY =
  'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized';

/** Runs an agent until stopped. */
export function runAgent(agent: AgentContext, parts: AgentParts): RunningAgent {
  const { client, machine, clock, random, log } = agent;
  const { runtime, podRuntime, probes } = parts;
  const stopped = Promise.withResolvers<undefined>();
  const networkError = (): string | undefined =>
    runtime.status().isNetworkReady ? undefined : NETWORK_NOT_READY;
  const duties = createNodeDuties(agent, () => [
    ...(machine.readiness === 'never' ? ['kubelet is misconfigured, as the machine asks'] : []),
    ...[networkError()].filter((error) => error !== undefined),
  ]);
  const context: ScriptContext = {
    ...agent,
    pods: new Map(),
    podRuntime,
    probes,
    statuses: createStatusManager({ client, clock, log }),
    volumes: createVolumeManager(agent),
    networkError,
    reasons: new Map(),
  };
  const loop = startSyncLoop({
    context,
    workers: () => workers,
    node: () => admissionNode(machine, duties.node()),
  });
  const workers: PodWorkers = createPodWorkers({
    syncer: createPodSyncer(context),
    queue: createWorkQueue(clock, (podUids) => {
      loop.push({ kind: 'sync', podUids });
    }),
    random,
    log,
    onFinished: (pod) => {
      if (!context.pods.has(uidOf(pod))) loop.push({ kind: 'housekeeping' });
    },
  });
  const stops: Cancel[] = [
    runtime.onStatusChange(duties.syncStatus),
    podRuntime.onEvent((event) => {
      loop.push({ kind: 'pleg', event });
    }),
    probes.onResult((result) => {
      loop.push({ kind: 'probe', result });
    }),
  ];
  const start = async (): Promise<void> => {
    if (!(await duties.start())) return;
    const deliver: Parameters<typeof startPodSource>[0]['deliver'] = (update) => {
      loop.push({ kind: 'config', update });
    };
    stops.push(startPodSource({ client, nodeName: machine.name, log, deliver }));
  };
  return {
    ready: Promise.race([start(), stopped.promise]),
    stop: async () => {
      stopped.resolve(undefined);
      for (const stop of stops) stop();
      probes.stop();
      loop.stop();
      workers.stop();
      duties.stop();
      await Promise.all([context.statuses.idle(), duties.idle()]);
    },
  };
}

/** The node as admission sees it; the machine's own values before it is registered. */
function admissionNode(
  { name, labels, taints, capacity }: AgentContext['machine'],
  node: ApiObject | undefined,
): AdmissionNode {
  if (node === undefined) return { name, labels, taints, allocatable: { ...capacity } };
  const given = jsonMember(node['spec'], 'taints');
  const allocatable = jsonMember(node['status'], 'allocatable');
  return {
    name,
    labels: node.metadata.labels ?? {},
    taints: Array.isArray(given) ? (given as AdmissionNode['taints']) : [], // validated by the API
    allocatable: isJsonObject(allocatable)
      ? (allocatable as AdmissionNode['allocatable'])
      : { ...capacity },
  };
}
