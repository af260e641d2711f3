/**
 * One pod on one simulated machine, with a small worker in the node agent's place: it syncs the pod when the runtime
 * or a probe reports something, and when the last sync asked for it.
 *
 * Everything runs on a VirtualClock from a seed. Events, log lines and the containers' states are kept in order.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import { createProbeManager } from '../../src/node-agent/containers/probes.ts';
import { createPodRuntime } from '../../src/node-agent/containers/sync-containers.ts';
import type { PodObject, PodSpec } from '../../src/node-agent/shared/pod-object.ts';
import type { EventRecorder } from '../../src/node-agent/shared/event-recorder.ts';
import type {
  PodRuntime,
  PodSyncResult,
  ProbeManager,
  ProbeResult,
} from '../../src/node-agent/shared/pod-runtime.ts';
import type { MachineSpec } from '../../src/machines/machine.ts';
import type { ContainerRuntime, RuntimeContainer } from '../../src/runtime/cri.ts';
import { createSimulatedRuntime } from '../../src/runtime/simulated-runtime.ts';
import { createApiLoad } from '../../src/runtime/surroundings.ts';
import type { ApiLoad } from '../../src/runtime/surroundings.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

/** A recorded event, in short. */
export interface BenchEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly fieldPath?: string;
  readonly atMs: number;
}

/** What a bench is set up with. */
export interface PodBenchOptions {
  /** `simulate.rollcall.dev/…` without the prefix. */
  readonly simulate?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: Partial<PodSpec>;
  readonly machine?: Partial<MachineSpec>;
  readonly images?: readonly string[];
  readonly configErrors?: ReadonlyMap<string, string>;
  readonly seed?: number;
}

/** The bench. */
export interface PodBench {
  readonly clock: VirtualClock;
  readonly runtime: ContainerRuntime;
  readonly podRuntime: PodRuntime;
  readonly probes: ProbeManager;
  readonly record: EventRecorder;
  readonly log: MemoryLog;
  readonly events: readonly BenchEvent[];
  readonly probeResults: readonly ProbeResult[];
  /** Results of all syncs so far. */
  readonly results: readonly PodSyncResult[];
  readonly pod: PodObject;
  /** How often its machine's kernel panicked. */
  readonly panics: () => number;
  readonly apiLoad: ApiLoad;
  /** Replaces the pod, as an update from the API. */
  update(pod: PodObject): void;
  /** Cures or breaks the configuration. */
  setConfigErrors(errors: ReadonlyMap<string, string>): void;
  /** Starts the worker; it syncs at once. */
  start(): void;
  /** Aborts the sync under way, waits for it, kills the pod. */
  kill(graceSeconds: number): Promise<void>;
  /** Newest instance of a container. */
  container(name?: string): RuntimeContainer | undefined;
  reasons(): readonly string[];
  logLines(): readonly string[];
  /** Why the container waits, after the last sync. */
  waitingReason(name?: string): string | undefined;
}

/** A container that needs nothing. */
export function plainContainer(
  name: string,
  more: JsonObject = {},
): JsonObject & { name: string; image: string } {
  return { name, image: 'registry.example/app:1.0', imagePullPolicy: 'IfNotPresent', ...more };
}

/** A pod for the bench. */
function benchPod({ simulate = {}, annotations = {}, spec = {} }: PodBenchOptions): PodObject {
  const requests = Object.entries(simulate).map(
    ([scope, value]) => [`simulate.rollcall.dev/${scope}`, value] as const,
  );
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'agent-x',
      namespace: 'ops',
      uid: '0000-1111',
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      annotations: { ...annotations, ...Object.fromEntries(requests) },
    },
    spec: {
      nodeName: 'node-1',
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      containers: [plainContainer('app')],
      ...spec,
    },
  };
}

const MACHINE: MachineSpec = {
  name: 'node-1',
  labels: {},
  taints: [],
  capacity: { cpu: '4', memory: '8Gi', pods: '110', 'ephemeral-storage': '100Gi' },
  network: 'preinstalled',
  readiness: 'normal',
};

/** The delay after a failed sync, when nothing else is known. */
const FAILED_SYNC_MS = 10_000;

/** Sets up a bench. */
export function createPodBench(options: PodBenchOptions = {}): PodBench {
  const clock = new VirtualClock();
  const random = seededRandom(options.seed ?? 1);
  const log = new MemoryLog();
  const events: BenchEvent[] = [];
  const record: EventRecorder = ({ about: _about, ...event }) => {
    events.push({ ...event, atMs: clock.monotonicMs() });
  };
  const apiLoad = createApiLoad();
  let panicCount = 0;
  const runtime = createSimulatedRuntime({
    machine: { ...MACHINE, ...options.machine },
    clock,
    random,
    images: options.images ?? [],
    apiLoad,
    onPanic: () => {
      panicCount += 1;
    },
  });
  const context = { runtime, clock, record, log };
  const podRuntime = createPodRuntime(context);
  const probes = createProbeManager(context);
  const worker = createBenchWorker({ clock, podRuntime, probes }, options);
  const container = (name = 'app'): RuntimeContainer | undefined =>
    podRuntime
      .status(worker.pod().metadata.uid)
      .containers.find(({ config }) => config.name === name);
  return {
    clock,
    runtime,
    podRuntime,
    probes,
    record,
    log,
    events,
    probeResults: worker.probeResults,
    results: worker.results,
    get pod() {
      return worker.pod();
    },
    update: worker.update,
    setConfigErrors: worker.setConfigErrors,
    start: worker.start,
    kill: worker.kill,
    container,
    panics: () => panicCount,
    apiLoad,
    reasons: () => events.map(({ reason }) => reason),
    logLines: () => log.lines.map(({ message }) => message),
    waitingReason: (name = 'app') => worker.results.at(-1)?.waiting.get(name)?.reason,
  };
}

interface BenchWorker {
  readonly pod: () => PodObject;
  readonly results: PodSyncResult[];
  readonly probeResults: ProbeResult[];
  readonly update: (pod: PodObject) => void;
  readonly setConfigErrors: (errors: ReadonlyMap<string, string>) => void;
  readonly start: () => void;
  readonly kill: (graceSeconds: number) => Promise<void>;
}

interface WorkerParts {
  readonly clock: VirtualClock;
  readonly podRuntime: PodRuntime;
  readonly probes: ProbeManager;
}

function createBenchWorker(parts: WorkerParts, options: PodBenchOptions): BenchWorker {
  const { clock, podRuntime, probes } = parts;
  const results: PodSyncResult[] = [];
  const probeResults: ProbeResult[] = [];
  const abort = new AbortController();
  let pod = benchPod(options);
  let configErrors = options.configErrors ?? new Map<string, string>();
  let isPending = false;
  let running: Promise<void> | undefined;
  let cancelRetry = (): void => undefined;

  const syncOnce = async (): Promise<void> => {
    const { uid } = pod.metadata;
    const before = podRuntime.status(uid);
    probes.update(pod, before);
    const result = await podRuntime.syncPod({
      pod,
      cgroupParent: '/kubepods',
      configErrors,
      startedProbe: new Map(
        before.containers.map((one) => [one.config.name, probes.isStarted(uid, one)]),
      ),
      failedProbes: probes.failures(uid),
      signal: abort.signal,
    });
    probes.update(pod, podRuntime.status(uid));
    results.push(result);
    cancelRetry();
    const delayMs =
      result.retryAfterMs ?? (result.failures.length > 0 ? FAILED_SYNC_MS : undefined);
    if (delayMs !== undefined) cancelRetry = clock.after(delayMs, wake);
  };
  const loop = async (): Promise<void> => {
    while (isPending && !abort.signal.aborted) {
      isPending = false;
      await syncOnce();
    }
    running = undefined;
  };
  const wake = (): void => {
    isPending = true;
    running ??= Promise.resolve().then(loop);
  };

  return {
    pod: () => pod,
    results,
    probeResults,
    update: (newer) => {
      pod = newer;
      wake();
    },
    setConfigErrors: (errors) => {
      configErrors = errors;
    },
    start: () => {
      podRuntime.onEvent(wake);
      probes.onResult((result) => {
        probeResults.push(result);
        wake();
      });
      wake();
    },
    kill: async (graceSeconds) => {
      abort.abort();
      await running;
      cancelRetry();
      await podRuntime.killPod({ pod, graceSeconds });
      probes.remove(pod.metadata.uid);
    },
  };
}
