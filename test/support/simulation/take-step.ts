/** Takes one step of a plan in a world: every kind of step has its doer here. */
import type { StepKind } from './deeds.ts';
import { Dice } from './dice.ts';
import type { FaultDecider } from './fault-decider.ts';
import type { PlanStep } from './plan.ts';
import type { StepContext } from './step-context.ts';
import {
  Backups,
  freezeCache,
  freezePods,
  loseView,
  outliveExpectations,
  pauseQueue,
  restartSleepers,
  restartWatcher,
  silenceWatch,
  sleepWatcher,
  startSecondWatcher,
  stepClock,
} from './steps-of-machines.ts';
import { loseWay } from './steps-of-outages.ts';
import { annotateObjects, annotateOften, rewriteObjects } from './steps-of-managers.ts';
import {
  changeNode,
  closeNamespace,
  endPod,
  remakeNode,
  removeNode,
  stopKubelet,
  unreadyPods,
} from './steps-of-nodes.ts';
import {
  changeSet,
  changeStrategy,
  freezeCluster,
  makeOrphan,
  remakeSet,
  roll,
  takeName,
} from './steps-of-users.ts';
import type { World } from './world.ts';

/** Does a step; true if it changed anything. */
type Doer = (context: StepContext) => boolean | Promise<boolean>;

/** Takes steps in one world. */
export class StepTaker {
  readonly #world: World;
  readonly #decider: FaultDecider;
  readonly #backups = new Backups();
  readonly #doers: Readonly<Record<StepKind, Doer>> = {
    roll,
    'change-strategy': changeStrategy,
    'change-set': changeSet,
    'remake-set': remakeSet,
    'freeze-cluster': freezeCluster,
    'take-name': takeName,
    'make-orphan': makeOrphan,
    'rewrite-objects': rewriteObjects,
    'annotate-objects': annotateObjects,
    'annotate-often': annotateOften,
    'change-node': changeNode,
    'remove-node': removeNode,
    'remake-node': remakeNode,
    'end-pod': endPod,
    'unready-pods': unreadyPods,
    'dead-kubelet': stopKubelet,
    'close-namespace': closeNamespace,
    'restart-watcher': restartWatcher,
    'second-watcher': startSecondWatcher,
    'sleep-watcher': sleepWatcher,
    'silent-watch': silenceWatch,
    'lose-way': loseWay,
    'freeze-cache': freezeCache,
    'freeze-pods': freezePods,
    'pause-queue': pauseQueue,
    'cool-down': ({ world }) => {
      world.host.coolDown();
      return true;
    },
    compact: ({ world }) => {
      world.api.compact();
      return true;
    },
    'step-clock': stepClock,
    'outlive-expectations': outliveExpectations,
    'restore-etcd': (context) => {
      const isRestored = this.#backups.restore(context);
      if (isRestored) restartSleepers(context);
      return isRestored;
    },
    'lose-view': loseView,
  };

  constructor(world: World, decider: FaultDecider) {
    this.#world = world;
    this.#decider = decider;
  }

  /** Takes a step, and counts it if it changed anything. */
  async take({ kind, dice }: Pick<PlanStep, 'kind' | 'dice'>): Promise<void> {
    this.#world.note(`step ${kind}`);
    const context = { world: this.#world, decider: this.#decider, dice: new Dice(dice) };
    if (await this.#doers[kind](context)) this.#decider.note(kind);
  }
}
