/**
 * A random schedule from a seed: churn in the cluster and faults all around it.
 *
 * Each seed draws its own mix (a swarm): which faults exist, how often, how slow everything is. Then
 * it takes steps: a change by a user (a roll, a rollback, another strategy), a node, a kubelet; a
 * restart; a pause; a freeze. At the end all
 * faults stop, everything wakes up, and the world must settle (L1) with every promise kept. Faults
 * that fired are counted, so that a suite can demand that none of them is dead (M1).
 */
import type { JsonObject } from '../../../src/core/model/json.ts';
import type { Effect } from '../../../src/core/model/effects.ts';
import type { Taint } from '../../../src/core/model/kubernetes.ts';
import type { Intervention } from '../simulated-cluster.ts';
import type { GateRule } from './gate.ts';
import { rawNode } from './objects.ts';
import { Disturbances } from './random-disturbances.ts';
import { FaultDice } from './random-faults.ts';
import { World } from './world.ts';

/** What came of a schedule. */
export interface ScheduleResult {
  readonly world: World;
  readonly hash: string;
  readonly fired: ReadonlyMap<string, number>;
  /** Deletes of available pods that were held against the budget (S3). */
  readonly judged: number;
}

const NODES = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6'];
const SETS = ['agent', 'proxy'];
const STRATEGIES: readonly JsonObject[] = [
  { type: 'OnDelete' },
  { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
  { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '50%', maxSurge: 0 } },
  { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
  { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: '50%' } },
];
const FROZEN_MS_MAX = 90_000;
const SETTLES_WITHIN_MS = 30 * 60_000;
const RESYNC_WITHIN_MS = 6.5 * 3_600_000;

/** Draws faults and steps from a seed. */
class Schedule {
  readonly world: World;
  readonly #dice: FaultDice;
  readonly #disturbances: Disturbances;
  /** In some schedules all placements stay: what moves there are pods and revisions. */
  readonly #isSteady: boolean;
  #isFrozen = false;

  constructor(seed: number) {
    this.#dice = new FaultDice(seed);
    this.#isSteady = this.#dice.chance(0.5);
    this.world = new World({ seed, nodes: NODES.slice(0, 4), skewMs: this.#skews() });
    this.#disturbances = new Disturbances(this.world, this.#dice, { nodes: NODES, sets: SETS });
    this.#install();
  }

  /** How often each fault fired. */
  get fired(): ReadonlyMap<string, number> {
    return this.#dice.fired;
  }

  async run(stepCount: number): Promise<void> {
    const { world } = this;
    world.startWatcher();
    world.addDaemonSet('agent', { spec: this.#spec() });
    for (let step = 0; step < stepCount; step += 1) {
      await this.#step();
      await world.advance(this.#dice.between(1, this.#dice.chance(0.2) ? 30_000 : 2500));
      world.assertSafe();
    }
    await this.#calmDown();
    // A hint that was lost for good is made up for by resync only (L2).
    const hasLost = ['drop-hint', 'drop-timer'].some((fault) => this.fired.has(fault));
    await world.settle(hasLost ? RESYNC_WITHIN_MS : SETTLES_WITHIN_MS);
  }

  #skews(): { readonly api: number; readonly functions: number; readonly watcher: number } {
    const skew = (): number => (this.#dice.chance(0.3) ? this.#dice.between(-600_000, 600_000) : 0);
    return { api: skew(), functions: skew(), watcher: skew() };
  }

  #install(): void {
    const { world } = this;
    const { site } = world;
    const slowMs = this.#dice.chance(0.5) ? 200 : 10;
    world.deliveryDelayMs = () => (this.#dice.isCalm ? 1 : this.#dice.between(1, slowMs));
    site.requestDelayMs = () => (this.#dice.isCalm ? 2 : this.#dice.between(1, slowMs));
    world.fate = (queue) => {
      if (queue === 'events.fifo' && this.#dice.fires('drop-event')) return 'drop';
      if (queue === 'reconcile.fifo' && this.#dice.fires('drop-hint')) return 'drop';
      if (queue === 'delay' && this.#dice.fires('drop-timer')) return 'drop';
      if (this.#dice.fires('copy')) return 'copy';
      return this.#dice.fires('keep') ? 'keep' : 'deliver';
    };
    world.host.ruleFor = () => this.#rule();
    site.intervene = (effect) => this.#intervene(effect);
    site.answer = () =>
      this.#dice.fires('read-error')
        ? { kind: 'unavailable', message: 'injected', isRefused: false }
        : undefined;
    site.api.hooks.admitPod = (pod) =>
      /"n[123]"/.test(JSON.stringify(pod['spec'])) && this.#dice.fires('admission')
        ? { code: 'admission' }
        : undefined;
    world.queues.faults.sendEvent = () => {
      if (!this.#dice.fires('ambiguous-send')) return undefined;
      return {
        outcome: { kind: 'ambiguous', message: 'injected' },
        applied: this.#dice.chance(0.5),
      };
    };
    world.controllers.behaviour = () => (this.#dice.fires('failing-pods') ? 'fail' : 'run');
  }

  #rule(): GateRule | undefined {
    const order = this.#dice.fires('kill')
      ? 'kill'
      : this.#dice.fires('freeze')
        ? 'freeze'
        : undefined;
    if (order === undefined) return undefined;
    const at = this.#dice.between(1, 40);
    return (passage) => {
      if (passage.index !== at) return undefined;
      if (order === 'freeze') this.#thawLater();
      return order;
    };
  }

  #thawLater(): void {
    const { world } = this;
    world.clock.after(this.#dice.between(100, FROZEN_MS_MAX), () => {
      world.host.frozen.shift()?.thaw();
    });
  }

  #intervene(effect: Effect): Intervention | undefined {
    if (this.#dice.fires('lose-answer')) return { kind: 'lose-answer' };
    if (effect.kind !== 'create-event' && this.#dice.fires('stuck')) {
      // A request is dead after twice its time-out (design 3): it arrives before that, or never.
      this.world.clock.after(this.#dice.between(100, 15_000), () => {
        this.world.api.releaseStuck();
      });
      return { kind: 'stuck' };
    }
    if (!this.#dice.fires('server-error')) return undefined;
    return { kind: 'answer', outcome: { kind: 'unsent', message: 'injected' } };
  }

  async #step(): Promise<void> {
    const { world } = this;
    const steps: readonly (() => void | Promise<void>)[] = [
      ...(this.#isSteady ? [() => this.#roll()] : this.#placementSteps()),
      () => this.#endPod(),
      () => this.#endPod(),
      () => this.#roll(),
      () => this.#roll(),
      () => this.#changeStrategy(),
      () => this.#restartWatcher(),
      () => this.#pauseQueue(),
      () => {
        world.host.coolDown();
      },
      () => {
        world.api.compact();
      },
      () => this.#freeze(),
      () => {
        this.#disturbances.happen();
      },
    ];
    await this.#dice.pick(steps)();
  }

  #spec(): JsonObject {
    return {
      updateStrategy: this.#dice.pick(STRATEGIES),
      revisionHistoryLimit: this.#dice.pick([0, 1, 10]),
    };
  }

  #placementSteps(): readonly (() => void)[] {
    return [
      () => this.#changeNode(),
      () => this.#changeNode(),
      () => this.#removeNode(),
      () => this.#changeDaemonSet(),
      () => this.#changeDaemonSet(),
    ];
  }

  #changeNode(): void {
    const name = this.#dice.pick(NODES);
    const taint = (effect: Taint['effect']): readonly Taint[] => [{ key: 'dedicated', effect }];
    const taints = this.#dice.pick([[], [], taint('NoSchedule'), taint('NoExecute')]);
    const labels = this.#dice.chance(0.5) ? { disk: 'ssd' } : {};
    this.world.api.put('nodes', rawNode(name, { labels, taints }));
  }

  #removeNode(): void {
    const [node] = this.world.api.list('nodes');
    const name = this.#dice.chance(0.5) ? this.#dice.pick(NODES) : node?.metadata.name;
    if (name !== undefined) this.world.controllers.removeNode(name);
  }

  #endPod(): void {
    const pods = this.world.api.list('pods');
    if (pods.length === 0) return;
    const pod = this.#dice.pick(pods);
    const { controllers, api } = this.world;
    if (pod.metadata.deletionTimestamp !== undefined) return;
    const draw = this.#dice.draw();
    if (draw < 0.4) controllers.deletePod(pod);
    else if (draw < 0.6) api.remove('pods', pod.metadata.name, pod.metadata.namespace);
    else controllers.setPhase(pod, draw < 0.8 ? 'Failed' : 'Succeeded');
  }

  #changeDaemonSet(): void {
    const { api, controllers } = this.world;
    const name = this.#dice.pick(SETS);
    const found = api.find('daemonsets', name, 'ns');
    if (found === undefined) {
      this.world.addDaemonSet(name, {
        ...(this.#dice.chance(0.5) ? { nodeSelector: { disk: 'ssd' } } : {}),
        spec: this.#spec(),
      });
      return;
    }
    if (found.metadata.deletionTimestamp !== undefined) return;
    if (this.#dice.chance(0.3)) {
      controllers.deleteDaemonSet(
        name,
        this.#dice.pick(['background', 'foreground', 'orphan'] as const),
      );
      return;
    }
    const nodeSelector = this.#dice.chance(0.5) ? { disk: 'ssd' } : {};
    api.editDaemonSet(name, (spec) => {
      const template = spec['template'] as JsonObject;
      const podSpec = { ...(template['spec'] as JsonObject), nodeSelector };
      return { ...spec, template: { ...template, spec: podSpec } };
    });
  }

  /** Another image, or one that was there before: a rolling update, or a rollback. */
  #roll(): void {
    const name = this.#editable();
    if (name === undefined) return;
    this.#dice.note('roll');
    const image = `${name}:${this.#dice.between(1, 3)}`;
    this.world.api.editDaemonSet(name, (spec) => {
      const template = spec['template'] as JsonObject;
      const podSpec = {
        ...(template['spec'] as JsonObject),
        containers: [{ name: 'main', image }],
      };
      return { ...spec, template: { ...template, spec: podSpec } };
    });
  }

  #changeStrategy(): void {
    const name = this.#editable();
    if (name === undefined) return;
    const updateStrategy = this.#dice.pick(STRATEGIES);
    this.world.api.editDaemonSet(name, (spec) => ({ ...spec, updateStrategy }));
  }

  #editable(): string | undefined {
    const sets = this.world.api.list('daemonsets');
    const editable = sets.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    return editable.length === 0 ? undefined : this.#dice.pick(editable).metadata.name;
  }

  #restartWatcher(): void {
    const { world } = this;
    const [process] = world.watchers;
    if (this.#dice.chance(0.3) && process !== undefined) {
      process.clock.freeze();
      world.clock.after(this.#dice.between(1000, FROZEN_MS_MAX), () => {
        process.clock.thaw();
      });
      if (this.#dice.chance(0.5)) world.startWatcher();
      return;
    }
    if (process !== undefined && world.watchers.length > 1 - Number(this.#dice.chance(0.8))) {
      world.stopWatcher(process);
    }
    const { faults } = world.startWatcher();
    const slowMs = this.#dice.pick([1, 1, 50, 1500]);
    faults.supportsWatchList = this.#dice.chance(0.5);
    faults.lagMs = () => (this.#dice.isCalm ? 1 : this.#dice.between(1, slowMs));
    faults.failure = () =>
      this.#dice.fires('watch-error') ? { kind: 'unavailable', message: 'injected' } : undefined;
    faults.losesLeaseAnswer = () => this.#dice.fires('watch-error');
  }

  async #freeze(): Promise<void> {
    const { world } = this;
    const wasFrozen = this.#isFrozen;
    this.#isFrozen = this.#dice.chance(0.3);
    await world.reconfigure({ isFrozen: this.#isFrozen });
    if (wasFrozen && !this.#isFrozen) for (const name of SETS) world.hint(name);
  }

  #pauseQueue(): void {
    const { world } = this;
    const queue = this.#dice.pick(['events.fifo', 'reconcile.fifo', 'delay'] as const);
    world.mapping(queue).isPaused = true;
    world.clock.after(this.#dice.between(100, 40_000), () => {
      world.resume(queue);
    });
  }

  async #calmDown(): Promise<void> {
    const { world } = this;
    this.#dice.isCalm = true;
    world.note('faults stop');
    for (const process of world.watchers) process.clock.thaw();
    world.controllers.deadNodes.clear();
    world.controllers.lookAtEverything();
    for (const gate of world.host.frozen.splice(0)) gate.thaw();
    for (const queue of ['events.fifo', 'reconcile.fifo', 'delay'] as const) world.resume(queue);
    world.api.releaseStuck();
    if (!this.#isFrozen) return;
    await world.reconfigure({ isFrozen: false });
    // Whoever lifts a freeze hints the keys: nothing else changed that would.
    for (const set of world.api.list('daemonsets')) world.hint(set.metadata.name);
  }
}

/** Runs the schedule of a seed to its end; throws when a promise was broken. */
export async function runSchedule(seed: number, stepCount: number): Promise<ScheduleResult> {
  const schedule = new Schedule(seed);
  await schedule.run(stepCount);
  const { world, fired } = schedule;
  return { world, hash: world.traceHash(), fired, judged: world.site.availability.judged };
}
