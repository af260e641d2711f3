/** Takes one step of a plan in a world: every kind of step has its doer here. */
import type { StepKind } from './deeds.ts';
import { Dice } from './dice.ts';
import type { FaultDecider } from './fault-decider.ts';
import type { PlanStep } from './plan.ts';
import { evictPod, orphanSet, relabelPods, replacePod, restorePods } from './steps-of-evictors.ts';
import { flapLabels, loseNode, shutDownNode } from './steps-of-lost-nodes.ts';
import { applyAgain, editAndUndo, writePeerStatus } from './steps-of-writers.ts';
import type { StepContext } from './step-context.ts';
import {
  Backups,
  deployWatcher,
  freezeCache,
  freezePods,
  loseView,
  outliveExpectations,
  pauseQueue,
  restartSleepers,
  restartWatcher,
  silenceWatch,
  sleepWatcher,
  stallQueue,
  startSecondWatcher,
  stepClock,
} from './steps-of-machines.ts';
import {
  fillNamespace,
  narrowMapping,
  narrowQueue,
  setInjector,
  setLimits,
} from './steps-of-limits.ts';
import { taintForSeconds } from './steps-of-taints.ts';
import { hostileTenant } from './steps-of-tenants.ts';
import { loseWay } from './steps-of-outages.ts';
import {
  approveRollout,
  flapNode,
  pauseRollout,
  release,
  releaseIll,
  revertRelease,
  undoRollout,
  unreadyNode,
} from './steps-of-releases.ts';
import { stripLabels } from './steps-of-labels.ts';
import {
  changeMode,
  drainNode,
  healBack,
  leaderless,
  optOut,
  rollByItself,
  slowBuiltIn,
  takeRights,
} from './steps-of-copilot.ts';
import { takeCredential } from './steps-of-credentials.ts';
import { freezeCluster, freezeStack } from './steps-of-freezes.ts';
import { annotateObjects, annotateOften, rewriteObjects } from './steps-of-managers.ts';
import {
  changeNode,
  closeNamespace,
  endPod,
  remakeNode,
  removeNode,
  scaleIn,
  scaleOut,
  scalePool,
  stopKubelet,
  unreadyPods,
} from './steps-of-nodes.ts';
import {
  changeSet,
  changeStrategy,
  makeOrphan,
  remakeSet,
  roll,
  takeName,
} from './steps-of-users.ts';
import type { World } from './world.ts';

/** Does a step; true if it changed anything. */
type Doer = (context: StepContext) => boolean | Promise<boolean>;

export class StepTaker {
  readonly #world: World;
  readonly #decider: FaultDecider;
  readonly #names: Pick<StepContext, 'nodes' | 'sets'>;
  readonly #backups = new Backups();
  /** What steps left for later, in the order in which it was left. */
  readonly #left = new Set<() => void>();
  readonly #doers: Readonly<Record<StepKind, Doer>> = {
    roll,
    'change-strategy': changeStrategy,
    'change-set': changeSet,
    'remake-set': remakeSet,
    'freeze-cluster': freezeCluster,
    'freeze-stack': freezeStack,
    'take-credential': takeCredential,
    'take-name': takeName,
    'make-orphan': makeOrphan,
    'rewrite-objects': rewriteObjects,
    'annotate-objects': annotateObjects,
    'annotate-often': annotateOften,
    'apply-again': applyAgain,
    'peer-status': writePeerStatus,
    'edit-undo': editAndUndo,
    'hostile-tenant': hostileTenant,
    release,
    'release-ill': releaseIll,
    'revert-release': revertRelease,
    'undo-rollout': undoRollout,
    'pause-rollout': pauseRollout,
    'approve-rollout': approveRollout,
    'scale-pool': scalePool,
    'unready-node': unreadyNode,
    'flap-node': flapNode,
    leaderless,
    'slow-built-in': slowBuiltIn,
    'take-rights': takeRights,
    'opt-out': optOut,
    'roll-by-itself': rollByItself,
    'change-mode': changeMode,
    'heal-back': healBack,
    'drain-node': drainNode,
    'evict-pod': evictPod,
    'replace-pod': replacePod,
    'relabel-pods': relabelPods,
    'restore-pods': restorePods,
    'orphan-set': orphanSet,
    'lose-node': loseNode,
    'shut-down-node': shutDownNode,
    'flap-labels': flapLabels,
    'strip-labels': stripLabels,
    'change-node': changeNode,
    'remove-node': removeNode,
    'scale-in': scaleIn,
    'scale-out': scaleOut,
    'remake-node': remakeNode,
    'end-pod': endPod,
    'unready-pods': unreadyPods,
    'dead-kubelet': stopKubelet,
    'close-namespace': closeNamespace,
    'restart-watcher': restartWatcher,
    'second-watcher': startSecondWatcher,
    'new-watcher': deployWatcher,
    'sleep-watcher': sleepWatcher,
    'silent-watch': silenceWatch,
    'lose-way': loseWay,
    'freeze-cache': freezeCache,
    'freeze-pods': freezePods,
    'limit-range': setLimits,
    injector: setInjector,
    'refuse-namespace': fillNamespace,
    'taint-for-seconds': taintForSeconds,
    'pause-queue': pauseQueue,
    'stall-queue': stallQueue,
    'narrow-mapping': narrowMapping,
    'narrow-queue': narrowQueue,
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

  constructor(world: World, decider: FaultDecider, names: Pick<StepContext, 'nodes' | 'sets'>) {
    this.#world = world;
    this.#decider = decider;
    this.#names = names;
  }

  /** Everything that steps left for later happens now. */
  finish(): void {
    for (const act of [...this.#left]) act();
  }

  /** Takes a step, and counts it if it changed anything. */
  async take({ kind, dice }: Pick<PlanStep, 'kind' | 'dice'>): Promise<void> {
    this.#world.note(`step ${kind}`);
    const context: StepContext = {
      world: this.#world,
      decider: this.#decider,
      dice: new Dice(dice),
      ...this.#names,
      later: (delayMs, act) => {
        this.#later(delayMs, act);
      },
    };
    if (await this.#doers[kind](context)) this.#decider.note(kind);
  }

  #later(delayMs: number, act: () => void): void {
    const once = (): void => {
      if (this.#left.delete(once)) act();
    };
    this.#left.add(once);
    this.#world.clock.after(delayMs, once);
  }
}
