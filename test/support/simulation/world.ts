/**
 * A deterministic world: one cluster, its watchers, the queues, the functions, on virtual time.
 *
 *   API server ─▶ watcher ─▶ events.fifo ─▶ ingest ─▶ view ─▶ hints ─▶ reconcile ─▶ API server
 *
 * Watcher and functions are the real code; every port is simulated, and nothing but the seed and the
 * virtual clock decides what happens when. The observer stands outside of all faults. `settle` waits
 * until the cluster is as it should be, then demands a window without writes (L1).
 */
import { createHash } from 'node:crypto';
import assert from 'node:assert/strict';
import { clusterId, clusterUid } from '../../../src/core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../src/core/model/registration.ts';
import { HINT_SCHEMA } from '../../../src/core/model/hint.ts';
import type { ReconcileOptions } from '../../../src/app/reconcile/dependencies.ts';
import { createSeededRandom } from '../../../src/local/aws/event-source-mapping/seeded-random.ts';
import type { ClusterConnector } from '../../../src/ports/cluster-access.ts';
import type { Random } from '../../../src/ports/random.ts';
import { MemoryRegistryStore } from '../memory-registry-store.ts';
import { MemoryViewStore } from '../memory-view-store.ts';
import { SimulatedConnector } from '../simulated-cluster.ts';
import { VirtualClock } from '../virtual-clock.ts';
import { SimulatedApiServer } from './api-server.ts';
import { SimulatedControllers } from './controllers.ts';
import { FunctionHost } from './function-host.ts';
import { SimulatedMapping } from './mapping.ts';
import type { RecordFate } from './mapping.ts';
import { rawDaemonSet, rawNode } from './objects.ts';
import type { RawDaemonSetOptions, RawNodeOptions } from './objects.ts';
import { Observer } from './observer.ts';
import { differences } from './oracle.ts';
import { ProcessClock } from './process-clock.ts';
import { SimulatedQueues } from './queues.ts';
import type { QueueName } from './queues.ts';
import { startWatcherProcess } from './watcher-process.ts';
import type { WatcherProcess } from './watcher-process.ts';

/** How a world begins. */
export interface WorldOptions {
  readonly seed?: number;
  readonly nodes?: readonly string[];
  readonly reconcile?: Partial<ReconcileOptions>;
  /** How far the wall clocks are off, in milliseconds. */
  readonly skewMs?: {
    readonly api?: number;
    readonly functions?: number;
    readonly watcher?: number;
  };
}

/** The cluster's registered name, and who its watcher is. */
export const CLUSTER = clusterId('alpha');
const SENDER = 'AROAWATCHER';
const RESYNC_MS = 60_000;
const QUIET_WINDOW_MS = 180_000;

/** The world. */
export class World {
  readonly clock = new VirtualClock();
  readonly random: Random;
  readonly observer = new Observer();
  readonly view = new MemoryViewStore();
  readonly registry = new MemoryRegistryStore();
  readonly connector = new SimulatedConnector();
  readonly functionClock: ProcessClock;
  readonly apiClock: ProcessClock;
  readonly queues: SimulatedQueues;
  readonly host: FunctionHost;
  readonly watchers: WatcherProcess[] = [];
  readonly trace: string[] = [];
  api: SimulatedApiServer;
  controllers: SimulatedControllers;
  /** Delay of deliveries, of requests to the API server, and fate of records. */
  deliveryDelayMs: (queue: QueueName) => number = () => 1;
  requestDelayMs: () => number = () => 2;
  fate: (queue: QueueName) => RecordFate = () => 'deliver';
  readonly #options: WorldOptions;
  readonly #mappings = new Map<QueueName, SimulatedMapping>();
  #lastActivityMs = 0;

  constructor(options: WorldOptions = {}) {
    this.#options = options;
    this.random = createSeededRandom(options.seed ?? 1);
    this.functionClock = new ProcessClock(this.clock, options.skewMs?.functions);
    this.apiClock = new ProcessClock(this.clock, options.skewMs?.api);
    this.queues = new SimulatedQueues(this.clock, (queue) => {
      this.#mappings.get(queue)?.poke();
    });
    const burstPodsMax = options.reconcile?.burstPodsMax ?? 250;
    this.host = new FunctionHost({
      clock: this.functionClock,
      random: this.random,
      registry: this.registry,
      view: this.observer.watchView(this.view),
      hintQueue: (clock) => this.queues.hintQueue(clock),
      connector: (key) => this.#observedConnector({ key, burstPodsMax }),
      ...(options.reconcile === undefined ? {} : { reconcile: options.reconcile }),
      note: (text) => {
        this.note(text);
        if (!text.endsWith('skipped')) this.#lastActivityMs = this.clock.monotonicMs();
      },
    });
    this.#mapQueues();
    [this.api, this.controllers] = this.#newCluster('uid-of-kube-system');
    this.register();
    for (const name of options.nodes ?? []) this.addNode(name);
    this.#scheduleResync();
  }

  /** A world whose watcher runs and has closed its first snapshot. */
  static async start(options: WorldOptions = {}): Promise<World> {
    const world = new World(options);
    world.startWatcher();
    await world.advance(2000);
    return world;
  }

  /** Adds a line to the trace. */
  note(text: string): void {
    this.trace.push(`${this.clock.monotonicMs()} ${text}`);
  }

  /** The same schedule gives the same hash (M2). */
  traceHash(): string {
    return createHash('sha256').update(this.trace.join('\n')).digest('hex');
  }

  /** Registers the present cluster under its name. */
  register(changes: Partial<ClusterRegistration> = {}): void {
    this.registry.seed({
      id: CLUSTER,
      clusterUid: this.api.clusterUid,
      mode: 'takeover',
      isFrozen: false,
      configVersion: 1,
      senderRoleId: SENDER,
      server: 'https://127.0.0.1:6443',
      authentication: { kind: 'bearer', token: 'not-a-secret' },
      labels: {},
      ...changes,
    });
  }

  /** Changes the registration as an operator does: its configuration version grows. */
  async reconfigure(changes: Partial<ClusterRegistration>): Promise<void> {
    const stored = await this.registry.readCluster(CLUSTER);
    if (stored !== undefined) {
      this.register({ ...stored, ...changes, configVersion: stored.configVersion + 1 });
    }
  }

  /** Another cluster stands at the endpoint from now on; the registration stays as it is. */
  rebuildCluster(uid: string): void {
    [this.api, this.controllers] = this.#newCluster(uid);
  }

  addNode(name: string, options: RawNodeOptions = {}): void {
    this.api.put('nodes', rawNode(name, options));
  }

  addDaemonSet(name: string, options: RawDaemonSetOptions = {}): string {
    return this.api.createDaemonSet(rawDaemonSet(name, options)).metadata.uid;
  }

  /** Starts a watcher process; several may run at once. */
  startWatcher(): WatcherProcess {
    const process = startWatcherProcess({
      cluster: CLUSTER,
      senderId: `${SENDER}:session`,
      api: this.api,
      queues: this.queues,
      clock: this.clock,
      random: this.random,
      skewMs: this.#options.skewMs?.watcher ?? 0,
    });
    this.watchers.push(process);
    return process;
  }

  /** Stops a watcher process as a kill does: it says goodbye to nobody. */
  stopWatcher(process: WatcherProcess): void {
    this.watchers.splice(this.watchers.indexOf(process), 1);
    void process.watcher.stop();
  }

  /** Virtual time passes. */
  advance(byMs: number): Promise<void> {
    return this.clock.advance(byMs);
  }

  /** Sends a hint as an operator does. */
  hint(name: string): void {
    const key = { cluster: CLUSTER, namespace: 'ns', name };
    const { clusterUid: uid } = this.api;
    this.queues.sendHint(
      { schema: HINT_SCHEMA, key, clusterUid: uid, reason: 'manual' },
      `manual/${this.random.uniqueId()}`,
    );
  }

  /** The mapping of a queue: paused ones deliver nothing. */
  mapping(queue: QueueName): SimulatedMapping {
    const mapping = this.#mappings.get(queue);
    assert.ok(mapping !== undefined, `no mapping of ${queue}`);
    return mapping;
  }

  /** Lets a paused queue deliver again. */
  resume(queue: QueueName): void {
    this.mapping(queue).isPaused = false;
    this.mapping(queue).poke();
  }

  /** Waits until every pod is as it should be; fails after `withinMs` of virtual time. */
  async converge(withinMs = 20 * 60_000): Promise<void> {
    const untilMs = this.clock.monotonicMs() + withinMs;
    while (differences(this.api).length > 0 || !this.#isCalm(5000)) {
      if (this.clock.monotonicMs() >= untilMs) {
        const tail = this.trace.slice(-40).join('\n');
        assert.fail(`L1: not settled: ${differences(this.api).join('; ')}\n${tail}`);
      }
      await this.clock.advance(500);
    }
    this.assertSafe();
  }

  /** Converges, then demands a quiet window without a single write, and that all stays exact (L1). */
  async settle(withinMs?: number): Promise<void> {
    await this.converge(withinMs);
    // What was due shortly after (a timer, a heartbeat) may still correct a status.
    await this.clock.advance(30_000);
    const from = { writes: this.observer.writes, lines: this.trace.length };
    await this.clock.advance(QUIET_WINDOW_MS);
    const tail = this.trace.slice(from.lines).join('\n');
    assert.equal(this.observer.writes, from.writes, `L1: writes in the quiet window\n${tail}`);
    assert.deepEqual(differences(this.api), [], 'L1: not exact after the quiet window');
    this.assertSafe();
  }

  /** Every promise held so far, and no handler failed for a reason of its own. */
  assertSafe(): void {
    const tail = this.trace.slice(-60).join('\n');
    assert.deepEqual(this.observer.violations, [], `a promise was broken\n${tail}`);
    const own = this.host.failures.filter((error) => !String(error).includes('injected'));
    assert.deepEqual(own, [], 'a handler failed for a reason of its own');
  }

  #isCalm(forMs: number): boolean {
    const isBusy = [...this.#mappings.values()].some((mapping) => mapping.isBusy);
    return !isBusy && this.clock.monotonicMs() - this.#lastActivityMs >= forMs;
  }

  #observedConnector(sender: {
    readonly key: { readonly namespace: string; readonly name: string };
    readonly burstPodsMax: number;
  }): ClusterConnector {
    return {
      connect: async (registration) => {
        await this.functionClock.sleep(this.requestDelayMs());
        const connection = await this.connector.connect(registration);
        if (connection.kind !== 'connected') return connection;
        const facts = { ...sender, registration };
        const access = this.observer.watchAccess(this.api, connection.access, facts);
        return { kind: 'connected', access };
      },
      forget: (id) => {
        this.connector.forget(id);
      },
    };
  }

  #newCluster(uid: string): [SimulatedApiServer, SimulatedControllers] {
    const api = new SimulatedApiServer(clusterUid(uid), this.apiClock);
    api.podsLinger = true;
    api.hooks.beforeEffect = async () => {
      await this.clock.sleep(this.requestDelayMs());
      return undefined;
    };
    api.hooks.onRead = async () => {
      await this.clock.sleep(this.requestDelayMs());
      return undefined;
    };
    api.subscribe((commit) => {
      if (commit === undefined) this.note('etcd restored');
      else {
        const { kind, type, object, version } = commit;
        this.note(`${version} ${type} ${kind} ${object.metadata.name}`);
        if (kind !== 'leases') this.#lastActivityMs = this.clock.monotonicMs();
      }
    });
    this.observer.watchApi(api);
    this.connector.clusters.set(CLUSTER, api);
    return [api, new SimulatedControllers(api, this.apiClock)];
  }

  #mapQueues(): void {
    const { host } = this;
    this.#map('events.fifo', 10, (records) => host.ingest(records));
    this.#map('reconcile.fifo', 1, (records) => host.reconcile(records));
    this.#map('delay', 10, (records) => host.requeue(records));
    this.#map('events-dead.fifo', 10, (records) => host.deadLetter('events', records));
    this.#map('reconcile-dead.fifo', 10, (records) => host.deadLetter('reconcile', records));
    this.#map('delay-dead', 10, (records) => host.deadLetter('delay', records));
  }

  #map(
    queue: QueueName,
    batchMax: number,
    invoke: ConstructorParameters<typeof SimulatedMapping>[0]['invoke'],
  ): void {
    const mapping = new SimulatedMapping({
      queues: this.queues,
      clock: this.clock,
      queue,
      batchMax,
      invoke,
      delayMs: () => this.deliveryDelayMs(queue),
      copyDelayMs: () => 1000 + this.random.next() * 60_000,
      fate: () => this.fate(queue),
    });
    this.#mappings.set(queue, mapping);
  }

  #scheduleResync(): void {
    this.clock.after(RESYNC_MS, () => {
      void this.host.resync();
      this.#scheduleResync();
    });
  }
}
