/**
 * Hunts: schedules that bring about what certain bugs need, more often than the profiles of the simulation do.
 *
 * A hunt is a plan like any other (plan.ts): a profile's faults, with steps and waits of its own. `npm run sim` plays it
 * as a profile. Everything that it does may happen to a cluster; without a canary every promise holds in it, for as many
 * seeds as a canary may need there (test/simulation/hunts).
 */
import { COPILOT_HUNTS } from './copilot-hunts.ts';
import { Dice, mixSeed } from './dice.ts';
import { drawPlan } from './draw-plan.ts';
import { FREEZE_HUNTS } from './freeze-hunts.ts';
import { ORDERLY, STAGED_FAULTS, STAGED_SETTING, rolling, type Hunt } from './hunt.ts';
import { MEETING_HUNTS } from './meeting-hunts.ts';
import { STAGE_HUNTS } from './stage-hunts.ts';
import { START_UP_HUNTS } from './start-up-hunts.ts';
import type { PlanStep, SimulationPlan } from './plan.ts';

const STEPS = 48;

/** The only DaemonSet runs where nodes have the label that `strip-labels` takes and gives. */
const SELECTING = {
  spec: {
    updateStrategy: { type: 'OnDelete' },
    minReadySeconds: 0,
    template: {
      metadata: { labels: { app: 'agent' } },
      spec: {
        containers: [{ name: 'main', image: 'agent:1' }],
        nodeSelector: { disk: 'ssd' },
        tolerations: [],
      },
    },
  },
};

/** Nobody changes it, and it may run anywhere. */
const QUIET = {
  spec: {
    updateStrategy: { type: 'OnDelete' },
    minReadySeconds: 0,
    template: {
      metadata: { labels: { app: 'agent' } },
      spec: { containers: [{ name: 'main', image: 'agent:1' }], nodeSelector: {}, tolerations: [] },
    },
  },
};

const ONE_AT_ONCE = rolling({ maxUnavailable: 1, maxSurge: 0 });

/** Of rollouts that share nodes. */
const SHARING_FAULTS = {
  copy: { rate: 0.2 },
  kill: { rate: 0.08 },
  freeze: { rate: 0.1 },
  stuck: { rate: 0.1 },
  'lose-answer': { rate: 0.1 },
  'table-answer-late': { rate: 0.05 },
} as const;

const SHARING_SETTING = {
  ...ORDERLY,
  ...rolling({ maxUnavailable: '100%', maxSurge: 0 }),
  setsCount: 3,
  nodesCount: 4,
  podStartMsMax: 5000,
  policy: 'maxUnavailable: 100%\ncanary: {nodes: 1}\nsoak: 1s',
};

const HUNTS = {
  /** Edits and rollbacks faster than pods become ready, while pods are not seen for a while. */
  'hasty-rollbacks': {
    profile: 'baseline',
    setting: { ...ORDERLY, ...ONE_AT_ONCE, nodesCount: 5, podStartMsMax: 5000 },
    cycle: [
      ['roll', 1000, 12_000],
      ['freeze-pods', 200, 6000],
      ['roll', 200, 4000],
      ['roll', 200, 2000],
    ],
  },
  /** Deletes that arrive late, after the pod was rolled back to (row 78). */
  'late-deletes': {
    profile: 'baseline',
    faults: { stuck: { rate: 0.4 } },
    setting: { ...ORDERLY, ...ONE_AT_ONCE, nodesCount: 5, podStartMsMax: 400 },
    cycle: [['roll', 300, 3500]],
  },
  /** Runs of one key that overlap: slow requests, copies, functions that freeze and wake up. */
  'overlapping-runs': {
    profile: 'baseline',
    faults: {
      copy: { rate: 0.3 },
      freeze: { rate: 0.2 },
      stuck: { rate: 0.1 },
      'lose-answer': { rate: 0.1 },
    },
    setting: {
      ...ORDERLY,
      nodesCount: 5,
      podStartMsMax: 4000,
      requestMsMax: 2000,
      deliveryMsMax: 500,
    },
    cycle: [
      ['roll', 20, 3000],
      ['end-pod', 20, 3000],
      ['change-strategy', 20, 3000],
      ['end-pod', 20, 3000],
      ['cool-down', 20, 3000],
    ],
  },
  /** Requests that arrive late, held pods, strategies that change: every name of a node is asked for. */
  'late-requests': {
    profile: 'baseline',
    faults: {
      stuck: { rate: 0.25 },
      'lose-answer': { rate: 0.2 },
      kill: { rate: 0.1 },
      'pod-finalizer': { rate: 0.3 },
      'failing-pods': { rate: 0.15 },
    },
    setting: { ...ORDERLY, nodesCount: 4, podStartMsMax: 1000 },
    cycle: [
      ['roll', 20, 3000],
      ['end-pod', 20, 3000],
      ['roll', 20, 3000],
      ['end-pod', 20, 3000],
      ['change-strategy', 20, 3000],
      ['unready-pods', 20, 3000],
    ],
  },
  /**
   * The table forgets while creates are on their way. Of a DaemonSet whose status nobody has written yet nobody can
   * tell that anything was forgotten: only names are left as a fence.
   */
  'lost-states': {
    profile: 'baseline',
    faults: { stuck: { rate: 0.4 } },
    setting: { ...ORDERLY, ...ONE_AT_ONCE, nodesCount: 5, podStartMsMax: 1000 },
    cycle: [
      ['end-pod', 100, 1000],
      ['remake-set', 400, 1500],
      ['lose-view', 5000, 20_000],
    ],
  },
  /** Freezes that are lifted while work is left. */
  freezes: {
    profile: 'baseline',
    setting: { ...ORDERLY, ...ONE_AT_ONCE, nodesCount: 4, podStartMsMax: 1000 },
    cycle: [
      ['freeze-cluster', 200, 2000],
      ['roll', 200, 2000],
      ['end-pod', 200, 2000],
    ],
  },
  /** An edit is the last that a watcher could tell of for an hour or two, and its message comes through first. */
  'lost-ways': {
    profile: 'baseline',
    setting: { ...ORDERLY, ...ONE_AT_ONCE, nodesCount: 5, podStartMsMax: 400 },
    cycle: [
      ['lose-way', 1, 20],
      ['roll', 121 * 60_000, 150 * 60_000],
    ],
    stepsCount: 8,
  },
  /** The same in minutes: pods are not ready behind a report that is too old for a budget, and young enough otherwise. */
  'flapping-ways': {
    profile: 'baseline',
    setting: { ...ORDERLY, ...ONE_AT_ONCE, nodesCount: 6, podStartMsMax: 400 },
    cycle: [
      ['lose-way', 1, 20],
      ['roll', 6 * 60_000, 9 * 60_000],
    ],
    stepsCount: 24,
  },
  /**
   * Creates are refused and tried again for an hour or two in which nobody hears of the cluster; meanwhile nodes go.
   * Whoever believes such a view asks for pods on nodes that are long gone (protocol 1).
   */
  'silent-clusters': {
    profile: 'baseline',
    faults: { admission: { rate: 0.9 } },
    setting: { ...ORDERLY, ...ONE_AT_ONCE, nodesCount: 4, podStartMsMax: 400 },
    cycle: [
      ['end-pod', 500, 1500],
      ['end-pod', 500, 1500],
      ['lose-way', 1, 20],
      ['remove-node', 1000, 2000],
      ['remove-node', 30 * 60_000, 60 * 60_000],
      ['change-node', 1000, 2000],
      ['change-node', 60_000, 120_000],
    ],
    stepsCount: 14,
  },
  /** Functions compute for so long that their time is over between two calls (row 29). */
  'busy-functions': {
    profile: 'baseline',
    faults: { 'busy-function': { rate: 0.4 } },
    setting: { ...ORDERLY, ...ONE_AT_ONCE, nodesCount: 5, podStartMsMax: 400 },
    cycle: [
      ['end-pod', 200, 3000],
      ['end-pod', 200, 3000],
      ['roll', 200, 3000],
    ],
    stepsCount: 30,
  },
  /** A label that a DaemonSet selects by is taken off its nodes at once, or one by one, and put back (S14, ADR 0057). */
  'lost-labels': {
    profile: 'baseline',
    setting: { ...ORDERLY, ...SELECTING, nodesCount: 12, podStartMsMax: 400 },
    cycle: [
      ['strip-labels', 18 * 60_000, 25 * 60_000],
      ['strip-labels', 60_000, 12 * 60_000],
    ],
    stepsCount: 4,
  },
  /** Three DaemonSets under a policy are rolled at once, and runs die, freeze and send late: they share nodes. */
  'shared-nodes': {
    profile: 'baseline',
    faults: SHARING_FAULTS,
    setting: SHARING_SETTING,
    cycle: [
      ['roll', 20, 400],
      ['roll', 20, 400],
      ['roll', 15_000, 40_000],
    ],
    stepsCount: 36,
  },
  /** Releases under a policy, undone and paused in the middle, while nodes and pods come and go and functions die (S16, ADR 0055). */
  staged: {
    profile: 'baseline',
    isGuardedInHalf: true,
    faults: STAGED_FAULTS,
    setting: {
      ...STAGED_SETTING,
    },
    policies: [
      'maxUnavailable: 2\ncanary: {nodes: 1}\nsoak: 5m',
      'maxUnavailable: 2\ncanary: {nodes: 2}\nsoak: 6m',
      'maxUnavailable: 2\ncanary: {nodes: 2}\nsoak: 5m\nonHalt: rollback',
    ],
    cycle: [
      ['release', 5000, 60_000],
      ['unready-node', 5000, 120_000],
      ['end-pod', 5000, 60_000],
      ['change-node', 5000, 200_000],
      ['pause-rollout', 5000, 240_000],
      ['freeze-pods', 5000, 120_000],
      ['remake-node', 5000, 60_000],
      ['unready-pods', 5000, 240_000],
      ['restart-watcher', 5000, 120_000],
      ['remove-node', 5000, 200_000],
      ['pause-queue', 5000, 120_000],
      ['evict-pod', 5000, 300_000],
    ],
    stepsCount: 36,
  },
  /** The same by clocks that are off and are set, over gaps of hours, with messages that come an hour late, and twice (rows 14, 27, 89). */
  'wrong-clocks': {
    profile: 'baseline',
    isGuardedInHalf: true,
    faults: { ...STAGED_FAULTS, copy: { rate: 0.04 } },
    skewMsMax: 300_000,
    setting: {
      deliveryMsMax: 2000,
      requestMsMax: 500,
      ...rolling({ maxUnavailable: 2, maxSurge: 0 }),
      nodesCount: 5,
      podStartMsMax: 5000,
      copyMsMax: 60 * 60_000,
    },
    policies: [
      'maxUnavailable: 2\ncanary: {nodes: 1}\nsoak: 5m',
      'maxUnavailable: 2\ncanary: {nodes: 2}\nsoak: 20m',
      'maxUnavailable: 2\ncanary: {nodes: 2}\nsoak: 8m\nonHalt: rollback',
    ],
    cycle: [
      ['release', 5000, 240_000],
      ['step-clock', 5000, 240_000],
      ['unready-pods', 5000, 240_000],
      ['stall-queue', 5000, 1_200_000],
      ['release-ill', 5000, 400_000],
      ['step-clock', 5000, 240_000],
      ['lose-way', 5000, 400_000],
      ['unready-node', 5000, 240_000],
      ['release', 60_000, 1_200_000],
      ['end-pod', 5000, 240_000],
      ['freeze-pods', 5000, 60_000],
      ['restart-watcher', 5000, 240_000],
    ],
    stepsCount: 24,
  },
  /** Nobody hears of the cluster while the canary soaks, and its pods are not ready any more: silence is no success. */
  'silent-canaries': {
    profile: 'baseline',
    setting: {
      ...STAGED_SETTING,
      nodesCount: 5,
      podStartMsMax: 400,
    },
    policies: ['maxUnavailable: 2\ncanary: {nodes: 2}\nsoak: 6m'],
    cycle: [
      // Past the soak: what ran before is good by then, so the release has a canary.
      ['end-pod', 7 * 60_000, 8 * 60_000],
      ['release', 30_000, 90_000],
      ['lose-way', 100, 2000],
      ['unready-node', 100, 2000],
      ['unready-node', 6 * 60_000, 12 * 60_000],
    ],
    stepsCount: 15,
  },
  /** The same of images that do not get well: each is halted on its canary. */
  'ailing-releases': {
    profile: 'baseline',
    isGuardedInHalf: true,
    faults: STAGED_FAULTS,
    setting: {
      ...STAGED_SETTING,
      nodesCount: 5,
      podStartMsMax: 2000,
    },
    policies: [
      'maxUnavailable: 2\ncanary: {nodes: 1}\nsoak: 5m',
      'maxUnavailable: 2\ncanary: {nodes: 2}\nsoak: 5m\nonHalt: rollback',
    ],
    cycle: [
      ['end-pod', 60_000, 120_000],
      ['release-ill', 60_000, 420_000],
      ['change-node', 5000, 60_000],
      ['release', 60_000, 600_000],
    ],
    stepsCount: 12,
  },
  /** Ill images under admission, once the release before was proven and copied: each rollback ends (ADR 0063). */
  'guarded-rollbacks': {
    profile: 'baseline',
    faults: STAGED_FAULTS,
    setting: {
      ...STAGED_SETTING,
      nodesCount: 5,
      podStartMsMax: 2000,
      isGuarded: true,
    },
    policies: [
      'maxUnavailable: 2\ncanary: {nodes: 1}\nsoak: 5m\nonHalt: rollback',
      'maxUnavailable: 2\ncanary: {nodes: 2}\nsoak: 5m\nonHalt: rollback',
    ],
    cycle: [
      ['end-pod', 60_000, 120_000],
      ['release', 8 * 60_000, 25 * 60_000],
      ['release-ill', 5000, 400_000],
      ['remake-node', 25 * 60_000, 40 * 60_000],
    ],
    stepsCount: 12,
  },
  /** One who may edit a namespace of his own does what he may, and a quiet DaemonSet next door keeps its pods (issue 40). */
  'hostile-tenant': {
    profile: 'baseline',
    setting: { ...ORDERLY, ...QUIET, hasTenant: true, nodesCount: 3, podStartMsMax: 400 },
    cycle: [
      ['hostile-tenant', 200, 30_000],
      ['hostile-tenant', 5000, 180_000],
      ['hostile-tenant', 200, 30_000],
      ['restart-watcher', 1000, 60_000],
    ],
    stepsCount: 8,
  },
  ...STAGE_HUNTS,
  ...COPILOT_HUNTS,
  ...START_UP_HUNTS,
  ...FREEZE_HUNTS,
  ...MEETING_HUNTS,
  /** No status is ever taken, while nodes change all the time: looks that are wanted again and again (L5). */
  'refused-status': {
    profile: 'baseline',
    faults: { 'status-conflict': { rate: 1 } },
    setting: { ...ORDERLY, nodesCount: 4, podStartMsMax: 400 },
    cycle: [
      ['change-node', 50, 300],
      ['annotate-objects', 50, 300],
      ['end-pod', 50, 300],
    ],
  },
  /**
   * Nodes change, go and come back under their names while nothing else happens: whom a change concerns, and is not
   * named by the watcher, nobody wakes before the settling is judged (protocol 20, ADR 0079).
   */
  'changing-nodes': {
    profile: 'baseline',
    setting: { ...ORDERLY, nodesCount: 4, setsCount: 3, podStartMsMax: 400 },
    cycle: [
      ['change-node', 20, 400],
      ['change-node', 5000, 60_000],
      ['remake-node', 20, 400],
      ['change-node', 5000, 60_000],
      ['remove-node', 5000, 60_000],
      ['change-set', 20, 400],
      ['change-node', 5000, 60_000],
      ['new-watcher', 1000, 20_000],
      ['change-node', 5000, 60_000],
      ['new-watcher', 30_000, 120_000],
      ['change-node', 5000, 60_000],
    ],
    stepsCount: 22,
  },
} as const satisfies Readonly<Record<string, Hunt>>;

/** Name of a hunt. */
export type HuntName = keyof typeof HUNTS;

/** Their names. */
export const HUNT_NAMES = Object.keys(HUNTS) as readonly HuntName[];

/** Three seeds of each are a part of random plays (test/simulation/random.test.ts). */
export const RANDOM_HUNTS = [
  // Takeover, and copilot beside a built-in controller; clocks that are off.
  'staged',
  'ailing-releases',
  'wrong-clocks',
  'guarded-rollbacks',
  'revert-after-canary',
  'undo-then-revert',
  'back-and-forth',
  'scale-in',
  'pools-to-zero',
  'flaky-nodes',
  'beside-built-in',
  'shaken-copilot',
  'ill-beside-built-in',
  'hostile-tenant',
  'stack-freezes',
  'freezes-of-stages',
  'freezes-of-adoptions',
  'overtaken-backlogs',
  'twin-names',
  'start-ups',
  'start-ups-of-sleepers',
] as const satisfies readonly HuntName[];

/** True of a hunt, false of a profile. */
export function isHuntName(name: string): name is HuntName {
  return Object.hasOwn(HUNTS, name);
}

/** The plan of a seed in a hunt. */
export function drawHunt(name: HuntName, seed: number): SimulationPlan {
  const hunt: Hunt = HUNTS[name];
  const plan = drawPlan({ seed, profile: hunt.profile, stepsCount: 0 });
  return {
    ...plan,
    profile: name,
    setting: {
      ...plan.setting,
      ...hunt.setting,
      ...drawPolicy(hunt, mixSeed(seed, name, 'policy')),
      ...drawGuard(hunt, new Dice(mixSeed(seed, name, 'guard'))),
      ...drawSkew(hunt, new Dice(mixSeed(seed, name, 'skew'))),
    },
    faults: { ...plan.faults, ...hunt.faults },
    demands: [],
    steps: drawSteps(hunt, new Dice(mixSeed(seed, name))),
  };
}

function drawPolicy({ policies }: Hunt, seed: number): Partial<SimulationPlan['setting']> {
  return policies === undefined ? {} : { policy: new Dice(seed).pick(policies) };
}

function drawGuard({ isGuardedInHalf = false }: Hunt, dice: Dice): { readonly isGuarded?: true } {
  return isGuardedInHalf && dice.chance(0.5) ? { isGuarded: true } : {};
}

function drawSkew(
  { skewMsMax }: Hunt,
  dice: Dice,
): Partial<Pick<SimulationPlan['setting'], 'skewMs'>> {
  if (skewMsMax === undefined) return {};
  const skew = (): number => dice.between(-skewMsMax, skewMsMax);
  return { skewMs: { api: skew(), functions: skew(), watcher: skew(), kubelets: skewMsMax } };
}

function drawSteps({ cycle, stepsCount = STEPS }: Hunt, dice: Dice): readonly PlanStep[] {
  return Array.from({ length: stepsCount }, (_, index): PlanStep => {
    const [kind, least, most] = cycle[index % cycle.length] ?? ['roll', 0, 0];
    return { kind, dice: dice.between(0, 2 ** 31), waitMs: dice.between(least, most) };
  });
}
