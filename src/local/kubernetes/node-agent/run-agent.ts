/**
 * Puts the stages of a node agent together and runs them (spec node-agent): sources → sync loop → workers → script →
 * status, and beside them the duties of the node.
 *
 * The runtime's driver and the prober come from outside, so that each stage can be tested with either a real or a
 * scripted one. Order at start: the node registers, its Lease and status follow, then pods are taken.
 */
import type { Cancel } from '../../../ports/clock.ts';
import type { ContainerRuntime } from '../runtime/cri.ts';
import { formatTime } from '../objects/timestamps.ts';
import type { AgentContext } from './agent-context.ts';
import { createCgroups } from './cgroups.ts';
import { createHousekeeping } from './housekeeping.ts';
import { createEvictionManager } from './node/eviction.ts';
import type { EvictionManager } from './node/eviction.ts';
import { startLease } from './node/lease.ts';
import { nodeConditions } from './node/node-conditions.ts';
import type { NodeHealth } from './node/node-conditions.ts';
import { nodeReference } from './node/node-reference.ts';
import { startNodeStatus } from './node/node-status.ts';
import type { NodeStatusReporter } from './node/node-status.ts';
import { observeOwnNode } from './node/own-node.ts';
import { registerNode } from './node/register-node.ts';
import { shutDownPods } from './node/shutdown.ts';
import { startPleg } from './pleg.ts';
import { createPodDirectories } from './pod-directories.ts';
import { activePods, handlePodUpdate } from './pod-handlers.ts';
import { createPodManager } from './pod-manager.ts';
import { isStaticPod, uidOf } from './pod-object.ts';
import type { PodRuntime, ProbeManager } from './pod-runtime.ts';
import type { ScriptContext } from './pod-syncer.ts';
import { createPodWorkers } from './pod-workers.ts';
import type { PodWorkers } from './pod-workers.ts';
import { readVolumeSimulation } from '../runtime/simulation-request.ts';
import { startApiSource } from './sources/api-source.ts';
import { createPodConfig } from './sources/config.ts';
import { startStaticSource } from './sources/static-source.ts';
import { createStatusManager } from './status/status-manager.ts';
import { startSyncLoop } from './sync-loop.ts';
import type { SyncLoop } from './sync-loop.ts';
import { syncPod } from './sync-pod.ts';
import { syncTerminatedPod, syncTerminatingPod } from './terminate-pod.ts';
import { createVolumeManager } from './volumes/volume-manager.ts';
import { createWorkQueue } from './work-queue.ts';

/** What the stages drive. */
export interface AgentParts {
  readonly runtime: ContainerRuntime;
  readonly podRuntime: PodRuntime;
  readonly probes: ProbeManager;
}

/** A running agent, without its power switch. */
export interface RunningAgent {
  /** The node is registered, its Lease and first status are written. */
  readonly ready: Promise<void>;
  /** Takes no more work; resolves when what is being written has been. */
  readonly stop: () => Promise<void>;
  readonly shutDown: (graceSeconds: number) => Promise<void>;
}

/** Runs an agent until stopped. */
export function runAgent(agent: AgentContext, parts: AgentParts): RunningAgent {
  const stops: Cancel[] = [];
  const stopping = new AbortController();
  let isStopped = false;
  let isShuttingDown = false;
  let nodeStatus: NodeStatusReporter | undefined;

  const {
    context,
    workers,
    loop,
    stop: stopPodStages,
  } = startPodStages(agent, parts, {
    onUpdate: (update) => {
      handlePodUpdate(handlers, update);
    },
    onHousekeeping: () => {
      housekeeping.run();
    },
    requestHousekeeping: () => {
      housekeeping.request();
    },
  });
  const housekeeping = createHousekeeping(context, workers, () => {
    loop.push({ kind: 'housekeeping' });
  });
  const ownNode = observeOwnNode(agent, () => {
    eviction.sync();
  });
  const eviction: EvictionManager = createEvictionManager({
    context: agent,
    workers,
    asked: () => ownNode.askedPressures(),
    activePods: () => activePods(context, workers),
    onChange: () => nodeStatus?.sync(),
  });
  const handlers = {
    context,
    workers,
    nodeForAdmission: () => ({
      node: ownNode.forAdmission(),
      pressures: eviction.pressures(),
      isShuttingDown,
    }),
    requestHousekeeping: housekeeping.request,
  };
  const health = (): NodeHealth => ({
    pressures: eviction.pressures(),
    errors: healthErrors(agent, context, isShuttingDown),
  });

  const start = async (): Promise<void> => {
    const conditions = nodeConditions(health(), [], formatTime(agent.clock.nowMs()));
    const node = await registerNode(agent, conditions, () => isStopped);
    if (node === undefined) return;
    ownNode.put(node);
    agent.record({
      about: nodeReference(agent.machine.name),
      type: 'Normal',
      reason: 'Starting',
      message: 'Starting kubelet.',
    });
    stops.push(await startLease(agent, node));
    nodeStatus = startNodeStatus(agent, ownNode, health);
    await nodeStatus.idle();
    if (isStopped) return;
    stops.push(...startSources(agent, loop));
    housekeeping.request();
  };
  stops.push(
    stopPodStages,
    ownNode.stop,
    eviction.stop,
    parts.runtime.onStatusChange(() => {
      nodeStatus?.sync();
    }),
  );
  return {
    ready: Promise.race([start(), aborted(stopping.signal)]),
    stop: async () => {
      isStopped = true;
      stopping.abort();
      for (const stop of stops) stop();
      nodeStatus?.stop();
      await Promise.all([context.statuses.idle(), nodeStatus?.idle()]);
    },
    shutDown: async (graceSeconds) => {
      isShuttingDown = true;
      nodeStatus?.sync();
      const pods = (): ReturnType<typeof activePods> => activePods(context, workers);
      await shutDownPods({ context: agent, workers, activePods: pods, graceSeconds });
      await Promise.all([context.statuses.idle(), nodeStatus?.idle()]);
    },
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      resolve();
    });
  });
}

/** What keeps the node from being ready, in the kubelet's words. */
function healthErrors(
  { machine }: AgentContext,
  { networkError }: ScriptContext,
  isShuttingDown: boolean,
): readonly string[] {
  const network = networkError();
  return [
    ...(machine.readiness === 'never' ? ['kubelet is misconfigured: readiness is simulated'] : []),
    ...(network === undefined ? [] : [network]),
    ...(isShuttingDown ? ['node is shutting down'] : []),
  ];
}

const NETWORK_NOT_READY =
  'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized';

interface LoopHooks {
  readonly onUpdate: Parameters<typeof startSyncLoop>[0]['onUpdate'];
  readonly onHousekeeping: () => void;
  readonly requestHousekeeping: () => void;
}

interface PodStages {
  readonly context: ScriptContext;
  readonly workers: PodWorkers;
  readonly loop: SyncLoop;
  readonly stop: Cancel;
}

function startPodStages(
  agent: AgentContext,
  { runtime, podRuntime, probes }: AgentParts,
  hooks: LoopHooks,
): PodStages {
  const pods = createPodManager();
  const statuses = createStatusManager({
    ...agent,
    couldRun: (uid) => {
      const state = workers.state(uid);
      return state === 'syncing' || state === 'terminating';
    },
    apiUidOf: (pod) => {
      if (!isStaticPod(pod)) return uidOf(pod);
      const mirror = pods.mirrorOf(pod);
      return mirror === undefined ? undefined : uidOf(mirror);
    },
  });
  const context: ScriptContext = {
    ...agent,
    pods,
    statuses,
    podRuntime,
    probes,
    volumes: createVolumeManager(
      agent,
      (pod) => readVolumeSimulation(pod.metadata.annotations ?? {}).simulation,
    ),
    cgroups: createCgroups(agent.log),
    directories: createPodDirectories(),
    networkError: () => (runtime.status().isNetworkReady ? undefined : NETWORK_NOT_READY),
    reasons: new Map(),
  };
  const queue = createWorkQueue(agent.clock, (podUids) => {
    loop.push({ kind: 'sync', podUids });
  });
  const workers = createPodWorkers({
    syncer: {
      syncPod: (work, signal) => syncPod(context, work, signal),
      syncTerminatingPod: (input) => syncTerminatingPod(context, input),
      syncTerminatedPod: (pod) => syncTerminatedPod(context, pod),
    },
    queue,
    random: agent.random,
    log: agent.log,
    settings: agent.settings,
    onFinished: (pod) => {
      if (pods.get(uidOf(pod)) === undefined) hooks.requestHousekeeping();
    },
  });
  const loop: SyncLoop = startSyncLoop(
    {
      onUpdate: hooks.onUpdate,
      onHousekeeping: hooks.onHousekeeping,
      onSync: (uid) => {
        const pod = pods.get(uid);
        if (pod === undefined || workers.state(uid) === undefined) workers.resync(uid);
        else workers.update({ type: 'sync', pod });
      },
    },
    agent.log,
  );
  const pleg = startPleg(podRuntime, (event) => {
    loop.push({ kind: 'pleg', event });
  });
  const stopListening = probes.onResult((result) => {
    loop.push({ kind: 'probe', result });
  });
  return {
    context,
    workers,
    loop,
    stop: () => {
      pleg.stop();
      stopListening();
      probes.stop();
      loop.stop();
      workers.stop();
    },
  };
}

function startSources(agent: AgentContext, loop: SyncLoop): readonly Cancel[] {
  const { client, machine, log, settings, clock } = agent;
  const config = createPodConfig((update) => {
    loop.push({ kind: 'config', update });
  });
  const nodeName = machine.name;
  return [
    startStaticSource({
      files: settings.staticPods,
      nodeName,
      config,
      log,
      nowText: () => formatTime(clock.nowMs()),
    }),
    startApiSource({ client, nodeName, config, log }),
  ];
}
