/**
 * A fleet in virtual time: clusters, tables, and invocations of the real `stepFleets` that come late, twice or never.
 *
 * Everything happens at turns of a minute. Within one, invocations run until all of them have ended or stand still; those that stand still
 * go on at a later one, with what they knew.
 */
import { settle } from '@rollcall/base/testing/virtual-clock.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import { createFleetReader } from '../../../src/adapters/policy/fleet/fleet-reader.ts';
import { applyFleet } from '../../../src/app/fleet/apply-fleet.ts';
import type { StepFleetsDependencies } from '../../../src/app/fleet/observe/dependencies.ts';
import { stepFleets } from '../../../src/app/fleet/step/step-fleets.ts';
import { fleetContentHash } from '../../../src/core/fleet/render-fleet.ts';
import { applyFleetOrder, orderedOf } from '../../../src/core/fleet/rollout/apply-fleet-order.ts';
import { wayBackOf } from '../../../src/core/fleet/rollout/way-back.ts';
import { resumeOf, type RolloutOrder } from '../../../src/core/rollout/orders.ts';
import type { FleetRecord } from '../../../src/core/fleet/rollout/fleet-record.ts';
import type { ClusterRegistration } from '../../../src/core/model/registration.ts';
import { fleetDocument, fleetOf, manifestOf } from '../fleet-samples.ts';
import { MemoryFleetRolloutStore } from '../memory-fleet-rollout-store.ts';
import { RegistryInProcess } from '../registry-in-process.ts';
import { MemoryFreezeStore } from '../memory-freeze-store.ts';
import { MemoryMetrics } from '../memory-metrics.ts';
import { MemoryRegistryStore } from '../memory-registry-store.ts';
import type { Dice } from '../simulation/dice.ts';
import { FleetAudit, noKnowledge, type Knowledge, type PlayedRelease } from './fleet-audit.ts';
import { ModelCluster, type ClusterTraits } from './model-cluster.ts';
import { modelConnector, modelView, type ApplyFate } from './model-ports.ts';
import { ModelProcess, NO_FAULTS, type ProcessFaults } from './process.ts';

/** When a simulation begins: a Wednesday, at noon. */
const SITE_STARTS_MS = Date.UTC(2026, 10, 25, 12);
const KEY = { namespace: 'monitoring', name: 'agent' };
/** A turn of the schedule may take so long. */
const TURN_MAX_MS = 55_000;

export interface SiteFaults extends ProcessFaults {
  /** Shares of turns that are left out, or come twice. */
  readonly never: number;
  readonly twice: number;
  readonly fateOf: (dice: Dice, cluster: ModelCluster) => ApplyFate;
  /** Clocks are off by so much at most. */
  readonly skewMs: number;
}

/** Nothing is. */
export const KIND_SITE: SiteFaults = {
  ...NO_FAULTS,
  never: 0,
  twice: 0,
  fateOf: () => 'answered',
  skewMs: 0,
};

interface Sleeper {
  readonly atMs: number;
  readonly wake: () => void;
}

/** A site. */
export class FleetSite {
  nowMs = SITE_STARTS_MS;
  /** What a call takes, by the monotonic clock; an invocation that goes on for 55 s ends there. */
  costMsOf: (operation: string) => number = () => 0;
  viewOf = modelView;
  /** From one turn to the next; a minute, as the schedule is, unless turns come late. */
  turnMs = 60_000;
  faults: SiteFaults;
  readonly clusters: readonly ModelCluster[];
  readonly rollouts = new MemoryFleetRolloutStore();
  readonly table = new RegistryInProcess();
  readonly fleets = this.table.fleets;
  readonly registry = new MemoryRegistryStore();
  readonly freezes = new MemoryFreezeStore();
  readonly metrics = new MemoryMetrics();
  readonly log = new MemoryLog();
  readonly audit: FleetAudit;
  readonly told: string[] = [];
  /** Invocations that ran out of time. */
  timeouts = 0;
  /** A mirror cannot be removed. */
  isMirrorStuck = false;
  /** Items that steps read and wrote, and requests to clusters, by the operation. */
  readonly items = new Map<string, number>();
  /** Each connection: to whom, and by which endpoint of its registration. */
  readonly connections: string[] = [];
  /** Who was asked by a dry run, with the minute of the site. */
  readonly asked: { readonly id: string; readonly atMs: number }[] = [];
  readonly #dice: Dice;
  readonly #byUid = new Map<string, ModelCluster>();
  readonly #releases = new Map<string, PlayedRelease>();
  readonly #lists = new Map<string, ReadonlySet<string>>();
  #sleepers: Sleeper[] = [];
  #record: FleetRecord | undefined;

  constructor(traits: readonly ClusterTraits[], dice: Dice, faults: SiteFaults = KIND_SITE) {
    this.#dice = dice;
    this.faults = faults;
    this.clusters = traits.map((one) => new ModelCluster(one, this.nowMs));
    this.audit = new FleetAudit({
      clusters: this.clusters,
      nowMs: () => this.nowMs,
      releaseOf: (contentHash) => this.#releases.get(contentHash),
      listOf: (id) => this.#lists.get(id) ?? new Set(),
    });
  }

  /** Registers them. */
  async open(): Promise<void> {
    for (const cluster of this.clusters) await this.register(cluster);
    this.#watchRecords();
  }

  /** Writes its registration, with what changed. */
  async register(cluster: ModelCluster, changes: Partial<ClusterRegistration> = {}): Promise<void> {
    const { traits, id, clusterUid } = cluster;
    this.#byUid.set(clusterUid, cluster);
    const former = await this.registry.readCluster(id);
    cluster.isFrozen = changes.isFrozen ?? cluster.isFrozen;
    const registration: ClusterRegistration = {
      isFrozen: false,
      senderRoleId: 'AROA',
      server: 'https://203.0.113.1',
      authentication: { kind: 'none' },
      labels: traits.labels,
      mode: traits.mode,
      ...former,
      ...changes,
      id,
      clusterUid,
      configVersion: 0,
    };
    await this.registry.writeCluster(registration, former?.configVersion ?? 0);
  }

  /** Stores a FleetDaemonSet with this image, as an operator or GitOps does. */
  async release(image: string, spec: JsonObject): Promise<string> {
    const template = manifestOf({}, image);
    const onDelete = { ...(template['spec'] as JsonObject), updateStrategy: { type: 'OnDelete' } };
    const written = { template: { ...template, spec: onDelete }, ...spec };
    const fleet = fleetOf(written);
    const contentHash = fleetContentHash(fleet);
    this.#releases.set(contentHash, { image, contentHash, fleet });
    const sources = {
      fleets: this.fleets,
      rollouts: this.rollouts,
      reader: createFleetReader(),
      registry: this.registry,
      random: seededRandom(this.nowMs),
    };
    const application = { fleet, document: fleetDocument(written), by: 'ann', nowMs: this.nowMs };
    const applied = await applyFleet(application, sources);
    return applied.kind;
  }

  /** The record as it is stored. */
  get record(): FleetRecord | undefined {
    return this.#record;
  }

  /** Of the release that the record is of. */
  get image(): string | undefined {
    return this.#releases.get(this.#record?.release.contentHash ?? '')?.image;
  }

  /** An operator's order, as the commands give it: by compare-and-set, of what is seen at this moment. */
  async order(kind: RolloutOrder['kind']): Promise<string> {
    const record = await this.rollouts.readRecord(KEY);
    if (record === undefined) return 'missing';
    const order = orderOf(kind, record);
    if (order === undefined) return 'nothing';
    const result = applyFleetOrder(record, order, { by: 'ann', atMs: this.nowMs });
    if (result.kind !== 'changed') return result.kind === 'refused' ? result.code : result.kind;
    return this.rollouts.writeRecord(result.record);
  }

  /** One turn of the schedule, or none, or two. */
  async turn(): Promise<void> {
    this.nowMs += this.turnMs;
    for (const cluster of this.clusters) cluster.tick(this.nowMs);
    const due = this.#sleepers.filter(({ atMs }) => atMs <= this.nowMs);
    this.#sleepers = this.#sleepers.filter(({ atMs }) => atMs > this.nowMs);
    for (const { wake } of due) wake();
    const { never, twice } = this.faults;
    const count = this.#dice.chance(never) ? 0 : this.#dice.chance(twice) ? 2 : 1;
    for (let index = 0; index < count; index += 1) this.#invoke();
    await this.#quiet();
  }

  /** Turns until it is so; throws when it never is. */
  async until(what: string, isSo: () => boolean, turnsMax = 3000): Promise<number> {
    for (let turns = 0; turns < turnsMax; turns += 1) {
      if (isSo()) return turns;
      await this.turn();
    }
    const { gate, stage, counts } = this.#record ?? {};
    throw new Error(
      `${what} within ${String(turnsMax)} minutes: ${JSON.stringify({ gate, stage, counts })}`,
    );
  }

  /** Calls of tables so far. */
  get calls(): number {
    return this.rollouts.calls.length + this.registry.calls.length + this.freezes.calls.length;
  }

  /** Writes of records so far. */
  get writes(): number {
    return this.rollouts.calls.filter(({ isWrite }) => isWrite).length;
  }

  /** Everything runs until it has ended or stands still. */
  async #quiet(): Promise<void> {
    await settle();
    await this.table.idle();
  }

  #invoke(): void {
    const process = new ModelProcess(this.#dice, this.faults, (durationMs, wake) => {
      this.#sleepers.push({ atMs: this.nowMs + durationMs, wake });
    });
    const startedAtMs = this.nowMs;
    const dependencies = this.#dependenciesOf(process);
    const deadlineMs = dependencies.clock.monotonicMs() + TURN_MAX_MS;
    void stepFleets({ deadlineMs }, dependencies).catch((error: unknown) => {
      this.told.push(`a turn of ${String(startedAtMs)} failed: ${String(error)}`);
    });
  }

  #dependenciesOf(process: ModelProcess): StepFleetsDependencies {
    const knowledge: Knowledge = noKnowledge();
    let spentMs = 0;
    const learn = (operation: string, result: unknown): void => {
      this.#count(operation, result);
      spentMs += this.costMsOf(operation);
      if (spentMs > TURN_MAX_MS) {
        process.isDead = true;
        this.timeouts += 1;
      }
      if (operation === 'readRecord') {
        knowledge.record = result as FleetRecord;
        knowledge.sends = 0;
      }
      if (operation === 'readFreeze') knowledge.freeze = result as Knowledge['freeze'];
    };
    const skewMs = this.#dice.between(-this.faults.skewMs, this.faults.skewMs);
    const doesStand = this.#dice.chance(0.5);
    const find = (uid: string): ModelCluster | undefined => this.#byUid.get(uid);
    const monotonicMs = (): number => this.nowMs - (doesStand ? process.frozenMs : 0) + spentMs;
    const wallMs = (): number => this.nowMs + skewMs;
    const connector = modelConnector(find, {
      fateOf: (cluster) => this.faults.fateOf(this.#dice, cluster),
      onSend: (cluster, manifest) => {
        this.audit.onSend(cluster, manifest, knowledge);
      },
      onAsk: ({ id }) => this.asked.push({ id, atMs: this.nowMs }),
      later: (effect) => {
        this.#sleepers.push({ atMs: this.nowMs + 3_600_000, wake: effect });
      },
      nowMs: wallMs,
      monotonicMs,
      onConnect: ({ id, server }) => this.connections.push(`${id} ${server}`),
    });
    return {
      clock: {
        nowMs: wallMs,
        monotonicMs,
        after: () => () => undefined,
        sleep: () => Promise.resolve(),
      },
      random: seededRandom(1),
      log: this.log,
      metrics: this.metrics,
      fleets: process.through(this.fleets, learn),
      rollouts: process.through(this.rollouts, learn),
      registry: process.through(this.registry, learn),
      freezes: process.through(this.freezes, learn),
      reader: createFleetReader(),
      view: process.through(this.viewOf(find), learn),
      connector: connectedThrough({ process, connector, learn }),
      notifier: {
        tell: (decisions) => {
          for (const { kind, message } of decisions) this.told.push(`${kind}: ${message}`);
          return Promise.resolve();
        },
        show: () => Promise.resolve(),
        hide: () => Promise.resolve(this.isMirrorStuck ? 'later' : 'hidden'),
      },
    };
  }

  /** A batch of records is as many items as it has. */
  #count(operation: string, result: unknown): void {
    const items = result instanceof Map ? Math.max(1, result.size) : 1;
    this.items.set(operation, (this.items.get(operation) ?? 0) + items);
  }

  /** Every write of the record is audited, with the lists that it names. */
  #watchRecords(): void {
    this.rollouts.hooks = {
      after: async (call): Promise<undefined> => {
        if (call.operation === 'writeRecord') await this.#lookAtRecord();
        return undefined;
      },
    };
  }

  async #lookAtRecord(): Promise<void> {
    const { calls } = this.rollouts;
    const before = calls.length;
    const record = await this.rollouts.readRecord(KEY);
    if (record !== undefined && record.version !== this.#record?.version) {
      await this.#readLists(record);
      this.#record = record;
      this.audit.onRecord(record);
    }
    calls.length = before;
  }

  async #readLists(record: FleetRecord): Promise<void> {
    const lists = [...record.stages.map(({ members }) => members), record.ring];
    for (const list of lists) {
      if (list.count === 0 || this.#lists.has(list.id)) continue;
      const pages = Math.ceil(list.count / 500);
      const members = new Set<string>();
      for (let page = 0; page < pages; page += 1) {
        for (const id of await this.rollouts.readMembers(record, list, page)) members.add(id);
      }
      this.#lists.set(list.id, members);
    }
  }
}

function orderOf(kind: RolloutOrder['kind'], record: FleetRecord): RolloutOrder | undefined {
  const release = String(record.release.generation);
  const { gate } = record;
  switch (kind) {
    case 'pause':
      return { kind };
    case 'resume':
      return resumeOf(orderedOf(record));
    case 'approve':
      if (gate.kind !== 'approval' && gate.kind !== 'no-evidence') return undefined;
      return { kind, release, stepIndex: gate.stepIndex };
    case 'undo': {
      const to = wayBackOf(record)?.generation;
      return to === undefined ? undefined : { kind, release, to: String(to) };
    }
  }
}

interface Connecting {
  readonly process: ModelProcess;
  readonly connector: StepFleetsDependencies['connector'];
  readonly learn: (operation: string, result: unknown) => void;
}

function connectedThrough({
  process,
  connector,
  learn,
}: Connecting): StepFleetsDependencies['connector'] {
  const faulty = process.through(connector, learn);
  return {
    forget: (id): void => {
      connector.forget(id);
    },
    connect: async (registration) => {
      const connected = await faulty.connect(registration);
      if (connected.kind === 'refused') return connected;
      return { ...connected, access: process.through(connected.access, learn) };
    },
  };
}
