/**
 * A pod runtime whose every answer a test decides: containers start at once unless told otherwise, and end when told.
 *
 * It stands in for containers/sync-containers.ts and probes.ts where a stage before them is under test. Calls are
 * kept in order as `syncPod name`, `killPod name 30`, `removePod uid`.
 */
import type {
  PodRuntime,
  PodSyncResult,
  ProbeManager,
  ProbeResult,
} from '../../src/node-agent/shared/pod-runtime.ts';
import type { PodObject } from '../../src/node-agent/shared/pod-object.ts';
import type { RuntimeContainer, RuntimeEvent, Sandbox } from '../../src/runtime/cri.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';

type SyncInput = Parameters<PodRuntime['syncPod']>[0];

const NOTHING_WRONG: PodSyncResult = { waiting: new Map(), failures: [] };

/** The scripted runtime driver. */
export class ScriptedPodRuntime implements PodRuntime {
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
export class ScriptedProbes implements ProbeManager {
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
