/**
 * A container runtime without containers: the CRI's verbs over records and timers, as pods ask by annotation and image
 * name (simulation-request.ts).
 *
 * All timing is on the Clock port; a container that just runs costs no timer, and nothing here is periodic. Differs from
 * Kubernetes: no logs, no resource limits; a sandbox's pause container cannot die by itself.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import { DEFAULT_KERNEL } from '../machines/machine.ts';
import type { MachineSpec } from '../machines/machine.ts';
import { answerProbe, killContainer, startContainer, stopContainer } from './container-life.ts';
import type { ContainerRecord, LifeContext, PodRecord, SandboxRecord } from './container-life.ts';
import { RuntimeError } from './cri.ts';
import type { ContainerConfig, ContainerRuntime, RuntimeContainer, RuntimeEvent } from './cri.ts';
import type { Sandbox, SandboxConfig } from './cri.ts';
import { createImageStore } from './image-store.ts';
import type { ImageStore } from './image-store.ts';
import { createMachineTimers, poweredOff } from './machine-timers.ts';
import { createPodNetworkPlugin, networkError } from './pod-network.ts';
import type { PodNetworkPlugin } from './pod-network.ts';
import { readContainerSimulation, readSandboxSimulation } from './simulation-request.ts';
import { touchSurroundings } from './surroundings.ts';
import type { Surroundings } from './surroundings.ts';

/** What a simulated runtime is made from. */
export interface SimulatedRuntimeOptions {
  readonly machine: MachineSpec;
  readonly clock: Clock;
  readonly random: Random;
  /** Images that the machine has before anything was pulled. */
  readonly images?: readonly string[];
  /** How much later the API server of its cluster answers; absent: no pod loads it. */
  readonly apiLoad?: Surroundings['apiLoad'];
  /** The machine's kernel panicked, as a pod asked: the machine's owner cuts its power. Absent: it never does. */
  readonly onPanic?: Surroundings['onPanic'];
}

// A pod with `rollcall.dev/provides: pod-network` brings the network of a machine that has none.
const PROVIDES_ANNOTATION = 'rollcall.dev/provides';
const PROVIDES_POD_NETWORK = 'pod-network';

/** From a network pod's readiness until it has written its configuration. */
const NETWORK_CONFIGURATION_MS = 1000;
const SHORTEST_SANDBOX_MS = 30;
const SANDBOX_RANGE_MS = 60;
const ID_WORDS = 8;

/** Switches on the runtime of one machine. */
export function createSimulatedRuntime(options: SimulatedRuntimeOptions): ContainerRuntime {
  return new SimulatedRuntime(options);
}

class SimulatedRuntime implements ContainerRuntime {
  readonly bootId: string;
  readonly #life: LifeContext;
  readonly #images: ImageStore;
  readonly #network: PodNetworkPlugin;
  readonly #surroundings: Surroundings;
  readonly #listeners = new Set<(event: RuntimeEvent) => void>();
  /** A pod's record goes with its last sandbox. */
  readonly #pods = new Map<string, PodRecord>();
  readonly #sandboxes = new Map<string, SandboxRecord>();
  readonly #containers = new Map<string, ContainerRecord>();

  constructor({ machine, clock, random, images = [], apiLoad, onPanic }: SimulatedRuntimeOptions) {
    const timers = createMachineTimers(clock);
    const { name, network, kernel = DEFAULT_KERNEL } = machine;
    this.bootId = `${name}-${clock.nowMs().toString(16)}`;
    this.#life = {
      clock,
      random,
      timers,
      emit: (event) => {
        for (const listener of this.#listeners) listener(event);
      },
    };
    this.#images = createImageStore({ clock, timers, random, present: images });
    const isPreinstalled = network === 'preinstalled';
    this.#network = createPodNetworkPlugin({ nodeName: name, isPreinstalled });
    this.#surroundings = {
      kernel,
      ...(apiLoad === undefined ? {} : { apiLoad }),
      ...(onPanic === undefined ? {} : { onPanic }),
    };
  }

  status(): ReturnType<ContainerRuntime['status']> {
    const { timers } = this.#life;
    return { isRuntimeReady: !timers.isOff(), isNetworkReady: this.#network.isReady() };
  }

  /** A sandbox exists when its network does: of one whose CNI call fails nothing is left. */
  async runPodSandbox(config: SandboxConfig): Promise<Sandbox> {
    const { clock, random, timers } = this.#life;
    const { podUid, annotations, isHostNetwork } = config;
    const { simulation, warnings } = readSandboxSimulation(annotations);
    await timers.wait(Math.round(SHORTEST_SANDBOX_MS + random.next() * SANDBOX_RANGE_MS));
    if (this.#fails(podUid, 'sandbox', simulation.sandboxFailures)) {
      const message = 'failed to create containerd task: simulated failure';
      throw new RuntimeError('Sandbox', `rpc error: code = Unknown desc = ${message}`);
    }
    if (this.#fails(podUid, 'network', simulation.networkFailures)) {
      throw networkError('simulated failure');
    }
    const id = this.#newId();
    const podIp = isHostNetwork ? this.#network.hostIp : this.#network.add(id);
    const told = warnings.length === 0 ? {} : { warnings };
    const createdAtMs = clock.nowMs();
    const snapshot: Sandbox = { id, config, state: 'ready', createdAtMs, podIp, ...told };
    const pod = this.#podOf(podUid);
    const record: SandboxRecord = { pod, snapshot };
    this.#sandboxes.set(id, record);
    pod.sandboxes = [record, ...pod.sandboxes];
    return snapshot;
  }

  /** Its containers are killed, its address is free again. */
  async stopPodSandbox(id: string): Promise<void> {
    const record = this.#sandboxes.get(id);
    if (record !== undefined) this.#stopSandbox(record);
  }

  async removePodSandbox(id: string): Promise<void> {
    const record = this.#sandboxes.get(id);
    if (record === undefined) return;
    this.#stopSandbox(record);
    const { pod } = record;
    for (const { sandbox, snapshot } of pod.containers) {
      if (sandbox === record) this.#forgetContainer(snapshot.id);
    }
    this.#sandboxes.delete(id);
    pod.sandboxes = pod.sandboxes.filter((other) => other !== record);
    if (pod.sandboxes.length === 0) this.#pods.delete(pod.uid);
  }

  listPodSandboxes(podUid?: string): readonly Sandbox[] {
    return this.#podsOf(podUid).flatMap((pod) => pod.sandboxes.map(({ snapshot }) => snapshot));
  }

  async createContainer(sandboxId: string, config: ContainerConfig): Promise<RuntimeContainer> {
    const { clock, timers } = this.#life;
    if (timers.isOff()) throw poweredOff();
    const sandbox = this.#sandboxes.get(sandboxId);
    if (sandbox?.snapshot.state !== 'ready') throw notFound('sandbox', sandboxId);
    const { podUid, annotations } = sandbox.snapshot.config;
    const { name: containerName, image } = config;
    const asked = readContainerSimulation({ annotations, containerName, image });
    const { simulation, warnings } = asked;
    if (this.#fails(podUid, `create ${containerName}`, simulation.createFailures)) {
      const message = 'failed to create containerd container: simulated failure';
      throw new RuntimeError('Create', `rpc error: code = Unknown desc = ${message}`);
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
        id: this.#newId(),
        sandboxId,
        podUid,
        config,
        state: 'created',
        imageId: this.#images.idOf(image),
        createdAtMs: clock.nowMs(),
        ...(warnings.length === 0 ? {} : { warnings }),
      },
    };
    this.#containers.set(record.snapshot.id, record);
    sandbox.pod.containers = [record, ...sandbox.pod.containers];
    return record.snapshot;
  }

  async startContainer(id: string): Promise<void> {
    const record = this.#containers.get(id);
    if (record === undefined) throw notFound('container', id);
    const { podUid, config } = record.snapshot;
    await startContainer(this.#life, record, () =>
      this.#fails(podUid, `start ${config.name}`, record.simulation.startFailures),
    );
    this.#provideNetwork(record);
    touchSurroundings(record, this.#surroundings, this.#life.timers);
  }

  async stopContainer(id: string, graceSeconds: number): Promise<void> {
    const record = this.#containers.get(id);
    if (record !== undefined) await stopContainer(this.#life, record, graceSeconds);
  }

  async removeContainer(id: string): Promise<void> {
    const record = this.#containers.get(id);
    if (record === undefined) return;
    killContainer(this.#life, record);
    this.#forgetContainer(id);
  }

  listContainers(podUid?: string): readonly RuntimeContainer[] {
    return this.#podsOf(podUid).flatMap((pod) => pod.containers.map(({ snapshot }) => snapshot));
  }

  pullImage({
    image,
    podUid,
    containerName,
  }: Parameters<ContainerRuntime['pullImage']>[0]): ReturnType<ContainerRuntime['pullImage']> {
    const annotations = this.#pods.get(podUid)?.sandboxes[0]?.snapshot.config.annotations ?? {};
    const { simulation } = readContainerSimulation({ annotations, containerName, image });
    const { pullFailures, pullMs } = simulation;
    return this.#fails(podUid, `pull ${containerName}`, pullFailures)
      ? this.#images.fail(image, pullMs)
      : this.#images.pull(image, pullMs);
  }

  hasImage(image: string): boolean {
    return this.#images.has(image);
  }

  probe(request: Parameters<ContainerRuntime['probe']>[0]): ReturnType<ContainerRuntime['probe']> {
    return answerProbe(this.#life, this.#containers.get(request.containerId), request);
  }

  onStatusChange(listener: () => void): () => void {
    return this.#network.onReady(listener);
  }

  onEvent(listener: (event: RuntimeEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  powerOff(): void {
    this.#listeners.clear();
    this.#life.timers.powerOff();
    for (const { onEnd } of this.#containers.values()) {
      for (const resolve of onEnd.splice(0)) resolve();
    }
    for (const records of [this.#pods, this.#sandboxes, this.#containers]) records.clear();
  }

  #stopSandbox(record: SandboxRecord): void {
    for (const container of record.pod.containers) {
      if (container.sandbox === record) killContainer(this.#life, container);
    }
    if (record.snapshot.state === 'ready') this.#network.remove(record.snapshot.id);
    record.snapshot = { ...record.snapshot, state: 'notReady' };
  }

  #forgetContainer(id: string): void {
    const pod = this.#containers.get(id)?.sandbox.pod;
    this.#containers.delete(id);
    if (pod !== undefined) pod.containers = pod.containers.filter((one) => one.snapshot.id !== id);
  }

  /** A container of a network pod that still runs a second after it became ready has configured the network. */
  #provideNetwork({ sandbox, simulation, timers }: ContainerRecord): void {
    const { annotations } = sandbox.snapshot.config;
    const isProvider = annotations[PROVIDES_ANNOTATION] === PROVIDES_POD_NETWORK;
    if (this.#network.isReady() || !isProvider) return;
    const delayMs = simulation.readyAfterMs + NETWORK_CONFIGURATION_MS;
    const configured = this.#life.timers.after(delayMs, () => {
      this.#network.configure();
    });
    timers.add(configured);
  }

  /** Must this fail, as the simulation asks, for one of the first `times` of the pod? Counts it. */
  #fails(podUid: string, what: string, times: number): boolean {
    if (times <= 0) return false;
    const { failures } = this.#podOf(podUid);
    const before = failures.get(what) ?? 0;
    if (before < times) failures.set(what, before + 1);
    return before < times;
  }

  #podOf(uid: string): PodRecord {
    const pod = this.#pods.get(uid) ?? { uid, sandboxes: [], containers: [], failures: new Map() };
    this.#pods.set(uid, pod);
    return pod;
  }

  #podsOf(podUid: string | undefined): readonly PodRecord[] {
    if (podUid === undefined) return [...this.#pods.values()];
    const pod = this.#pods.get(podUid);
    return pod === undefined ? [] : [pod];
  }

  #newId(): string {
    const word = (): string => Math.floor(this.#life.random.next() * 0x1_0000_0000).toString(16);
    return Array.from({ length: ID_WORDS }, () => word().padStart(8, '0')).join('');
  }
}

function notFound(what: string, id: string): RuntimeError {
  return new RuntimeError(
    'NotFound',
    `rpc error: code = NotFound desc = an error occurred when try to find ${what} "${id}": not found`,
  );
}
