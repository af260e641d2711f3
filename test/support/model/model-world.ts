/**
 * A deployment on virtual time with the latencies of AWS as assumed, and everything counted that AWS bills.
 *
 *   watchers ─▶ queues ─▶ mappings (places of serverless.yml) ─▶ environments (real code, real adapters) ─▶ tables, clusters
 *
 * Watchers, functions, adapters of the tables, queues and API servers are those of the simulation; the times between them
 * are drawn by the seed (assumed-latencies.ts). Nothing fails here, and nobody observes but the API servers themselves.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import { VIRTUAL_START_MS, VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';
import type { Delivery } from '@rollcall/local-aws/sqs/queue/message.ts';
import { readService } from '@rollcall/local-aws/template/service.ts';
import { repositoryRoot } from '../../../scripts/lib/run-tool.ts';
import { createDynamoRegistryStore } from '../../../src/adapters/dynamodb/registry-store.ts';
import { createDynamoViewStore } from '../../../src/adapters/dynamodb/view-store.ts';
import { clusterId, clusterUid } from '../../../src/core/model/identifiers.ts';
import type { ClusterId } from '../../../src/core/model/identifiers.ts';
import type { RegistryStore } from '../../../src/ports/stores/registry-store.ts';
import type { ViewStore } from '../../../src/ports/stores/view-store.ts';
import { MemoryMetrics } from '../memory-metrics.ts';
import { TIMEOUTS_MS } from '../simulation/function-host.ts';
import type { InvocationEnd } from '../simulation/mapping.ts';
import { rawDaemonSet, rawNode } from '../simulation/objects.ts';
import type { RawDaemonSetOptions } from '../simulation/objects.ts';
import { Observer } from '../simulation/observer.ts';
import { SimulatedQueues } from '../simulation/queues.ts';
import type { QueueName } from '../simulation/queues.ts';
import { SENDER, registrationOf } from '../simulation/registration.ts';
import { Site } from '../simulation/site.ts';
import { startWatcherProcess } from '../simulation/watcher-process.ts';
import { ASSUMED_CPU_MS, IDLE_ENVIRONMENT_MS, Latencies } from './assumed-latencies.ts';
import { Environment, REGISTRY_TABLE, VIEW_TABLE } from './environment.ts';
import type { EnvironmentSurroundings, OutsideUse } from './environment.ts';
import { ModelMapping } from './model-mapping.ts';
import { VirtualTable } from './virtual-table.ts';

/** Functions that work while nothing fails. */
export const MODEL_FUNCTIONS = ['ingest', 'reconcile', 'requeue', 'resync'] as const;

/** One of them. */
export type ModelFunction = (typeof MODEL_FUNCTIONS)[number];

type QueueFunction = Exclude<ModelFunction, 'resync'>;

/** The queue of serverless.yml that calls a function, and the one that stands for it here. */
const QUEUES: Readonly<Record<QueueFunction, QueueName>> = {
  ingest: 'events.fifo',
  reconcile: 'reconcile.fifo',
  requeue: 'delay',
};

const NOTHING: FunctionUse = {
  invocations: 0,
  coldStarts: 0,
  billedMs: 0,
  readUnits: 0,
  writeUnits: 0,
  logWriteUnits: 0,
  readRequests: 0,
  writeRequests: 0,
  sqsRequests: 0,
  apiRequests: 0,
};

const RESYNC_MS = 60_000;
/** Reads of one moment wait for a turn of the event loop (batched-reader.ts), and their answers for another. */
const TURNS = 3;

/** How a world differs from the assumptions. */
export interface ModelOptions {
  readonly seed?: number;
  /** How much slower processors are than assumed. */
  readonly cpuFactor?: number;
  /** How long an environment that has nothing to do stays. */
  readonly idleEnvironmentMs?: number;
}

/** What one function used; of SQS, what is sent to it, too. */
export interface FunctionUse extends OutsideUse {
  invocations: number;
  coldStarts: number;
  billedMs: number;
}

/** What was used, free of what idle pollers ask. */
export type ModelUse = Readonly<Record<ModelFunction, Readonly<FunctionUse>>>;

/** A cluster of the model. */
export interface ModelCluster {
  readonly id: ClusterId;
  readonly site: Site;
}

export interface ModelClusterOptions {
  readonly name: string;
  readonly nodes: number;
  readonly daemonSets: number;
  readonly daemonSet?: RawDaemonSetOptions;
}

/** Judges nothing: what it would look at at every commit grows with the square of a fleet. */
class Bystander extends Observer {
  protected override looksAtEverything(): boolean {
    return false;
  }
}

/** Clusters, queues, functions, tables. */
export class ModelWorld {
  readonly clock = new VirtualClock(VIRTUAL_START_MS, TURNS);
  readonly clusters = new Map<ClusterId, ModelCluster>();
  readonly #random: Random;
  readonly #latencies: Latencies;
  readonly #table = new VirtualTable(REGISTRY_TABLE, VIEW_TABLE);
  readonly #queues: SimulatedQueues;
  readonly #mappings = new Map<QueueName, ModelMapping>();
  readonly #memory = new Map<string, number>();
  readonly #environments = new Map<ModelFunction, Environment[]>();
  readonly #use = Object.fromEntries(
    MODEL_FUNCTIONS.map((name) => [name, { ...NOTHING }]),
  ) as Record<ModelFunction, FunctionUse>; // one for each of them
  readonly #options: ModelOptions;
  readonly #surroundings: EnvironmentSurroundings;

  constructor(options: ModelOptions = {}) {
    this.#options = options;
    this.#random = seededRandom(options.seed ?? 1);
    this.#latencies = new Latencies(this.#random);
    this.#queues = new SimulatedQueues(this.clock, (queue) => this.#mappings.get(queue)?.poke());
    this.#queues.sendMs = () => {
      this.#use.ingest.sqsRequests += 1;
      return this.#latencies.draw('sendFromCluster');
    };
    this.#surroundings = {
      clock: this.clock,
      random: this.#random,
      latencies: this.#latencies,
      table: this.#table,
      queues: this.#queues,
      connector: {
        connect: ({ id }) => {
          const cluster = this.clusters.get(id);
          assert.ok(cluster !== undefined, `nobody knows ${id}`);
          return Promise.resolve({ kind: 'connected', access: cluster.site.api });
        },
        forget: () => undefined,
      },
      cpuFactor: options.cpuFactor ?? 1,
    };
    this.#createMappings();
    this.#scheduleResync();
  }

  /** What was used so far. */
  get use(): ModelUse {
    return structuredClone(this.#use);
  }

  /** The tables, for who looks or prepares: nothing of it is counted. */
  stores(): { readonly registry: RegistryStore; readonly view: ViewStore } {
    const client = this.#table.client({
      before: () => Promise.resolve(),
      onUnits: () => undefined,
    });
    const random = this.#random;
    return {
      registry: createDynamoRegistryStore({ client, tableName: REGISTRY_TABLE, random }),
      view: createDynamoViewStore({ client, tableName: VIEW_TABLE, random }),
    };
  }

  /** Megabytes of a function, as declared. */
  memoryOf(name: ModelFunction): number {
    return this.declaredMegabytes(name);
  }

  /** The same of one that is not of this model. */
  declaredMegabytes(name: string): number {
    return this.#memory.get(name) ?? 0;
  }

  /** How many invocations of a function there may be at a time. */
  placesOf(name: QueueFunction): number {
    return this.#mappings.get(QUEUES[name])?.placesMax ?? 0;
  }

  /** Registers a cluster, and starts its watcher. */
  async add(options: ModelClusterOptions): Promise<ModelCluster> {
    const { clock } = this;
    const id = clusterId(options.name);
    const site = new Site(clusterUid(`uid-of-${options.name}`), {
      clock,
      observer: new Bystander(),
      onCommit: () => undefined,
    });
    site.requestDelayMs = () => this.#latencies.draw('request');
    site.api.uidOf = (count) => uuidOf(`${options.name}/${String(count)}`);
    const cluster = { id, site };
    this.clusters.set(id, cluster);
    const { registry } = this.stores();
    const registration = { ...registrationOf(site.api.clusterUid), id };
    assert.equal(await registry.writeCluster(registration, 0), 'written');
    for (let node = 0; node < options.nodes; node += 1) {
      site.api.put('nodes', rawNode(`${options.name}-${String(node)}`));
    }
    for (let index = 0; index < options.daemonSets; index += 1) {
      site.api.createDaemonSet(rawDaemonSet(`agent-${String(index)}`, options.daemonSet));
    }
    const { faults } = startWatcherProcess({
      cluster: id,
      senderId: `${SENDER}:session`,
      api: site.api,
      queues: this.#queues,
      clock,
      random: this.#random,
      metrics: new MemoryMetrics(),
      skewMs: 0,
    });
    faults.lagMs = () => this.#latencies.draw('watch');
    return cluster;
  }

  /** Messages of all watchers so far. */
  get messages(): number {
    return this.#queues.events.length;
  }

  /** No API server saw anything forbidden, and no handler failed. */
  assertSafe(): void {
    for (const { id, site } of this.clusters.values()) {
      assert.deepEqual(site.api.violations, [], id);
    }
    for (const { host } of [...this.#environments.values()].flat()) {
      assert.deepEqual(host.failures, []);
    }
  }

  #createMappings(): void {
    const { functions } = readService(path.join(repositoryRoot, 'serverless.yml'), 'prod');
    for (const { name, memoryMegabytes, queueMappings } of functions) {
      this.#memory.set(name, memoryMegabytes);
      if (!isQueueFunction(name)) continue;
      const [mapping] = queueMappings;
      const batchMax = mapping?.batchSize ?? 10;
      this.#mappings.set(
        QUEUES[name],
        new ModelMapping({
          queue: QUEUES[name],
          batchMax,
          placesMax: mapping?.maximumConcurrency ?? Infinity,
          queues: this.#queues,
          clock: this.clock,
          latencies: this.#latencies,
          onRequests: (count) => {
            this.#use[name].sqsRequests += count;
          },
          invoke: (deliveries) => this.#invoke(name, deliveries),
        }),
      );
    }
  }

  /** The environment that was used last, if one is left: Lambda does not say, others saw it. */
  async #invoke(
    name: ModelFunction,
    deliveries: readonly Delivery[],
  ): Promise<InvocationEnd | undefined> {
    const use = this.#use[name];
    const idle = this.#environments.get(name) ?? [];
    this.#environments.set(name, idle);
    const { idleEnvironmentMs = IDLE_ENVIRONMENT_MS } = this.#options;
    const goneMs = this.clock.monotonicMs() - idleEnvironmentMs;
    const warm = idle.pop();
    const isCold = warm === undefined || warm.idleSinceMs < goneMs;
    if (isCold) idle.length = 0;
    const environment = isCold
      ? new Environment(
          {
            memoryMegabytes: this.memoryOf(name),
            use,
            readsMayLag: name === 'resync',
            rivals: name === 'reconcile' ? 'shown' : 'left-out',
          },
          this.#surroundings,
        )
      : warm;
    await this.clock.sleep(this.#latencies.draw('invoke'));
    const begunMs = this.clock.monotonicMs();
    if (isCold) await this.clock.sleep(this.#latencies.draw('coldStart'));
    const messagesMs = name === 'ingest' ? ASSUMED_CPU_MS.message * deliveries.length : 0;
    environment.compute(ASSUMED_CPU_MS.invocation + messagesMs);
    await environment.idle();
    const end = await (name === 'resync'
      ? environment.host.resync()
      : environment.host[name](deliveries));
    await environment.idle();
    const endedMs = this.clock.monotonicMs();
    assert.ok(endedMs - begunMs < TIMEOUTS_MS[name], `${name} ran out of time`);
    use.invocations += 1;
    use.coldStarts += isCold ? 1 : 0;
    use.billedMs += endedMs - begunMs;
    environment.idleSinceMs = endedMs;
    idle.push(environment);
    return end;
  }

  #scheduleResync(): void {
    this.clock.after(RESYNC_MS, () => {
      void this.#invoke('resync', []);
      this.#scheduleResync();
    });
  }
}

/** As large as a real one, and as hard to compress: what is stored is billed by its size. */
function uuidOf(text: string): string {
  const digest = createHash('sha256').update(text).digest('hex');
  return [0, 8, 12, 16, 20]
    .map((from, index, all) => digest.slice(from, all[index + 1] ?? 32))
    .join('-');
}

function isQueueFunction(name: string): name is QueueFunction {
  return name in QUEUES;
}
