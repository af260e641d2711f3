/**
 * One machine with its node agent in a local world on virtual time: the real API, the real stages, and either a scripted
 * driver of the runtime or the real one over the simulated runtime.
 */
import type { LocalClient } from '../../src/client/local-client.ts';
import type { MachineSpec } from '../../src/machines/machine.ts';
import { createEventRecorder } from '../../src/node-agent/shared/event-recorder.ts';
import { runAgent, type RunningAgent } from '../../src/node-agent/run-agent.ts';
import type { PodObject, PodStatus } from '../../src/node-agent/shared/pod-object.ts';
import type { ApiObject } from '../../src/objects/api-object.ts';
import { createSimulatedRuntime } from '../../src/runtime/simulated-runtime.ts';
import type {
  ContainerRuntime,
  RuntimeContainer,
  RuntimeEvent,
  Sandbox,
} from '../../src/runtime/cri.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import { podObject } from './objects.ts';
import { createLocalWorld, type LocalWorld } from './world.ts';
import type {
  PodRuntime,
  PodSyncResult,
  ProbeManager,
  ProbeResult,
} from '../../src/node-agent/shared/pod-runtime.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';

type SyncInput = Parameters<PodRuntime['syncPod']>[0];

const NOTHING_WRONG: PodSyncResult = { waiting: new Map(), failures: [] };

/** The scripted runtime driver. */
class ScriptedPodRuntime implements PodRuntime {
  readonly calls: string[] = [];
  readonly syncInputs: SyncInput[] = [];
  /** What the next syncs come to, in order; afterwards everything starts. */
  readonly results: PodSyncResult[] = [];
  /** Kills fail with these, in order. */
  readonly killErrors: Error[] = [];
  /** Awaited by each kill: a container that takes its time. */
  killing: () => Promise<void> = () => Promise.resolve();
  readonly #clock: Clock;
  readonly #sandboxes = new Map<string, Sandbox>();
  readonly #containers = new Map<string, RuntimeContainer[]>();
  readonly #listeners = new Set<(event: RuntimeEvent) => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  status(podUid: string): ReturnType<PodRuntime['status']> {
    const sandbox = this.#sandboxes.get(podUid);
    return {
      podUid,
      sandboxes: sandbox === undefined ? [] : [sandbox],
      containers: this.#containers.get(podUid) ?? [],
    };
  }

  /** Of which something is left. */
  podUids(): readonly string[] {
    return [...this.#sandboxes.keys()];
  }

  syncPod(input: SyncInput): Promise<PodSyncResult> {
    const { pod } = input;
    this.calls.push(`syncPod ${pod.metadata.name}`);
    this.syncInputs.push(input);
    const result = this.results.shift();
    if (result !== undefined) return Promise.resolve(result);
    this.start(pod);
    return Promise.resolve(NOTHING_WRONG);
  }

  /** Starts what does not run: sandbox, completed init containers, ordinary containers. */
  start(pod: PodObject): void {
    const { uid, name, namespace = '' } = pod.metadata;
    if (this.#sandboxes.get(uid)?.state !== 'ready') {
      this.#sandboxes.set(uid, {
        id: `sandbox-${uid}`,
        config: {
          podUid: uid,
          namespace,
          name,
          attempt: 0,
          isHostNetwork: pod.spec.hostNetwork === true,
          labels: {},
          annotations: {},
          cgroupParent: '',
        },
        state: 'ready',
        createdAtMs: this.#clock.nowMs(),
        podIp: '10.0.0.7',
      });
    }
    let hasStarted = false;
    for (const { name: container, image } of pod.spec.containers) {
      const known = this.#containers.get(uid) ?? [];
      const latest = known.find(({ config }) => config.name === container);
      if (latest?.state === 'running') continue;
      hasStarted = true;
      const attempt = latest === undefined ? 0 : latest.config.attempt + 1;
      this.#containers.set(uid, [
        {
          id: `${container}-${attempt}`,
          sandboxId: `sandbox-${uid}`,
          podUid: uid,
          config: { name: container, attempt, image, specHash: '', isAwaited: false },
          state: 'running',
          imageId: `sha256:${image}`,
          createdAtMs: this.#clock.nowMs(),
          startedAtMs: this.#clock.nowMs(),
        },
        ...known,
      ]);
    }
    if (hasStarted) this.tell(uid, 'started');
  }

  /** Ends the newest container of this name. */
  end(podUid: string, containerName: string, exitCode: number): void {
    const containers = this.#containers.get(podUid) ?? [];
    const index = containers.findIndex(({ config }) => config.name === containerName);
    this.#containers.set(
      podUid,
      containers.map((container, at) =>
        at === index
          ? {
              ...container,
              state: 'exited' as const,
              exitCode,
              reason: exitCode === 0 ? 'Completed' : 'Error',
              finishedAtMs: this.#clock.nowMs(),
            }
          : container,
      ),
    );
    this.tell(podUid);
  }

  async killPod(input: Parameters<PodRuntime['killPod']>[0]): Promise<void> {
    const { uid, name } = input.pod.metadata;
    this.calls.push(`killPod ${name} ${input.graceSeconds}`);
    const error = this.killErrors.shift();
    if (error !== undefined) throw error;
    await this.killing();
    for (const { config, state } of this.#containers.get(uid) ?? []) {
      if (state === 'running') this.end(uid, config.name, 0);
    }
    const sandbox = this.#sandboxes.get(uid);
    if (sandbox !== undefined) this.#sandboxes.set(uid, { ...sandbox, state: 'notReady' });
  }

  removePod(podUid: string): Promise<void> {
    this.calls.push(`removePod`);
    this.#sandboxes.delete(podUid);
    this.#containers.delete(podUid);
    return Promise.resolve();
  }

  forget(): void {
    this.calls.push('forget');
  }

  onEvent(listener: (event: RuntimeEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Reports that something happened to the pod. */
  tell(podUid: string, type: RuntimeEvent['type'] = 'stopped'): void {
    for (const listener of this.#listeners) listener({ podUid, type, id: 'main-0' });
  }
}

/** Probes whose verdicts a test sets by container name; ready and started otherwise. */
class ScriptedProbes implements ProbeManager {
  readonly unready = new Set<string>();
  readonly unstarted = new Set<string>();
  readonly failed = new Map<string, 'liveness' | 'startup'>();
  readonly #listeners = new Set<(result: ProbeResult) => void>();

  update(): void {
    // Verdicts are the test's.
  }

  remove(): void {
    // As above.
  }

  isReady(_podUid: string, container: RuntimeContainer): boolean {
    return !this.unready.has(container.config.name);
  }

  isStarted(_podUid: string, container: RuntimeContainer): boolean {
    return !this.unstarted.has(container.config.name);
  }

  failures(): ReadonlyMap<string, 'liveness' | 'startup'> {
    return this.failed;
  }

  onResult(listener: (result: ProbeResult) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  stop(): void {
    this.#listeners.clear();
  }

  /** A probe's verdict on a container changes. */
  tell(result: ProbeResult): void {
    for (const listener of this.#listeners) listener(result);
  }
}

/** A machine as most tests want it. */
export const TEST_MACHINE: MachineSpec = {
  name: 'node-1',
  labels: { zone: 'a' },
  taints: [],
  capacity: { cpu: '2', memory: '4Gi', pods: '10', 'ephemeral-storage': '10Gi' },
  network: 'preinstalled',
  readiness: 'normal',
};

/** A write that the API answered: `PATCH pods/status p 200`. */
export type WriteLine = string;

/** The world of one agent with a scripted driver. */
export interface AgentWorld extends LocalWorld {
  readonly agent: RunningAgent;
  /** Starts another agent over the same runtime; the first must have been stopped. */
  readonly boot: () => RunningAgent;
  readonly runtime: ContainerRuntime;
  readonly podRuntime: ScriptedPodRuntime;
  readonly probes: ScriptedProbes;
  /** Writes about pods since the start, in order. */
  readonly podWrites: WriteLine[];
  /** All requests since the start, in order. */
  readonly requests: WriteLine[];
  /** Creates a pod that is bound to the machine. */
  readonly createPod: (name: string, of?: Parameters<typeof podObject>[1]) => Promise<PodObject>;
  readonly pod: (name: string) => PodObject | undefined;
  readonly status: (name: string) => PodStatus;
  readonly node: () => ApiObject | undefined;
  /** Messages of the agent's log lines, in order. */
  readonly messages: () => readonly string[];
}

/** What is special about the machine or its agent. */
export interface AgentWorldOptions {
  readonly machine?: Partial<MachineSpec>;
  /** Wraps the agent's client, to make requests fail. */
  readonly wrapClient?: (client: LocalClient) => LocalClient;
}

/** Boots a machine and waits until its node is registered. */
export async function createAgentWorld(options: AgentWorldOptions = {}): Promise<AgentWorld> {
  const requests: WriteLine[] = [];
  const world = await createLocalWorld({
    onRequest: ({ attributes, status }) => {
      if (attributes.user.name !== 'system:node:node-1') return;
      const { verb, resource, subresource, name = '' } = attributes;
      const path = subresource === undefined ? resource : `${resource}/${subresource}`;
      requests.push(`${verb} ${path} ${name} ${status}`);
    },
  });
  const { clock, random, log } = world;
  const machine = { ...TEST_MACHINE, ...options.machine };
  const user = { name: 'system:node:node-1', groups: ['system:nodes', 'system:masters'] };
  const plain = world.clients.clientFor(user);
  const client = options.wrapClient?.(plain) ?? plain;
  const record = createEventRecorder({
    client,
    component: 'kubelet',
    host: machine.name,
    clock,
    log,
  });
  const runtime = createSimulatedRuntime({ machine, clock, random });
  const podRuntime = new ScriptedPodRuntime(clock);
  const probes = new ScriptedProbes();
  const boot = (): RunningAgent =>
    runAgent(
      {
        machine,
        client,
        clock,
        random,
        log,
        record,
        hostIp: '172.16.0.1',
        bootId: runtime.bootId,
      },
      { runtime, podRuntime, probes },
    );
  const agent = boot();
  await prepareNamespace(world);
  await world.settle();
  const pod = (name: string): PodObject | undefined =>
    world.read({ resource: 'pods', namespace: 'default', name }) as PodObject | undefined;
  return {
    ...world,
    agent,
    boot,
    runtime,
    podRuntime,
    probes,
    requests,
    get podWrites() {
      return requests.filter((line) => / pods/.test(line) && !/^(get|list|watch) /.test(line));
    },
    createPod: async (name, of = {}) => {
      const spec: JsonObject = { nodeName: machine.name, ...of.spec };
      return (await world.create('pods', podObject(name, { ...of, spec }))) as PodObject;
    },
    pod,
    status: (name) => pod(name)?.status ?? {},
    node: () => world.read({ resource: 'nodes', name: machine.name }),
    messages: () => log.lines.map(({ message }) => message),
  };
}

/** What controllers make in each namespace and pods need. */
export async function prepareNamespace(world: LocalWorld): Promise<void> {
  const namespace = 'default';
  await world.create('serviceaccounts', { metadata: { name: 'default', namespace } });
  await world.create('configmaps', {
    metadata: { name: 'kube-root-ca.crt', namespace },
    data: { 'ca.crt': 'test' },
  });
}
