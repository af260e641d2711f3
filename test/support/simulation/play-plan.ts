/**
 * Plays a plan in a world of its own, in five phases:
 *
 *  1. the steps, faults on: the observer checks S1 to S10 at every commit, batch and write;
 *  2. what is demanded and has not happened yet is provoked, for a bounded number of rounds; a demanded deed that
 *     cannot be provoked fails the run (M1), never mere chance;
 *  3. faults off: exactly the right pods within the bound (L1), or within that of resync if hints were lost (L2);
 *  4. a quiet window without one write (L1);
 *  5. ten more minutes in which no key is looked at for nothing (L5).
 *
 * A broken promise is an outcome. What the plan became (which opportunities fired) comes with it, for shrinking.
 */
import { defined } from '@rollcall/base/defined.ts';
import { POLICY_ANNOTATION } from '../../../src/core/policy/rollout-policy.ts';
import { DEFAULT_WATCHER_OPTIONS } from '../../../src/watcher/session/options.ts';
import type { WatcherOptions } from '../../../src/watcher/session/options.ts';
import { FAULTS, type Deed, type Fault } from './deeds.ts';
import { enterCopilot } from './copilot-world.ts';
import { Dice, mixSeed } from './dice.ts';
import { FaultDecider } from './fault-decider.ts';
import { dropHeldFinalizers, dropPinnedPods } from './admission-faults.ts';
import { installFaults } from './install-faults.ts';
import { rawNode } from './objects.ts';
import type { Setting, SimulationPlan } from './plan.ts';
import { PromiseBroken, type BrokenRule } from './promise-broken.ts';
import { nodeNames, setNames } from './step-context.ts';
import { enterStartUp } from './start-up-world.ts';
import { startWatcher, wakeWatchers } from './steps-of-machines.ts';
import { readyAllPods } from './steps-of-nodes.ts';
import { thawAll } from './steps-of-freezes.ts';
import { letTenantIn } from './steps-of-tenants.ts';
import { drawSpec } from './steps-of-users.ts';
import { healImages } from './steps-of-releases.ts';
import { StepTaker } from './take-step.ts';
import { World } from './world.ts';

interface PlayFacts {
  readonly plan: SimulationPlan;
  readonly hash: string;
  readonly virtualMs: number;
  /** How often each deed happened. */
  readonly happened: ReadonlyMap<Deed, number>;
  /** The opportunities at which each fault fired. */
  readonly firedAt: ReadonlyMap<Fault, readonly number[]>;
  /** Deletes of available pods that were held against the budget (S3). */
  readonly judged: number;
  readonly trace: readonly string[];
}

export interface PlayHeld extends PlayFacts {
  readonly kind: 'held';
}

/** A play in which one did not. */
export interface PlayBroken extends PlayFacts {
  readonly kind: 'broken';
  readonly rule: BrokenRule;
  readonly finding: string;
  /** Index of the step, or its phase, and the virtual time at which it was noticed. */
  readonly during: string;
  readonly atMs: number;
}

/** What came of a plan. */
export type PlayResult = PlayHeld | PlayBroken;

const SETTLES_WITHIN_MS = 30 * 60_000;
/** How far the functions' clock may be ahead of the queue's for reports to count as fresh within 90 seconds. */
const AHEAD_MS_MAX = 30_000;
/** A soak, and a timer, that began before the functions' clock was set back last so much longer, from one end of its range to the other. */
const STEPPED_MS = 20 * 60_000;
const RESYNC_WITHIN_MS = 6.5 * 3_600_000;
const PROVOKING_ROUNDS_MAX = 40;
const PROVOKING_ROUND_MS = 4000;
const PROVOKING_ROUND_MS_MAX = 120_000;
/** Steps after which every fault has had its opportunity, if the world offers one at all. */
const PROVOKING_STEPS = ['change-set', 'roll', 'end-pod', 'restart-watcher'] as const;

const LOSSES = ['drop-hint', 'drop-timer', 'send-error'] as const;
/** After these the history of a cluster may begin anew: etcd goes back, or the stored epoch falls silent. */
const RENEWALS: ReadonlySet<string> = new Set(['restore-etcd', 'lose-view', 'lose-way']);
const CLOCK_STEPS: ReadonlySet<string> = new Set(['step-clock', 'outlive-expectations']);

/** Plays a plan to its end. */
export async function playPlan(plan: SimulationPlan): Promise<PlayResult> {
  const play = new Play(plan);
  try {
    await play.run();
    return { kind: 'held', ...play.facts() };
  } catch (error) {
    const { rule, finding } =
      error instanceof PromiseBroken
        ? error
        : {
            rule: 'bug' as const,
            finding: error instanceof Error ? String(error.stack) : String(error),
          };
    const { during, world } = play;
    return {
      kind: 'broken',
      rule,
      finding,
      during,
      atMs: world.clock.monotonicMs(),
      ...play.facts(),
    };
  }
}

class Play {
  readonly world: World;
  during = 'the start';
  readonly #plan: SimulationPlan;
  readonly #decider: FaultDecider;
  readonly #taker: StepTaker;
  readonly #nodes: readonly string[];

  constructor(plan: SimulationPlan) {
    const { seed, setting, steps } = plan;
    this.#plan = plan;
    this.world = new World({
      seed,
      nodes: nodeNames(setting.nodesCount).slice(0, setting.nodesCount),
      skewMs: setting.skewMs,
      watcher: watcherOptions(setting),
      reconcile: {
        ...defined({ burstPodsMax: setting.burstPodsMax }),
        // In half of the seeds the small clusters of a simulation are large enough for a list of victims.
        ...(seed % 2 === 0 ? {} : { victimsListedMin: 1 }),
      },
      ingest: {
        ...defined({ positionsMax: setting.positionsMax }),
        // In half of the seeds the few pods of a slice are too many for its tombstones.
        ...(seed % 4 < 2 ? {} : { sliceTombstonesMax: (seed % 4) - 2 }),
      },
    });
    this.#decider = new FaultDecider(plan, (text) => {
      this.world.note(text);
    });
    this.#nodes = nodeNames(setting.nodesCount);
    const sets = setNames(setting.setsCount);
    this.#taker = new StepTaker(this.world, this.#decider, { nodes: this.#nodes, sets });
    this.world.observer.allowsAdopted = steps.some(({ kind }) => kind === 'make-orphan');
    const isRenewed = steps.some(({ kind }) => RENEWALS.has(kind));
    this.world.observer.mayBeginAnew = () => isRenewed;
    const offsets = Object.values(setting.skewMs);
    const isOff =
      offsets.some((offMs) => offMs !== 0) || steps.some(({ kind }) => CLOCK_STEPS.has(kind));
    this.world.observer.areClocksTrue = () => !isOff;
    installFaults(this.world, plan, this.#decider);
  }

  facts(): PlayFacts {
    const { world } = this;
    return {
      plan: this.#plan,
      hash: world.traceHash(),
      virtualMs: world.clock.monotonicMs(),
      happened: this.#decider.happened,
      firedAt: this.#decider.firedAt,
      judged: world.site.availability.judged,
      trace: world.trace,
    };
  }

  async run(): Promise<void> {
    const { world } = this;
    const dice = new Dice(mixSeed(this.#plan.seed, 'start'));
    startWatcher({ world, decider: this.#decider, dice });
    const { setsCount, spec, policy, copilot, isGuarded, hasTenant, hasTwins } = this.#plan.setting;
    if (isGuarded === true) world.site.guard();
    if (hasTenant === true) letTenantIn(world);
    this.#labelPools();
    if (copilot !== undefined) enterCopilot(world, copilot);
    const startUp =
      this.#plan.setting.startUp && (await enterStartUp(world, this.#plan.setting.startUp));
    const names = setNames(setsCount ?? 1);
    for (const name of names) {
      const annotations = policy === undefined ? {} : { [POLICY_ANNOTATION]: policy };
      const made = { annotations, ...startUp, spec: { ...drawSpec(dice), ...spec } };
      world.addDaemonSet(name, made);
      if (hasTwins === true) world.addDaemonSet(name, { ...made, namespace: 'twin' });
    }
    for (const [index, step] of this.#plan.steps.entries()) {
      this.during = `step ${index} (${step.kind})`;
      await this.#taker.take(step);
      await world.advance(step.waitMs);
      world.assertSafe();
    }
    this.during = 'provoking what is demanded';
    await this.#provoke();
    this.during = 'settling';
    await this.#calmDown();
    await this.#settle();
    this.during = 'resting';
    await world.rest();
  }

  #labelPools(): void {
    const { poolsCount } = this.#plan.setting;
    if (poolsCount === undefined) return;
    for (const [index, { metadata }] of this.world.api.list('nodes').entries()) {
      const labels = { pool: `p${String(index % poolsCount)}` };
      this.world.api.put('nodes', rawNode(metadata.name, { labels }));
    }
  }

  /** A hint that was lost for good, or became a dead letter, is made up for by resync only (L2). */
  async #settle(): Promise<void> {
    const { world } = this;
    const hasLost = (): boolean =>
      LOSSES.some((fault) => this.#decider.happened.has(fault)) ||
      world.registry.refusals.size > 0 ||
      world.host.metrics.sum('DeadLetters') > 0;
    const isKnown = hasLost();
    try {
      await world.settle(isKnown ? RESYNC_WITHIN_MS : this.#settlesWithinMs());
    } catch (error) {
      const isLate = error instanceof PromiseBroken && error.finding.startsWith('not settled');
      if (!isLate || isKnown || !hasLost()) throw error;
      await world.settle(RESYNC_WITHIN_MS);
    }
  }

  /** Under a policy a rollout waits by the clock; and nobody is calm while copies of messages are on their way. */
  #settlesWithinMs(): number {
    const { policy, copyMsMax = 0 } = this.#plan.setting;
    const isStepped = this.#plan.steps.some(({ kind }) => CLOCK_STEPS.has(kind));
    return SETTLES_WITHIN_MS + copyMsMax + (policy !== undefined && isStepped ? STEPPED_MS : 0);
  }

  #missing(): readonly Deed[] {
    return this.#plan.demands.filter((deed) => !this.#decider.happened.has(deed));
  }

  async #provoke(): Promise<void> {
    if (this.#missing().length === 0) return;
    await this.#lift();
    for (let round = 0; round < PROVOKING_ROUNDS_MAX && this.#missing().length > 0; round += 1) {
      for (const deed of this.#missing()) {
        const dice = mixSeed(this.#plan.seed, 'provoke', deed, round);
        const fault = FAULTS.find((each) => each === deed);
        if (fault !== undefined) this.#decider.provoked.add(fault);
        else await this.#taker.take({ kind: deed as Exclude<Deed, Fault>, dice });
      }
      this.#offerPlace(round);
      for (const kind of PROVOKING_STEPS) {
        await this.#taker.take({ kind, dice: mixSeed(this.#plan.seed, kind, round) });
      }
      // Longer each time: where everything is slow, a restart must not overtake what it is to bring about.
      await this.world.advance(Math.min(PROVOKING_ROUND_MS_MAX, PROVOKING_ROUND_MS * (round + 1)));
      this.world.assertSafe();
    }
    const [missing] = this.#missing();
    if (missing === undefined) return;
    throw new PromiseBroken('M1', `${missing} was planned and cannot happen`);
  }

  /** A node that every DaemonSet of a plan may run on: without one nothing is ever created. */
  #offerPlace(round: number): void {
    const { world } = this;
    const name = this.#nodes[round % this.#nodes.length] ?? 'n1';
    world.api.put('nodes', rawNode(name, { labels: { disk: 'ssd' } }));
    if (world.api.list('daemonsets').length === 0) world.addDaemonSet('agent');
  }

  /** What keeps the world from moving at all is over. */
  async #lift(): Promise<void> {
    const { world } = this;
    for (const queue of ['events.fifo', 'reconcile.fifo', 'delay'] as const) world.resume(queue);
    world.api.isNamespaceTerminating = false;
    world.queues.way = 'open';
    await thawAll(world);
  }

  async #calmDown(): Promise<void> {
    const { world } = this;
    wakeWatchers(world, this.#decider);
    world.note('faults stop');
    // Further ahead of the queue's than this no report looks fresh, and a staged rollout waits for one (docs/promise.md).
    const isStaged = this.#plan.setting.policy !== undefined;
    if (isStaged) world.functionClock.skewMs = Math.min(world.functionClock.skewMs, AHEAD_MS_MAX);
    this.#taker.finish();
    dropPinnedPods(world);
    world.controllers.deadNodes.clear();
    world.controllers.failingNodes.clear();
    world.controllers.lookAtEverything();
    dropHeldFinalizers(world);
    readyAllPods(world);
    healImages(world);
    for (const pod of world.api.list('pods')) {
      const { name, namespace, labels, ownerReferences = [] } = pod.metadata;
      // One that a user relabelled stays: its DaemonSet has to let go of it by itself.
      const isControlled = ownerReferences.some(({ kind }) => kind === 'DaemonSet');
      if (labels?.['app'] === 'foreign' && !isControlled) world.api.remove('pods', name, namespace);
    }
    for (const gate of world.host.frozen.splice(0)) gate.thaw();
    world.api.releaseStuck();
    await this.#lift();
  }
}

function watcherOptions(setting: Setting): Partial<WatcherOptions> {
  const { pageLimit, deltasMax, sliceBytesMax, snapshotMs } = setting;
  return {
    listWatch: { ...DEFAULT_WATCHER_OPTIONS.listWatch, pageLimit },
    ...(deltasMax === undefined ? {} : { deltasPerMessageMax: deltasMax }),
    ...(sliceBytesMax === undefined ? {} : { sliceBytesMax }),
    ...(snapshotMs === undefined ? {} : { snapshotMs }),
  };
}
