/** Hunts of what a rollout is staged by beside images: the order of its groups, and the ways back (S16, ADR 0055). */
import { ORDERLY, STAGED_FAULTS, STAGED_SETTING, rolling, type Hunt } from './hunt.ts';

const BACK = {
  profile: 'baseline',
  faults: STAGED_FAULTS,
  setting: { ...STAGED_SETTING, podStartMsMax: 2000 },
  policies: [
    'maxUnavailable: 2\ncanary: {nodes: 1}\nsoak: 6m',
    'maxUnavailable: 2\ncanary: {nodes: 2}\nsoak: 6m\nonHalt: rollback',
  ],
} as const;

/** Until a release passed all its steps. */
const GOOD_MS = 40 * 60_000;

/** The hunts. */
export const STAGE_HUNTS = {
  /** Releases that go pool by pool, while nodes and pods come and go (`order`, S16). */
  'ordered-groups': {
    profile: 'baseline',
    faults: STAGED_FAULTS,
    setting: {
      ...ORDERLY,
      ...rolling({ maxUnavailable: 2, maxSurge: 0 }),
      nodesCount: 8,
      poolsCount: 3,
      podStartMsMax: 5000,
    },
    policies: [
      'maxUnavailable: 2\ncanary: {nodes: 1}\nsoak: 2m\norder: [{label: pool}]',
      'maxUnavailable: 2\ncanary: {nodes: 2}\nsoak: 2m\norder: [{label: pool, values: [p2]}]',
      'maxUnavailable: 2\ncanary: {nodes: 1}\nsoak: 1m\norder: [{label: pool, values: [p0], last: true}, {label: pool}]',
    ],
    cycle: [
      ['end-pod', 200_000, 300_000],
      ['release', 60_000, 900_000],
      ['unready-node', 5000, 120_000],
      ['release', 200_000, 900_000],
      ['restart-watcher', 5000, 120_000],
      ['end-pod', 5000, 60_000],
      ['release', 60_000, 600_000],
      ['change-node', 5000, 120_000],
      ['freeze-pods', 5000, 60_000],
    ],
    stepsCount: 27,
  },
  /** An autoscaler takes most nodes while a release soaks, and brings them back: percentages are of those that are left (S3). */
  'scale-in': {
    profile: 'baseline',
    faults: STAGED_FAULTS,
    setting: {
      ...ORDERLY,
      ...rolling({ maxUnavailable: 1, maxSurge: 0 }),
      nodesCount: 12,
      podStartMsMax: 5000,
    },
    policies: [
      'maxUnavailable: 34%\ncanary: {nodes: 1}\nsoak: 8m',
      'maxUnavailable: 50%\ncanary: {nodes: 25%}\nsoak: 8m',
      'maxUnavailable: 67%\ncanary: {nodes: 2}\nsoak: 12m\nonHalt: rollback',
    ],
    cycle: [
      ['end-pod', 30_000, 60_000],
      ['release', 30_000, 90_000],
      ['scale-in', 10 * 60_000, 20 * 60_000],
      ['scale-out', 60_000, 600_000],
      ['restart-watcher', 5000, 60_000],
    ],
    stepsCount: 15,
  },
  /** Releases that go pool by pool, each step agreed to, while an autoscaler takes pools to zero and brings them back (L1). */
  'pools-to-zero': {
    profile: 'baseline',
    faults: STAGED_FAULTS,
    setting: {
      ...ORDERLY,
      ...rolling({ maxUnavailable: 2, maxSurge: 0 }),
      nodesCount: 8,
      poolsCount: 4,
      podStartMsMax: 5000,
    },
    policies: [
      'maxUnavailable: 2\ncanary: {nodes: 1}\nsoak: 1m\napproval: each-step\norder: [{label: pool}]',
      'maxUnavailable: 2\ncanary: {nodes: 2}\nsoak: 1m\napproval: each-step\norder: [{label: pool, values: [p2]}]',
    ],
    cycle: [
      ['release', 150_000, 300_000],
      ['approve-rollout', 150_000, 300_000],
      ['approve-rollout', 150_000, 300_000],
      ['approve-rollout', 5000, 300_000],
      ['scale-pool', 5000, 120_000],
      ['restart-watcher', 5000, 60_000],
    ],
    stepsCount: 11,
  },
  /** Harmless releases while one node flaps, be it a canary or not: it is drawn once (S16). */
  'flaky-nodes': {
    profile: 'baseline',
    faults: STAGED_FAULTS,
    setting: {
      ...ORDERLY,
      ...rolling({ maxUnavailable: 4, maxSurge: 0 }),
      nodesCount: 8,
      podStartMsMax: 5000,
    },
    policies: [
      'maxUnavailable: 4\ncanary: {nodes: 2}\nsoak: 20m',
      'maxUnavailable: 4\ncanary: {nodes: 3}\nsoak: 20m',
    ],
    cycle: [
      ['release', 120_000, 180_000],
      ['flap-node', 120_000, 150_000],
      ['flap-node', 120_000, 150_000],
      ['flap-node', 120_000, 150_000],
      ['flap-node', 120_000, 150_000],
      ['flap-node', 1_500_000, 1_800_000],
    ],
    stepsCount: 24,
  },
  /** The first release never runs; a second one takes its place while nodes join and lose their pods: none is given the first (S16). */
  'first-never-runs': {
    profile: 'baseline',
    faults: STAGED_FAULTS,
    setting: {
      ...STAGED_SETTING,
      spec: {
        ...STAGED_SETTING.spec,
        template: {
          metadata: { labels: { app: 'agent' } },
          spec: {
            containers: [{ name: 'main', image: 'agent:1-simulate-bad-image' }],
            nodeSelector: {},
            tolerations: [],
          },
        },
      },
    },
    policies: [
      'maxUnavailable: 2\ncanary: {nodes: 1}\nsoak: 6m',
      'maxUnavailable: 1\ncanary: {nodes: 2}\nsoak: 6m\nonHalt: rollback',
    ],
    cycle: [
      ['restart-watcher', 60_000, 600_000],
      ['end-pod', 30_000, 120_000],
      ['release', 30_000, 150_000],
      ['remake-node', 30_000, 60_000],
      ['end-pod', 5000, 60_000],
      ['end-pod', GOOD_MS, 60 * 60_000],
    ],
    stepsCount: 12,
  },
  /** A release is found bad long after its canary, and Git is reverted; nodes join and lose their pods meanwhile (S16). */
  'revert-after-canary': {
    ...BACK,
    cycle: [
      ['release', GOOD_MS, 60 * 60_000],
      ['revert-release', 150_000, 200_000],
      ['end-pod', 5000, 30_000],
      ['remake-node', GOOD_MS, 60 * 60_000],
    ],
    stepsCount: 12,
  },
  /** The same by an operator's order, and then in Git. */
  'undo-then-revert': {
    ...BACK,
    cycle: [
      ['release', GOOD_MS, 60 * 60_000],
      ['undo-rollout', 200_000, 240_000],
      ['end-pod', 5000, 30_000],
      ['remake-node', GOOD_MS, 60 * 60_000],
    ],
    stepsCount: 12,
  },
  /** Good A, good B, back to A, B again: B has its canary. */
  'back-and-forth': {
    ...BACK,
    cycle: [
      ['release', GOOD_MS, 60 * 60_000],
      ['revert-release', 150_000, 900_000],
      ['revert-release', 5000, GOOD_MS],
      ['end-pod', 5000, 600_000],
    ],
    stepsCount: 12,
  },
} as const satisfies Readonly<Record<string, Hunt>>;
