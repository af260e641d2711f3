/**
 * The stages that pods pass through, connected: sources → config → sync loop → workers → script → status manager, with
 * the lifecycle generator, the work queue and the prober feeding the loop (spec node-agent 1 to 8).
 *
 * Wiring alone: what a stage does is said in its own module. The runtime is looked at once before the sources start, so
 * that containers which outlived an earlier agent are known by the time their pods arrive. After `stop` nothing is
 * pushed or written; containers go on.
 */
import type { Cancel } from '@rollcall/base/ports/clock.ts';
import { formatTime } from '../../objects/timestamps.ts';
import type { ContainerRuntime } from '../../runtime/cri.ts';
import { readVolumeSimulation } from '../../runtime/simulation-request.ts';
import type { AgentContext } from '../shared/agent-context.ts';
import { createCgroups } from './cgroups.ts';
import { startPleg } from './pleg.ts';
import { createPodDirectories } from './pod-directories.ts';
import { createPodManager } from './pod-manager.ts';
import type { PodManager } from './pod-manager.ts';
import { isStaticPod, uidOf } from '../shared/pod-object.ts';
import type { PodObject } from '../shared/pod-object.ts';
import type { PodRuntime, ProbeManager } from '../shared/pod-runtime.ts';
import type { ScriptContext } from './pod-syncer.ts';
import { createPodWorkers } from './pod-workers.ts';
import type { PodWorkers } from './pod-workers.ts';
import { startApiSource } from '../sources/api-source.ts';
import { createPodConfig } from '../sources/config.ts';
import { startStaticSource } from '../sources/static-source.ts';
import { createStatusManager } from '../status/status-manager.ts';
import { startSyncLoop } from './sync-loop.ts';
import type { LoopHandlers, SyncLoop } from './sync-loop.ts';
import { syncPod } from './sync-pod.ts';
import { syncTerminatedPod, syncTerminatingPod } from './terminate-pod.ts';
import { createVolumeManager } from '../volumes/volume-manager.ts';
import { createWorkQueue } from './work-queue.ts';

/** What the stages drive. */
export interface AgentParts {
  readonly runtime: ContainerRuntime;
  readonly podRuntime: PodRuntime;
  readonly probes: ProbeManager;
}

/** What the stages call back. */
export interface StageHooks {
  readonly onUpdate: LoopHandlers['onUpdate'];
  readonly onHousekeeping: LoopHandlers['onHousekeeping'];
  /** Something may be left over of a pod that is gone. */
  readonly requestHousekeeping: () => void;
}

/** The running stages. */
export interface PodStages {
  readonly context: ScriptContext;
  readonly workers: PodWorkers;
  readonly loop: SyncLoop;
  /** Begins to take pods. */
  readonly startSources: () => void;
  readonly stop: Cancel;
}

/** The words of the kubelet for a runtime without a network. */
const NETWORK_NOT_READY =
  'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized';

/** Connects the stages; nothing comes in before `startSources`. */
export function startPodStages(
  agent: AgentContext,
  parts: AgentParts,
  hooks: StageHooks,
): PodStages {
  const pods = createPodManager();
  const context = scriptContext(agent, parts, {
    pods,
    couldRun: (uid) => {
      const state = workers.state(uid);
      if (state !== 'terminating') return state === 'syncing';
      return parts.podRuntime
        .status(uid)
        .containers.some((container) => container.state === 'running');
    },
  });
  const loop = startSyncLoop(
    {
      ...hooks,
      onSync: (uid) => {
        syncKnown(pods, workers, uid);
      },
    },
    agent.log,
  );
  const workers = startWorkers(context, loop, (pod) => {
    if (pods.get(uidOf(pod)) === undefined) hooks.requestHousekeeping();
  });
  const pleg = startPleg(parts.podRuntime, (event) => {
    loop.push({ kind: 'pleg', event });
  });
  const stops: Cancel[] = [
    pleg.stop,
    parts.probes.onResult((result) => {
      loop.push({ kind: 'probe', result });
    }),
  ];
  return {
    context,
    workers,
    loop,
    startSources: () => {
      pleg.relist();
      stops.push(...startSources(agent, loop));
    },
    stop: () => {
      for (const stop of stops) stop();
      parts.probes.stop();
      loop.stop();
      workers.stop();
    },
  };
}

function scriptContext(
  agent: AgentContext,
  { runtime, podRuntime, probes }: AgentParts,
  of: { readonly pods: PodManager; readonly couldRun: (podUid: string) => boolean },
): ScriptContext {
  const { pods, couldRun } = of;
  return {
    ...agent,
    pods,
    podRuntime,
    probes,
    statuses: createStatusManager({
      client: agent.client,
      clock: agent.clock,
      log: agent.log,
      couldRun,
      apiUidOf: (pod) => {
        const known = isStaticPod(pod) ? pods.mirrorOf(pod) : pod;
        return known?.metadata.uid;
      },
    }),
    volumes: createVolumeManager(
      agent,
      (pod) => readVolumeSimulation(pod.metadata.annotations ?? {}).simulation,
    ),
    cgroups: createCgroups(agent.log),
    directories: createPodDirectories(),
    networkError: () => (runtime.status().isNetworkReady ? undefined : NETWORK_NOT_READY),
    reasons: new Map(),
  };
}

function startWorkers(
  context: ScriptContext,
  loop: SyncLoop,
  onFinished: (pod: PodObject) => void,
): PodWorkers {
  return createPodWorkers({
    syncer: {
      syncPod: (work, signal) => syncPod(context, work, signal),
      syncTerminatingPod: (input) => syncTerminatingPod(context, input),
      syncTerminatedPod: (pod) => syncTerminatedPod(context, pod),
    },
    queue: createWorkQueue(context.clock, (podUids) => {
      loop.push({ kind: 'sync', podUids });
    }),
    random: context.random,
    log: context.log,
    settings: context.settings,
    onFinished,
  });
}

/** The newest pod that is known goes to its worker; one that is gone is looked at as it was. */
function syncKnown(pods: PodManager, workers: PodWorkers, uid: string): void {
  const pod = pods.get(uid);
  if (pod === undefined) workers.resync(uid);
  else if (workers.state(uid) !== undefined) workers.update({ type: 'sync', pod });
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
