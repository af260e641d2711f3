/**
 * Environments of Lambda as the model has them: one invocation at a time, a share of a processor, clients of their own.
 *
 *   idle ──invoked──▶ (cold start: a new one) ──▶ handler ──▶ idle ──five minutes──▶ gone
 *
 * Each has the real code of the functions (FunctionHost) over the real adapters of the tables, whose reads of one moment
 * travel together as they do in a process. Whatever the code asks of outside waits for the environment's processor first:
 * ten runs of one batch share it.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { withLaggingReads } from '../../../src/adapters/dynamodb/lagging-reads.ts';
import { createDynamoFreezeStore } from '../../../src/adapters/dynamodb/single-item-stores.ts';
import { createFunctionRegistryStore } from '../../../src/adapters/dynamodb/registry-store.ts';
import { createDynamoViewStore } from '../../../src/adapters/dynamodb/view-store.ts';
import type { ClusterAccess, ClusterConnector } from '../../../src/ports/cluster/cluster-access.ts';
import type { NamespacedName } from '../../../src/ports/stores/view-store.ts';
import type { HintQueue, HintReceipts } from '../../../src/ports/queues/queue.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import { FunctionHost } from '../simulation/function-host.ts';
import type { SimulatedQueues } from '../simulation/queues.ts';
import { ASSUMED_CPU_MS, PROCESSOR_MEGABYTES } from './assumed-latencies.ts';
import type { Latencies } from './assumed-latencies.ts';
import type { VirtualTable } from './virtual-table.ts';

/** The tables' names, which nobody sees. */
export const REGISTRY_TABLE = 'registry';
export const VIEW_TABLE = 'view';

const ENTRIES_MAX = 10;

export interface EnvironmentSurroundings {
  readonly clock: Clock;
  readonly random: Random;
  readonly latencies: Latencies;
  readonly table: VirtualTable;
  readonly queues: SimulatedQueues;
  /** The clusters, behind connections that are open. */
  readonly connector: ClusterConnector;
  /** How much slower a processor is than assumed. */
  readonly cpuFactor: number;
}

export interface OutsideUse {
  readUnits: number;
  writeUnits: number;
  /** Those of them that would not be there without the log. */
  logWriteUnits: number;
  readRequests: number;
  writeRequests: number;
  sqsRequests: number;
  apiRequests: number;
}

export interface EnvironmentOf {
  /** As its handler says (ADR 0034). */
  readonly readsMayLag: boolean;
  /** Whether it reads the note of a rival, as those do that act (functions/composition.ts). */
  readonly rivals: 'shown' | 'left-out';
  readonly memoryMegabytes: number;
  /** Of all of them together. */
  readonly use: OutsideUse;
}

export class Environment {
  readonly host: FunctionHost;
  idleSinceMs = 0;
  readonly #on: EnvironmentSurroundings;
  readonly #use: OutsideUse;
  readonly #slowness: number;
  /** Clusters that a connection is open to. */
  readonly #known = new Set<string>();
  /** Lists that are about to be sent, by cluster and namespace. */
  readonly #lists = new Map<string, Promise<void>>();
  #busyUntilMs = 0;

  constructor(declared: EnvironmentOf, surroundings: EnvironmentSurroundings) {
    const { memoryMegabytes, use, readsMayLag, rivals } = declared;
    const { clock, random, table, queues, cpuFactor } = surroundings;
    this.#on = surroundings;
    this.#use = use;
    this.#slowness =
      (cpuFactor * PROCESSOR_MEGABYTES) / Math.min(memoryMegabytes, PROCESSOR_MEGABYTES);
    const strict = table.client({
      before: (request) => {
        use[request.endsWith('write') ? 'writeRequests' : 'readRequests'] += 1;
        return this.#ask(request, ASSUMED_CPU_MS.awsRequest);
      },
      onUnits: (of, count) => {
        use[of] += count;
      },
    });
    const store = { client: readsMayLag ? withLaggingReads(strict) : strict, random };
    this.host = new FunctionHost({
      clock,
      random,
      registry: createFunctionRegistryStore({ ...store, tableName: REGISTRY_TABLE, rivals }),
      freezes: createDynamoFreezeStore({ client: strict, random, tableName: REGISTRY_TABLE }),
      view: createDynamoViewStore({ ...store, tableName: VIEW_TABLE }),
      hintQueue: (own) => this.#hintQueue(queues.hintQueue(own)),
      receipts: this.#receipts(queues.hintReceipts()),
      connector: () => this.#connector(),
      note: () => undefined,
      onRun: () => {
        this.compute(ASSUMED_CPU_MS.run);
      },
    });
  }

  /** Keeps the processor busy from now on, for so long if it were a whole one. */
  compute(cpuMs: number): void {
    const fromMs = Math.max(this.#on.clock.monotonicMs(), this.#busyUntilMs);
    this.#busyUntilMs = fromMs + cpuMs * this.#slowness;
  }

  /** Waits until the processor has done all that it was given. */
  async idle(): Promise<void> {
    const { clock } = this.#on;
    const waitMs = this.#busyUntilMs - clock.monotonicMs();
    if (waitMs > 0) await clock.sleep(waitMs);
  }

  async #ask(name: Parameters<Latencies['draw']>[0], cpuMs: number): Promise<void> {
    const { clock, latencies } = this.#on;
    this.compute(cpuMs);
    await this.idle();
    await clock.sleep(latencies.draw(name));
  }

  #hintQueue(queue: HintQueue): HintQueue {
    return {
      sendHints: async (hints, prefix, pace) => {
        await this.#send(hints.length);
        await queue.sendHints(hints, prefix, pace);
      },
      sendTimers: async (timers) => {
        await this.#send(timers.length);
        await queue.sendTimers(timers);
      },
    };
  }

  #receipts(receipts: HintReceipts): HintReceipts {
    return {
      finish: async (handles) => {
        await this.#send(handles.length);
        await receipts.finish(handles);
      },
    };
  }

  async #send(entries: number): Promise<void> {
    const requests = Math.ceil(entries / ENTRIES_MAX);
    this.#use.sqsRequests += requests;
    await this.#ask('send', ASSUMED_CPU_MS.awsRequest * requests);
  }

  /** DaemonSets of a namespace that are asked for at one moment share a list (daemon-set-reads.ts). */
  #list(place: string): Promise<void> {
    const known = this.#lists.get(place);
    if (known !== undefined) return known;
    const list = turn().then(async () => {
      this.#lists.delete(place);
      this.#use.apiRequests += 1;
      this.compute(ASSUMED_CPU_MS.apiRequest);
      await this.idle();
    });
    this.#lists.set(place, list);
    return list;
  }

  #connector(): ClusterConnector {
    const { connector } = this.#on;
    return {
      connect: async (registration) => {
        if (!this.#known.has(registration.id)) {
          this.#known.add(registration.id);
          // Who it is, asked once for each credential (protocol 24).
          this.#use.apiRequests += 1;
          await this.#ask('connect', ASSUMED_CPU_MS.apiRequest);
        }
        const connection = await connector.connect(registration);
        if (connection.kind !== 'connected') return connection;
        return { kind: 'connected', access: this.#access(registration.id, connection.access) };
      },
      forget: (id) => {
        this.#known.delete(id);
      },
    };
  }

  /** Requests cost processor time here; how long they take is the site's. */
  #access(id: string, access: ClusterAccess): ClusterAccess {
    return new Proxy(access, {
      get: (target, property) => {
        const member: unknown = Reflect.get(target, property);
        if (typeof member !== 'function') return member;
        return async (...input: unknown[]): Promise<unknown> => {
          const [effects] = input;
          if (property === 'getDaemonSet') {
            await this.#list(`${id} ${(effects as NamespacedName).namespace}`);
            return Reflect.apply(member, target, input) as unknown;
          }
          const requests = property === 'execute' && Array.isArray(effects) ? effects.length : 1;
          this.#use.apiRequests += requests;
          this.compute(ASSUMED_CPU_MS.apiRequest * requests);
          await this.idle();
          return Reflect.apply(member, target, input) as unknown;
        };
      },
    });
  }
}
