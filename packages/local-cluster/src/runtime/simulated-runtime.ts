/**
 * A container runtime without containers: the CRI's verbs over records and timers, as pods ask by annotation and image
 * name (simulation-request.ts).
 *
 * All timing is on the Clock port; a container that just runs costs no timer, and nothing here is periodic. The happy
 * path of a one-container pod takes three: sandbox, image (once per image and machine), start. Differs from Kubernetes:
 * no logs, no resource limits; a sandbox's pause container cannot die by itself.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import { DEFAULT_KERNEL } from '../machines/machine-annotations.ts';
import type { MachineSpec } from '../machines/machine.ts';
import { killContainer, startContainer, stopContainer } from './container-life.ts';
import { RuntimeError } from './cri.ts';
import type { ContainerConfig, ContainerRuntime, RuntimeEvent } from './cri.ts';
import { createImageStore } from './image-store.ts';
import type { ImageStore } from './image-store.ts';
import { createMachineRecords, takeFailure } from './machine-records.ts';
import type { ContainerRecord, MachineRecords, SandboxRecord } from './machine-records.ts';
import { createMachineTimers, poweredOff } from './machine-timers.ts';
import { createPodNetworkPlugin } from './pod-network-plugin.ts';
import { answerProbe } from './probe-answers.ts';
import { runPodSandbox, stopPodSandbox } from './sandbox-life.ts';
import type { SandboxContext } from './sandbox-life.ts';
import { readContainerSimulation } from './simulation-request.ts';
import { touchSurroundings } from './surroundings.ts';
import type { Surroundings } from './surroundings.ts';

/** What a simulated runtime is made from. */
export interface SimulatedRuntimeOptions {
  readonly machine: MachineSpec;
  readonly clock: Clock;
  readonly random: Random;
  /** Images that the machine has before anything was pulled. */
  readonly images?: readonly string[];
  /** How much later the API server of its cluster answers; absent: nobody loads it. */
  readonly apiLoad?: Surroundings['apiLoad'];
  /** The machine's kernel panicked, as a pod asked: whoever owns the machine cuts its power. Absent: it never does. */
  readonly onPanic?: Surroundings['onPanic'];
}

// A pod with `rollcall.dev/provides: pod-network` brings the network of a machine that has none.
const PROVIDES_ANNOTATION = 'rollcall.dev/provides';
const PROVIDES_POD_NETWORK = 'pod-network';

/** From a network pod's readiness until it has written its configuration. */
const NETWORK_CONFIGURATION_MS = 1000;
const ID_WORDS = 8;

interface Machine extends SandboxContext {
  readonly images: ImageStore;
  readonly surroundings: Surroundings;
}

/** Switches on the runtime of one machine. */
export function createSimulatedRuntime(options: SimulatedRuntimeOptions): ContainerRuntime {
  const { clock, random } = options;
  const listeners = new Set<(event: RuntimeEvent) => void>();
  const timers = createMachineTimers(clock);
  const machine: Machine = {
    clock,
    random,
    timers,
    emit: (event) => {
      for (const listener of listeners) listener(event);
    },
    records: createMachineRecords(),
    images: createImageStore({ clock, timers, random, present: options.images ?? [] }),
    network: createPodNetworkPlugin({
      nodeName: options.machine.name,
      isPreinstalled: options.machine.network === 'preinstalled',
    }),
    newId: () => newId(random),
    surroundings: {
      kernel: options.machine.kernel ?? DEFAULT_KERNEL,
      ...(options.apiLoad === undefined ? {} : { apiLoad: options.apiLoad }),
      ...(options.onPanic === undefined ? {} : { onPanic: options.onPanic }),
    },
  };
  const { records } = machine;
  return {
    bootId: `${options.machine.name}-${clock.nowMs().toString(16)}`,
    status: () => ({ isRuntimeReady: !timers.isOff(), isNetworkReady: machine.network.isReady() }),
    ...sandboxVerbs(machine),
    ...containerVerbs(machine),
    onStatusChange: (listener) => machine.network.onReady(listener),
    onEvent: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    powerOff: () => {
      listeners.clear();
      timers.powerOff();
      for (const { containers } of records.pods.values()) {
        for (const { onEnd } of containers) for (const resolve of onEnd.splice(0)) resolve();
      }
      records.clear();
    },
  };
}

type SandboxVerbs = Pick<
  ContainerRuntime,
  'runPodSandbox' | 'stopPodSandbox' | 'removePodSandbox' | 'listPodSandboxes'
>;

function sandboxVerbs(machine: Machine): SandboxVerbs {
  const { records } = machine;
  return {
    runPodSandbox: (config) => runPodSandbox(machine, config),
    stopPodSandbox: async (id) => {
      const record = records.sandbox(id);
      if (record !== undefined) stopPodSandbox(machine, record);
    },
    removePodSandbox: async (id) => {
      const record = records.sandbox(id);
      if (record === undefined) return;
      stopPodSandbox(machine, record);
      for (const container of record.pod.containers) {
        if (container.sandbox === record) records.removeContainer(container);
      }
      records.removeSandbox(record);
    },
    listPodSandboxes: (podUid) =>
      podsOf(records, podUid).flatMap((pod) => pod.sandboxes.map(({ snapshot }) => snapshot)),
  };
}

type ContainerVerbs = Pick<
  ContainerRuntime,
  | 'createContainer'
  | 'startContainer'
  | 'stopContainer'
  | 'removeContainer'
  | 'listContainers'
  | 'pullImage'
  | 'hasImage'
  | 'probe'
>;

function containerVerbs(machine: Machine): ContainerVerbs {
  const { records, images, timers, clock } = machine;
  return {
    createContainer: async (sandboxId, config) => createContainer(machine, sandboxId, config),
    startContainer: async (id) => {
      const record = records.container(id);
      if (record === undefined) throw notFound('container', id);
      await startContainer(machine, record);
      provideNetwork(machine, record);
      touchSurroundings(record, machine.surroundings, timers);
    },
    stopContainer: async (id, graceSeconds) => {
      const record = records.container(id);
      if (record !== undefined) await stopContainer(machine, record, graceSeconds);
    },
    removeContainer: async (id) => {
      const record = records.container(id);
      if (record === undefined) return;
      killContainer(machine, record);
      records.removeContainer(record);
    },
    listContainers: (podUid) =>
      podsOf(records, podUid).flatMap((pod) => pod.containers.map(({ snapshot }) => snapshot)),
    pullImage: async ({ image, podUid, containerName }) => {
      const pod = records.pods.get(podUid);
      const annotations = pod?.sandboxes[0]?.snapshot.config.annotations ?? {};
      const { simulation } = readContainerSimulation({ annotations, containerName, image });
      const what = `pull ${containerName}`;
      return pod !== undefined && takeFailure(pod, { what, times: simulation.pullFailures })
        ? images.fail(image, simulation.pullMs)
        : images.pull(image, simulation.pullMs);
    },
    hasImage: (image) => images.has(image),
    probe: (request) =>
      answerProbe({
        record: records.container(request.containerId),
        request,
        timers,
        nowMs: clock.nowMs(),
      }),
  };
}

function createContainer(
  machine: Machine,
  sandboxId: string,
  config: ContainerConfig,
): ContainerRecord['snapshot'] {
  const { records, images, timers } = machine;
  if (timers.isOff()) throw poweredOff();
  const sandbox = records.sandbox(sandboxId);
  if (sandbox?.snapshot.state !== 'ready') throw notFound('sandbox', sandboxId);
  const { podUid, annotations } = sandbox.snapshot.config;
  const { simulation, warnings } = readContainerSimulation({
    annotations,
    containerName: config.name,
    image: config.image,
  });
  const what = `create ${config.name}`;
  if (takeFailure(sandbox.pod, { what, times: simulation.createFailures })) {
    throw new RuntimeError(
      'Create',
      'rpc error: code = Unknown desc = failed to create containerd container: simulated failure',
    );
  }
  const record: ContainerRecord = {
    sandbox,
    simulation,
    timers: new Set(),
    killAtMs: Number.POSITIVE_INFINITY,
    cancelKill: () => undefined,
    isTerminating: false,
    onEnd: [],
    snapshot: {
      id: machine.newId(),
      sandboxId,
      podUid,
      config,
      state: 'created',
      imageId: images.idOf(config.image),
      createdAtMs: machine.clock.nowMs(),
      ...(warnings.length === 0 ? {} : { warnings }),
    },
  };
  records.addContainer(record);
  return record.snapshot;
}

/** A container of a network pod that still runs a second after it became ready has configured the network. */
function provideNetwork(machine: Machine, record: ContainerRecord): void {
  const { annotations } = record.sandbox.snapshot.config;
  if (machine.network.isReady() || annotations[PROVIDES_ANNOTATION] !== PROVIDES_POD_NETWORK)
    return;
  const delayMs = record.simulation.readyAfterMs + NETWORK_CONFIGURATION_MS;
  record.timers.add(
    machine.timers.after(delayMs, () => {
      machine.network.configure();
    }),
  );
}

function podsOf(
  records: MachineRecords,
  podUid: string | undefined,
): readonly SandboxRecord['pod'][] {
  if (podUid === undefined) return [...records.pods.values()];
  const pod = records.pods.get(podUid);
  return pod === undefined ? [] : [pod];
}

function newId(random: Random): string {
  let id = '';
  for (let word = 0; word < ID_WORDS; word += 1) {
    id += Math.floor(random.next() * 0x1_0000_0000)
      .toString(16)
      .padStart(8, '0');
  }
  return id;
}

function notFound(what: string, id: string): RuntimeError {
  return new RuntimeError(
    'NotFound',
    `rpc error: code = NotFound desc = an error occurred when try to find ${what} "${id}": not found`,
  );
}
