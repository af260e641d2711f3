/**
 * The hunt *lying watcher*: a fleet of twelve clusters over the engine, and the watcher of one of them lies, by seed (issue 40).
 *
 * Each audit is of the other eleven: no release is taken back from them, no pod is deleted or doubled but by the rollout, no registration
 * changes, no view is lost, no refusal is theirs, and a node that joins has its pod. The fleet may halt, and says so; afterwards a person
 * resumes, and the others get the release.
 */
import assert from 'node:assert/strict';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { encodeWatcherMessage } from '../../../src/adapters/sqs/schema/watcher-message-codec.ts';
import { eventDeduplicationId, eventGroupId } from '../../../src/adapters/sqs/queue-ids.ts';
import { applyFleetOrder, orderedOf } from '../../../src/core/fleet/rollout/apply-fleet-order.ts';
import { resumeOf } from '../../../src/core/rollout/orders.ts';
import type { ClusterRegistration } from '../../../src/core/model/registration.ts';
import type { WatcherMessage } from '../../../src/core/model/watcher-message.ts';
import type { FleetMember } from '../isolation/fleet-world.ts';
import { nodeOf } from '../simulated-cluster.ts';
import { Dice, mixSeed } from '../simulation/dice.ts';
import { imageOf } from '../simulation/look.ts';
import { EngineFleet } from './engine-fleet.ts';
import { LIES, lieOf, type Lie } from './lies.ts';

const CLUSTERS = 12;
const NODES = 3;
const LIES_COUNT = 5;
/** Those that a fleet judges by: after others nothing of the cluster is believed for a while. */
const TELLING_LIES: readonly Lie[] = [
  'pods-fail',
  'pods-fail',
  'nodes-bad',
  'nodes-gone',
  'sets-gone',
];
const JOINS_WITHIN_MINUTES = 3;
const [OLD, NEW] = ['agent:1', 'agent:2'] as const;

export interface LiarReport {
  readonly broken: readonly string[];
  readonly liar: string;
  readonly lies: readonly Lie[];
  /** Causes of the halts of the fleet. */
  readonly halts: readonly string[];
}

/** Plays a seed. */
export async function playLiar(seed: number): Promise<LiarReport> {
  return new LiarPlay(seed).play();
}

const senderOf = (name: string): string => `AROA${name.toUpperCase()}`;

class LiarPlay {
  readonly #dice: Dice;
  readonly #names = Array.from({ length: CLUSTERS }, (_, index) => `c${String(index)}`);
  readonly #liar: string;
  readonly #lies: Lie[] = [];
  readonly #halts: string[] = [];
  readonly #broken: string[] = [];
  #lie: Lie | undefined;
  #isNoting = false;
  #world!: EngineFleet;
  readonly #registered = new Map<string, ClusterRegistration | undefined>();
  readonly #had = new Set<string>();

  constructor(seed: number) {
    this.#dice = new Dice(mixSeed(seed, 'liar'));
    this.#liar = this.#dice.pick(this.#names);
  }

  get #honest(): readonly FleetMember[] {
    return this.#names
      .filter((name) => name !== this.#liar)
      .map((name) => this.#world.member(name));
  }

  async play(): Promise<LiarReport> {
    const world = await this.#start();
    await world.release(OLD);
    await world.until('the first release is out', ({ gate }) => gate.kind === 'done');
    await this.#note();
    await world.release(NEW);
    await this.#untilGiven();
    for (let index = 0; index < LIES_COUNT; index += 1) {
      this.#lie = this.#dice.pick(index === 0 ? TELLING_LIES : LIES);
      this.#lies.push(this.#lie);
      // What it shows is not what it had shown: it begins with all of its cluster anew.
      if (index === 0 || this.#dice.chance(0.7)) {
        const liar = world.member(this.#liar);
        world.startWatcher(liar, { senderRoleId: senderOf(this.#liar) });
      }
      await this.#minutes(this.#dice.between(index === 0 ? 15 : 2, 45));
      if (this.#dice.chance(0.3)) this.#lie = undefined;
      await this.#join();
    }
    await this.#end();
    return { broken: this.#broken, liar: this.#liar, lies: this.#lies, halts: this.#halts };
  }

  async #start(): Promise<EngineFleet> {
    const strategy = {
      stages: [
        { name: 'first', clusters: 2 },
        { name: 'early', clusters: 4 },
      ],
      soak: '20m',
      maxConcurrency: '100%',
      onHalt: 'rollback',
      progressDeadline: '2h',
      rollout: { canary: { nodes: 1 }, soak: '5m', maxUnavailable: 2 },
    };
    const members = this.#names.map((name) => ({
      name,
      nodes: NODES,
      senderRoleId: senderOf(name),
    }));
    this.#world = await EngineFleet.start({ strategy }, members);
    const { queues, liars } = this.#world;
    liars.add(this.#world.member(this.#liar).id);
    queues.faults = {
      ...queues.faults,
      sendEvent: (message) => (message.cluster === this.#liar ? this.#send(message) : undefined),
    };
    for (const member of this.#honest) this.#watchDeletes(member);
    return this.#world;
  }

  /** Under the liar's own identity, whatever the message says. */
  #send(message: WatcherMessage): { outcome: { kind: 'accepted' }; applied: boolean } | undefined {
    if (this.#lie === undefined) return undefined;
    const { id, site } = this.#dice.pick(this.#honest);
    const told = lieOf(message, this.#lie, { cluster: id, clusterUid: site.api.clusterUid });
    if (told !== undefined) {
      this.#world.queues.send('events.fifo', {
        body: encodeWatcherMessage(told),
        senderId: `${senderOf(this.#liar)}:session`,
        groupId: eventGroupId(told),
        deduplicationId: eventDeduplicationId(told),
      });
    }
    return { outcome: { kind: 'accepted' }, applied: false };
  }

  #watchDeletes({ id, site }: FleetMember): void {
    const { hooks } = site.api;
    const { onPodDelete } = hooks;
    hooks.onPodDelete = (pod) => {
      if (imageOf(pod) === NEW) this.#break(`${id}: a pod of ${NEW} was deleted`);
      onPodDelete?.(pod);
    };
  }

  /** In most seeds it begins to lie once it was given the release, in others at any time. */
  async #untilGiven(): Promise<void> {
    const isAwaiting = this.#dice.chance(0.8);
    for (let minute = 0; minute < 180 && isAwaiting; minute += 1) {
      if (this.#world.podsOf(this.#liar, NEW).length > 0) break;
      await this.#minutes(1);
    }
    await this.#minutes(this.#dice.between(0, 5));
  }

  async #note(): Promise<void> {
    for (const { id } of this.#honest) {
      this.#registered.set(id, await this.#world.registry.readCluster(id));
    }
    this.#isNoting = true;
  }

  async #minutes(count: number): Promise<void> {
    for (let minute = 0; minute < count; minute += 1) {
      await this.#world.minutes(1);
      await this.#audit();
    }
  }

  async #audit(): Promise<void> {
    const { breach, gate } = await this.#world.record();
    if (breach !== undefined && this.#halts.at(-1) !== breach.message) {
      this.#halts.push(breach.message);
    }
    if (gate.kind === 'returning' || gate.kind === 'returned') {
      this.#break(`the fleet goes back: ${breach?.message ?? 'nobody knows why'}`);
    }
    for (const member of this.#honest) await this.#auditMember(member);
  }

  async #auditMember({ id, site }: FleetMember): Promise<void> {
    const { spec } = site.api.find('daemonsets', 'agent', 'ns') ?? assert.fail(id);
    if (JSON.stringify(spec).includes(NEW)) this.#had.add(id);
    else if (this.#had.has(id)) this.#break(`${id}: ${NEW} was taken back`);
    const registered = await this.#world.registry.readCluster(id);
    if (this.#isNoting && JSON.stringify(registered) !== JSON.stringify(this.#registered.get(id))) {
      this.#break(`${id}: its registration changed`);
    }
    const meta = await this.#world.view.readMeta(site.api.clusterUid);
    if (meta?.isComplete !== true) this.#break(`${id}: its view is not whole`);
    for (const { cluster, sender } of this.#world.registry.refusals.values()) {
      if (cluster === id && sender === 'verified')
        this.#break(`${id}: a refusal counts as its own`);
    }
  }

  /** A node joins one of the others, and has its pod within its bound. */
  async #join(): Promise<void> {
    const member = this.#dice.pick(this.#honest);
    const name = `${member.id}-${String(this.#lies.length)}-joined`;
    this.#world.addNode(member, name);
    await this.#minutes(JOINS_WITHIN_MINUTES);
    const has = (pod: KubernetesObject): boolean => nodeOf(pod) === name;
    if (!member.site.api.list('pods').some(has)) this.#break(`${name} has no pod`);
  }

  /** A person looks, and freezes the liar, which still lies: the others get the release. */
  async #end(): Promise<void> {
    const { registry } = this.#world;
    const { id } = this.#world.member(this.#liar);
    const stored = (await registry.readCluster(id)) ?? assert.fail(id);
    await registry.writeCluster({ ...stored, isFrozen: true }, stored.configVersion);
    const isOut = (): boolean =>
      this.#honest.every(({ id }) => this.#world.runningNodes(id, NEW) >= NODES);
    for (let hour = 0; hour < 24 && !isOut(); hour += 1) {
      await this.#resume();
      await this.#minutes(60);
    }
    if (!isOut()) {
      const { gate, breach, stage, counts } = await this.#world.record();
      this.#break(`the others never got it: ${JSON.stringify({ gate, breach, stage, counts })}`);
    }
  }

  async #resume(): Promise<void> {
    const record = await this.#world.record();
    if (record.breach === undefined) return;
    const order = resumeOf(orderedOf(record));
    const note = { by: 'ann', atMs: this.#world.clock.nowMs() };
    const result = applyFleetOrder(record, order, note);
    if (result.kind === 'changed') await this.#world.rollouts.writeRecord(result.record);
  }

  #break(text: string): void {
    if (this.#broken.length < 10) this.#broken.push(`${text} (${this.#lie ?? 'no lie'})`);
  }
}
