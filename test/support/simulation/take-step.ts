/** Takes one step of a plan in a world: every kind of step has its doer here. */
import type { StepKind } from './deeds.ts';
import { Dice } from './dice.ts';
import type { FaultDecider } from './fault-decider.ts';
import type { PlanStep } from './plan.ts';
import { evictPod, orphanSet, relabelPods, replacePod, restorePods } from './steps-of-evictors.ts';
import { flapLabels, loseNode, shutDownNode } from './steps-of-lost-nodes.ts';
import { applyAgain, editAndUndo, writePeerStatus, write } from './steps-of-writers.ts';
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
import { registrationOf } from './registration.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';

const NARROW_MS = [20_000, 180_000] as const;
/** The fewest that AWS allows. */
const CONCURRENCY_MIN = 2;
/** An object fits into a message of its own; more than a few do not. */
const NARROW_BYTES = [2000, 3000] as const;

/** The namespace gets a LimitRange, another one, or loses it; pods that exist stay as they are. */
function setLimits({ world, dice }: StepContext): boolean {
  const cpu = dice.pick(['100m', '250m']);
  const amounts = { cpu, memory: '128Mi' };
  world.site.limits = dice.chance(0.8) ? { limits: amounts, requests: amounts } : undefined;
  return false;
}

/** A webhook that changes every new pod is installed, or taken away: later, or never. */
function setInjector({ world, dice, later }: StepContext): boolean {
  world.site.isInjecting = dice.chance(0.8);
  if (dice.chance(0.5)) {
    later(dice.between(...NARROW_MS), () => {
      world.site.isInjecting = false;
    });
  }
  return false;
}

/** For a while a quota admits no pod; a whole hour is played in test/simulation/refused-creates.test.ts. */
function fillNamespace({ world, dice, later }: StepContext): boolean {
  world.site.isFull = true;
  later(dice.between(...NARROW_MS), () => {
    world.site.isFull = false;
  });
  return false;
}

/** For a while two keys are reconciled at a time, whatever waits. */
function narrowMapping({ world, decider, dice, later }: StepContext): boolean {
  const mapping = world.mapping('reconcile.fifo');
  mapping.concurrencyMax = CONCURRENCY_MIN;
  mapping.onFull = () => {
    decider.note('narrow-mapping');
  };
  later(dice.between(...NARROW_MS), () => {
    mapping.concurrencyMax = Infinity;
    mapping.poke();
  });
  return false;
}

/** For a while the queue takes small messages only: what it refused is refused for good, whatever a watcher believed. */
function narrowQueue({ world, decider, dice, later }: StepContext): boolean {
  const { queues } = world;
  queues.bytesMax = dice.pick(NARROW_BYTES);
  queues.onTooLarge = () => {
    decider.note('narrow-queue');
  };
  later(dice.between(...NARROW_MS), () => {
    queues.bytesMax = Infinity;
  });
  return false;
}

const LABEL = 'disk';
const SECOND_MS = 1000;

/** Takes the label off all nodes within a second, or off one after the other; where half of them lack it, puts it back. */
function stripLabels(context: StepContext): boolean {
  const { world, dice, later } = context;
  const nodes = world.api.list('nodes');
  const labelled = nodes.filter(({ metadata }) => metadata.labels?.[LABEL] === 'ssd');
  if (labelled.length * 2 < nodes.length) {
    for (const node of nodes) relabel(world, node, 'ssd');
    return nodes.length > 0;
  }
  const isAtOnce = dice.chance(0.5);
  const apartMs = dice.between(20 * SECOND_MS, 60 * SECOND_MS);
  for (const [index, node] of labelled.entries()) {
    const delayMs = isAtOnce ? dice.between(0, SECOND_MS) : index * apartMs;
    later(delayMs, () => {
      relabel(world, node, undefined);
    });
  }
  return true;
}

function relabel(world: World, node: KubernetesObject, value: string | undefined): void {
  const found = world.api.find('nodes', node.metadata.name);
  if (found === undefined) return;
  const { [LABEL]: _former, ...others } = found.metadata.labels ?? {};
  const labels = value === undefined ? others : { ...others, [LABEL]: value };
  write(world, { kind: 'nodes', object: found }, { labels });
}

const LOST_MS = [10 * 60_000, 90 * 60_000] as const;

/** The functions have no credential for a while: nothing can be asked of the cluster, and nothing done to it. */
async function takeCredential({ world, dice, later }: StepContext): Promise<boolean> {
  const stored = await world.registration();
  if (stored === undefined || stored.authentication.kind === 'none') return false;
  await world.reconfigure({ authentication: { kind: 'none' } });
  later(dice.between(...LOST_MS), () => {
    const { authentication } = registrationOf(world.api.clusterUid);
    void world.reconfigure({ authentication });
  });
  return true;
}

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
