/**
 * Several clusters in one world on virtual time: what one of them does, the others' latency shows (L3).
 *
 * Watchers, queues and functions are those of the simulation, shared by all clusters as they are when
 * deployed: `reconcile` has its declared room, every table access and request takes a while, and an
 * invocation holds its place for as long as it runs. Each API server has an observer of its own.
 */
import assert from 'node:assert/strict';
import { clusterId, clusterUid, type ClusterId } from '../../../src/core/model/identifiers.ts';
import { HINT_SCHEMA, type Hint } from '../../../src/core/model/hint.ts';
import { parseHint } from '../../../src/adapters/sqs/schema/hint-codec.ts';
import type { Delivery } from '@rollcall/local-aws/sqs/queue/message.ts';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import type { ClusterConnector, LiveRead } from '../../../src/ports/cluster/cluster-access.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import type { NamespacedName } from '../../../src/ports/stores/view-store.ts';
import { MemoryMetrics } from '../memory-metrics.ts';
import { MemoryFreezeStore } from '../memory-freeze-store.ts';
import { MemoryRegistryStore } from '../memory-registry-store.ts';
import { MemoryViewStore } from '../memory-view-store.ts';
import { FunctionHost } from '../simulation/function-host.ts';
import { SimulatedMapping } from '../simulation/mapping.ts';
import type { InvocationEnd, MappingOptions } from '../simulation/mapping.ts';
import { rawDaemonSet, rawNode } from '../simulation/objects.ts';
import { Observer } from '../simulation/observer.ts';
import { SimulatedQueues, type QueueName } from '../simulation/queues.ts';
import { SENDER, registrationOf } from '../simulation/registration.ts';
import { Site } from '../simulation/site.ts';
import { startWatcherProcess, type WatcherProcess } from '../simulation/watcher-process.ts';
import { nodeOf } from '../simulated-cluster.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

/** maximumConcurrency of reconcile in serverless.yml. */
const RECONCILE_ROOM = 50;
const TABLE_MS = 50;
const REQUEST_MS = 10;

/** One cluster of the fleet. */
export interface FleetMember {
  readonly id: ClusterId;
  readonly site: Site;
  readonly observer: Observer;
  readonly daemonSets: readonly string[];
}

/** What a cluster of the fleet begins with. */
export interface MemberOptions {
  readonly name: string;
  readonly daemonSets: number;
  /** One unless told. */
  readonly nodes?: number;
  /** Of each of its nodes. */
  readonly nodeLabels?: Readonly<Record<string, string>>;
  /** Of its watcher; all have the same unless told. */
  readonly senderRoleId?: string;
}

/** Clusters, queues, functions. */
export class FleetWorld {
  readonly clock = new VirtualClock();
  readonly random: Random;
  readonly view = new MemoryViewStore();
  readonly registry = new MemoryRegistryStore();
  readonly freezes = new MemoryFreezeStore();
  readonly members = new Map<ClusterId, FleetMember>();
  /** Clusters whose watchers lie: what becomes of these is their own. */
  readonly liars = new Set<ClusterId>();
  readonly host: FunctionHost;
  readonly queues: SimulatedQueues;
  readonly #running = new Map<ClusterId, number>();
  readonly #watchers = new Map<ClusterId, WatcherProcess>();
  readonly #mappings: ReadonlyMap<QueueName, SimulatedMapping>;

  constructor(seed = 7) {
    const { clock } = this;
    this.random = seededRandom(seed);
    this.queues = new SimulatedQueues(clock, (queue) => this.#mappings.get(queue)?.poke());
    this.host = new FunctionHost({
      clock,
      random: this.random,
      registry: this.registry,
      freezes: this.freezes,
      view: this.view,
      hintQueue: (own) => this.queues.hintQueue(own),
      receipts: this.queues.hintReceipts(),
      connector: (key) => this.#connector(key),
      note: () => undefined,
    });
    this.host.ruleFor = () => (passage) =>
      passage.moment === 'before' && passage.port === 'view' ? clock.sleep(TABLE_MS) : undefined;
    const { host } = this;
    this.#mappings = new Map([
      ['events.fifo', this.#map('events.fifo', 10, (records) => host.ingest(records))],
      ['reconcile.fifo', this.#map('reconcile.fifo', 1, (records) => this.#reconcile(records))],
      ['delay', this.#map('delay', 10, (records) => host.requeue(records))],
    ]);
    this.#scheduleResync();
  }

  /** Adds a cluster, and starts its watcher. */
  add(options: MemberOptions): FleetMember {
    const { name, daemonSets, nodes = 1, nodeLabels, senderRoleId = SENDER } = options;
    const { clock } = this;
    const id = clusterId(name);
    const observer = new Observer();
    const site = new Site(clusterUid(`uid-of-${name}`), {
      clock,
      observer,
      onCommit: () => undefined,
    });
    site.requestDelayMs = () => REQUEST_MS;
    const names = Array.from({ length: daemonSets }, (_, index) => `agent-${String(index)}`);
    const member: FleetMember = { id, site, observer, daemonSets: names };
    this.members.set(id, member);
    this.registry.seed({ ...registrationOf(site.api.clusterUid), id, senderRoleId });
    // No two clusters have a node of the same name: whoever takes one for the other is seen.
    for (let node = 0; node < nodes; node += 1) {
      this.addNode(member, `${name}-${String(node)}`, nodeLabels);
    }
    for (const daemonSet of names) site.api.createDaemonSet(rawDaemonSet(daemonSet));
    this.startWatcher(member, { senderRoleId });
    return member;
  }

  /** Starts a watcher of a cluster: the one before it, if there is one, ends without a word. */
  startWatcher(
    { id, site }: FleetMember,
    { senderRoleId = SENDER }: Pick<MemberOptions, 'senderRoleId'>,
  ): void {
    void this.#watchers.get(id)?.watcher.stop();
    const process = startWatcherProcess({
      cluster: id,
      senderId: `${senderRoleId}:session`,
      api: site.api,
      queues: this.queues,
      clock: this.clock,
      random: this.random,
      metrics: new MemoryMetrics(),
      skewMs: 0,
    });
    this.#watchers.set(id, process);
  }

  addNode(member: FleetMember, name: string, labels: Readonly<Record<string, string>> = {}): void {
    member.site.api.put('nodes', rawNode(name, { labels }));
  }

  /** Milliseconds from a node's arrival until each DaemonSet has its pod on it. */
  async latencyOf(member: FleetMember, node: string): Promise<number> {
    const { clock } = this;
    const { api } = member.site;
    const startedMs = clock.monotonicMs();
    const isDone = (): boolean =>
      api.list('pods').filter((pod) => nodeOf(pod) === node).length >= member.daemonSets.length;
    const done = new Promise<number>((resolve) => {
      api.subscribe(() => {
        if (isDone()) resolve(clock.monotonicMs() - startedMs);
      });
    });
    this.addNode(member, node);
    return done;
  }

  /** Hints for names that mean nothing, as one message that names them all would send. */
  async flood(member: FleetMember, keys: number): Promise<void> {
    const names = Array.from({ length: keys }, (_, index) => `flood-${String(index)}`);
    await this.#send(this.#hintsOf(member, names));
  }

  /** A hint for every DaemonSet of a cluster, each by itself: no crowd that anybody could see. */
  async trickle(member: FleetMember): Promise<void> {
    const hints = this.#hintsOf(member, member.daemonSets);
    await Promise.all(hints.map((hint) => this.#send([hint])));
  }

  /** Reconciles of one cluster that run just now. */
  runningOf({ id }: FleetMember): number {
    return this.#running.get(id) ?? 0;
  }

  async #reconcile(records: readonly Delivery[]): Promise<InvocationEnd | undefined> {
    const clusters = records.flatMap(({ message }) => {
      const parsed = parseHint(message.body);
      return parsed.kind === 'hint' ? [parsed.hint.key.cluster] : [];
    });
    const count = (by: number): void => {
      for (const id of clusters) this.#running.set(id, (this.#running.get(id) ?? 0) + by);
    };
    count(1);
    const end = await this.host.reconcile(records);
    count(-1);
    return end;
  }

  #hintsOf(member: FleetMember, names: readonly string[]): readonly Hint[] {
    return names.map((name) => ({
      schema: HINT_SCHEMA,
      key: { cluster: member.id, namespace: 'ns', name },
      clusterUid: member.site.api.clusterUid,
      reason: 'changed',
    }));
  }

  #send(hints: readonly Hint[]): Promise<void> {
    const prefix = `flood/${this.random.uniqueId()}`;
    return this.queues.hintQueue(this.clock).sendHints(hints, prefix);
  }

  /** Nothing is broken anywhere but where the watcher lies, and no handler failed. */
  assertSafe(): void {
    for (const { id, observer } of this.members.values()) {
      if (this.liars.has(id)) continue;
      assert.deepEqual(observer.violations, [], id);
    }
    assert.deepEqual(this.host.failures, []);
  }

  #connector(key: NamespacedName): ClusterConnector {
    return {
      connect: (registration) => {
        const member = this.members.get(registration.id);
        assert.ok(member !== undefined, `nobody knows ${registration.id}`);
        const { api } = member.site;
        const facts = { key, registration, burstPodsMax: 250 };
        const access = member.observer.watchAccess(api, api, facts);
        // Connections are warm: what hangs is each request.
        return Promise.resolve({ kind: 'connected', access });
      },
      forget: () => undefined,
    };
  }

  #map(queue: QueueName, batchMax: number, invoke: MappingOptions['invoke']): SimulatedMapping {
    return new SimulatedMapping({
      queues: this.queues,
      clock: this.clock,
      queue,
      batchMax,
      ...(queue === 'reconcile.fifo' ? { concurrencyMax: RECONCILE_ROOM } : {}),
      delayMs: () => 1,
      copyDelayMs: () => 1000,
      fate: () => 'deliver',
      invoke,
    });
  }

  #scheduleResync(): void {
    this.clock.after(60_000, () => {
      void this.host.resync();
      this.#scheduleResync();
    });
  }
}

/** From now on every request to the cluster waits for its time-out in vain. */
export function hang(member: FleetMember, timeoutMs = 5_000): void {
  member.site.requestDelayMs = () => timeoutMs;
  refuseAll(member, 'ETIMEDOUT');
}

/** From now on every request is answered at once, and none of the answers means anything. */
export function answerGarbage(member: FleetMember): void {
  refuseAll(member, 'HTTP 502: unreadable answer');
}

function refuseAll({ site }: FleetMember, message: string): void {
  site.answer = (): LiveRead<never> => ({ kind: 'unavailable', message, isRefused: false });
  site.intervene = () => ({ kind: 'answer', outcome: { kind: 'ambiguous', message } });
}

/** It answers again. */
export function recover({ site }: FleetMember): void {
  site.requestDelayMs = () => REQUEST_MS;
  site.answer = () => undefined;
  site.intervene = () => undefined;
}
