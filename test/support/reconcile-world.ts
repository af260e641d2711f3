/**
 * A world for tests of reconcile: a simulated cluster, its view, a registry, queues, virtual time.
 *
 * One DaemonSet `agents` in `system` unless told otherwise. `settle` plays the rest of the system: the
 * watcher reports, the kubelet starts pods, due timers fire, until nothing moves any more. Counting
 * randomness makes every run repeatable.
 */
import { clusterId, clusterUid, uid as asUid } from '../../src/core/model/identifiers.ts';
import { explainNodes } from '../../src/app/why/explain.ts';
import type { DaemonSetRef } from '../../src/ports/stores/view-store.ts';
import { readStored } from '../../src/app/reconcile/read/stored-inputs.ts';
import type { Effect } from '../../src/core/model/effects.ts';
import type { Hint } from '../../src/core/model/hint.ts';
import type { RolloutRecord } from '../../src/core/model/rollout-record.ts';
import type { DaemonSetState } from '../../src/core/model/state.ts';
import type { Verdict } from '../../src/core/model/verdict.ts';
import type { DaemonSetObject, KubernetesObject } from '@rollcall/base/objects.ts';
import type { ClusterRegistration } from '../../src/core/model/registration.ts';
import { defaultReconcileOptions } from '../../src/app/reconcile/process/dependencies.ts';
import type { ReconcileDependencies } from '../../src/app/reconcile/process/dependencies.ts';
import { createPolicyReader } from '../../src/adapters/policy/policy-reader.ts';
import { reconcileKey } from '../../src/app/reconcile/reconcile-key.ts';
import type { ReconcileResult } from '../../src/app/reconcile/run/result.ts';
import { createProcessCache } from '../../src/app/reconcile/process/process-cache.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { MemoryFreezeStore } from './memory-freeze-store.ts';
import { MemoryMetrics } from './memory-metrics.ts';
import { MemoryRegistryStore } from './memory-registry-store.ts';
import { MemoryViewStore } from './memory-view-store.ts';
import { RecordingHintQueue } from './recording-hint-queue.ts';
import { syncBuiltIn } from './simulation/built-in-sync.ts';
import { SimulatedCluster, nodeOf } from './simulated-cluster.ts';
import type { Intervention } from './simulated-hooks.ts';
import { SimulatedConnector } from './simulated-connector.ts';
import { controllerUid } from './simulated-objects.ts';
import { ViewMirror } from './view-mirror.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

const CLUSTER_UID = clusterUid('cluster-a-uid');
const ROUNDS_MAX = 200;

/** Numbers that repeat, ids that count. */
class CountingRandom implements Random {
  #ids = 0;

  next(): number {
    return 0.5;
  }

  uniqueId(): string {
    this.#ids += 1;
    return `id${String(this.#ids).padStart(6, '0')}`;
  }
}

/** What a world begins with. */
export interface WorldOptions {
  /** Its name; `a` unless told. */
  readonly cluster?: string;
  readonly nodes?: number;
  /** Draws 0.5 each time unless told. */
  readonly random?: ReconcileDependencies['random'];
  readonly daemonSet?: (object: DaemonSetObject) => DaemonSetObject;
  readonly mode?: ClusterRegistration['mode'];
  readonly options?: Partial<ReconcileDependencies['options']>;
}

/** The DaemonSet of each world. */
const AGENTS = { namespace: 'system', name: 'agents' };

/** Why a run ended early, or how it ended. */
export const codeOf = (result: ReconcileResult): string =>
  'code' in result ? result.code : result.kind;

/** One cluster with one DaemonSet and everything around it. */
export class ReconcileWorld {
  readonly clock = new VirtualClock();
  readonly cluster = new SimulatedCluster(CLUSTER_UID, this.clock);
  readonly connector = new SimulatedConnector();
  readonly registry = new MemoryRegistryStore();
  readonly freezes = new MemoryFreezeStore();
  readonly view = new MemoryViewStore();
  readonly queue = new RecordingHintQueue();
  readonly log = new MemoryLog();
  readonly metrics = new MemoryMetrics();
  readonly mirror = new ViewMirror(this.cluster, this.view, this.clock);
  readonly dependencies: ReconcileDependencies;
  readonly registration: ClusterRegistration;
  /** Who asks for the next looks: `due` for a timer that came. */
  reason: Hint['reason'] = 'changed';
  /** True in copilot: the built-in controller makes the pods. */
  isBuiltInRunning: boolean;
  #names = 0;
  /** Nodes whose pods the kubelet leaves alone. */
  readonly idleNodes = new Set<string>();

  constructor(options: WorldOptions = {}) {
    this.registration = {
      id: clusterId(options.cluster ?? 'a'),
      clusterUid: CLUSTER_UID,
      mode: options.mode ?? 'takeover',
      isFrozen: false,
      configVersion: 1,
      senderRoleId: 'AROA',
      server: 'https://a.example',
      authentication: { kind: 'none' },
      labels: {},
    };
    this.isBuiltInRunning = options.mode === 'copilot';
    this.registry.seed(this.registration);
    this.connector.clusters.set(this.registration.id, this.cluster);
    for (let index = 1; index <= (options.nodes ?? 3); index += 1) {
      this.addNode(`node-${String(index).padStart(4, '0')}`);
    }
    const edit = options.daemonSet ?? ((object) => object);
    this.cluster.put('daemonsets', edit(sampleDaemonSet()) as never); // completed by the cluster
    this.dependencies = {
      registry: this.registry,
      freezes: this.freezes,
      view: this.view,
      connector: this.connector,
      queue: this.queue,
      clock: this.clock,
      random: options.random ?? new CountingRandom(),
      log: this.log,
      metrics: this.metrics,
      options: { ...defaultReconcileOptions, release: 'test', ...options.options },
      cache: createProcessCache(),
      policies: createPolicyReader(),
    };
  }

  /** A world in which all has settled once. */
  static async settled(options: WorldOptions = {}): Promise<ReconcileWorld> {
    const world = new ReconcileWorld(options);
    await world.settle();
    return world;
  }

  /** What the state of the DaemonSet is stored by. */
  get ref(): DaemonSetRef {
    return { clusterUid: CLUSTER_UID, uid: asUid(this.daemonSet.metadata.uid) };
  }

  /** The state of the DaemonSet. Throws where none is stored. */
  async state(): Promise<DaemonSetState> {
    const state = await this.view.readState(this.ref);
    if (state === undefined) throw new Error('no state is stored');
    return state;
  }

  /** The rollout of the DaemonSet. Throws where none is recorded. */
  async rollout(): Promise<RolloutRecord> {
    const { rollout } = await this.state();
    if (rollout === undefined) throw new Error('no rollout is recorded');
    return rollout;
  }

  /** How many requests begin so. */
  sent(start: string): number {
    return this.cluster.requests.filter((request) => request.startsWith(start)).length;
  }

  get hint(): Hint {
    const key = { cluster: this.registration.id, ...AGENTS };
    return { schema: 1, key, clusterUid: CLUSTER_UID, reason: this.reason };
  }

  /** Verdicts of the DaemonSet as they would be told now. */
  async explain(): Promise<readonly Verdict[] | undefined> {
    const { view, options, policies } = this.dependencies;
    const read = await readStored(this.hint, this.dependencies);
    if (read.kind !== 'read') return undefined;
    const nowMs = this.clock.nowMs();
    const cache = createProcessCache();
    return explainNodes(read.stored, { view, options, policies, nowMs, cache });
  }

  get daemonSet(): DaemonSetObject {
    return this.cluster.find('daemonsets', 'agents', 'system') as DaemonSetObject;
  }

  get pods(): readonly KubernetesObject[] {
    return this.cluster.list('pods');
  }

  /** Names of nodes with a live pod of the DaemonSet, one entry per pod, sorted. */
  get owned(): readonly string[] {
    const { uid } = this.daemonSet.metadata;
    return this.#nodesOf(this.pods.filter((pod) => controllerUid(pod) === uid));
  }

  /** Names of nodes with a live pod, whosever, one entry per pod, sorted. */
  get placed(): readonly string[] {
    return this.#nodesOf(this.pods);
  }

  #nodesOf(pods: readonly KubernetesObject[]): readonly string[] {
    return pods
      .filter((pod) => !['Failed', 'Succeeded'].includes(phaseOf(pod)))
      .map((pod) => nodeOf(pod) ?? '?')
      .sort();
  }

  addNode(name: string, extra: { labels?: Record<string, string>; taints?: unknown } = {}): void {
    const { labels = {}, taints = [] } = extra;
    this.cluster.put('nodes', { metadata: { name, labels }, spec: { taints } });
  }

  /** The DaemonSet changes, at the same generation. */
  change(change: (set: DaemonSetObject) => object): void {
    this.cluster.change('daemonsets', AGENTS, (object) => ({
      ...object,
      ...change(object as DaemonSetObject), // the cluster holds whole DaemonSets
    }));
  }

  /** A user edits the DaemonSet: its generation goes up. */
  edit(change: (spec: DaemonSetObject['spec']) => object): void {
    this.change(({ metadata, spec }) => ({
      metadata: { ...metadata, generation: (metadata.generation ?? 0) + 1 },
      spec: { ...spec, ...change(spec) },
    }));
  }

  /** A user gives the template another image. */
  setImage(image: string): void {
    this.edit(({ template }) => ({
      template: { ...template, spec: { containers: [{ name: 'agent', image }] } },
    }));
  }

  /** From now on, or so many times, the API server makes this of each effect of a kind. */
  meet(kind: Effect['kind'], how: Intervention, times = Infinity): void {
    let left = times;
    this.cluster.hooks = {
      beforeEffect: (effect) => {
        if (effect.kind !== kind || left <= 0) return undefined;
        left -= 1;
        return how;
      },
    };
  }

  register(change: Partial<ClusterRegistration>): void {
    const configVersion = this.registration.configVersion + 1;
    this.registry.seed({ ...this.registration, configVersion, ...change });
  }

  /** One run, with dependencies replaced where a test says so. */
  run(change: Partial<ReconcileDependencies> = {}, runMs = 60_000): Promise<ReconcileResult> {
    const deadlineMs = this.clock.monotonicMs() + runMs;
    return reconcileKey(this.hint, { deadlineMs }, { ...this.dependencies, ...change });
  }

  /** Reports and runs, once. */
  async step(): Promise<ReconcileResult> {
    await this.mirror.sync();
    return this.run();
  }

  /** Every bound pod becomes ready; terminating ones end; where there is a built-in controller, it syncs. */
  runKubelets(): void {
    this.cluster.finishTermination();
    this.syncBuiltIn();
    for (const pod of this.pods) {
      const node = nodeOf(pod);
      if (node === undefined || this.idleNodes.has(node) || phaseOf(pod) !== 'Pending') continue;
      this.setPhase(pod.metadata.name, 'Running', node);
    }
  }

  /** The built-in controller has its turn, unless it stands still. */
  syncBuiltIn(): void {
    const { cluster, clock } = this;
    if (!this.isBuiltInRunning) return;
    const desk = {
      api: cluster,
      nowMs: () => clock.nowMs(),
      nextName: (name: string) => `${name}-x${(this.#names += 1).toString().padStart(4, '0')}`,
      deletePod: ({ metadata: { name, namespace, deletionTimestamp } }: KubernetesObject) => {
        if (deletionTimestamp === undefined) cluster.remove('pods', name, namespace);
      },
      onMade: () => undefined,
    };
    const seen = { pods: cluster.list('pods'), nodes: cluster.list('nodes') };
    for (const { metadata } of cluster.list('daemonsets')) {
      syncBuiltIn(desk, { namespace: '', ...metadata }, seen);
    }
  }

  setPhase(name: string, phase: string, node?: string): void {
    const status = phase === 'Running' ? 'True' : 'False';
    const lastTransitionTime = new Date(this.clock.nowMs()).toISOString();
    this.cluster.change('pods', { namespace: 'system', name }, (pod) => ({
      ...pod,
      spec: { ...(pod['spec'] as object), ...(node === undefined ? {} : { nodeName: node }) },
      status: { phase, conditions: [{ type: 'Ready', status, lastTransitionTime }] },
    }));
  }

  /** Plays everything else until the cluster and the state stand still; answers the results. */
  async settle(options: { readonly withinMs?: number } = {}): Promise<readonly ReconcileResult[]> {
    const untilMs = this.clock.monotonicMs() + (options.withinMs ?? 600_000);
    const results: ReconcileResult[] = [];
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const before = this.cluster.version;
      this.runKubelets();
      const result = await this.step();
      results.push(result);
      if (this.cluster.version !== before) continue;
      const nextMs = result.kind === 'deferred' ? result.nextLookAtMs : await this.#nearDueMs();
      if (nextMs === undefined) return results;
      const waitMs = Math.max(nextMs - this.clock.nowMs(), 100);
      if (this.clock.monotonicMs() + waitMs > untilMs) return results;
      await this.clock.advance(waitMs);
    }
    throw new Error(`not settled after ${ROUNDS_MAX} rounds: ${JSON.stringify(results.at(-1))}`);
  }

  /** The due time that the state holds, unless it is only the expiry of the memo. */
  async #nearDueMs(): Promise<number | undefined> {
    const state = await this.view.readState(this.ref);
    return state?.dueAtMs === state?.expiryAtMs ? undefined : state?.dueAtMs;
  }
}

/** status.phase. */
export function phaseOf(pod: KubernetesObject): string {
  return (pod['status'] as { readonly phase?: string } | undefined)?.phase ?? 'Pending';
}

/** A plain DaemonSet as an API server would have defaulted it. */
export function sampleDaemonSet(): DaemonSetObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { namespace: 'system', name: 'agents', uid: '', resourceVersion: '', generation: 1 },
    spec: {
      selector: { matchLabels: { app: 'agents' } },
      template: {
        metadata: { labels: { app: 'agents' } },
        spec: { containers: [{ name: 'agent', image: 'example/agent:1' }] }, // raw JSON
      },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
    },
  };
}
