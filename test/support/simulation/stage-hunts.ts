/** Hunts of what a rollout is staged by beside images: the order of its groups, and the ways back (S16, ADR 0055). */
import { ORDERLY, STAGED_FAULTS, STAGED_SETTING, rolling } from './hunt.ts';
import type { Hunt } from './hunt.ts';

const BACK = {
  profile: 'baseline',
  faults: STAGED_FAULTS,
  setting: { ...STAGED_SETTING, podStartMsMax: 2000 },
  policies: [
    'maxUnavailable: 2\ncanary: {nodes: 1}\nsoak: 6m',
    'maxUnavailable: 2\ncanary: {nodes: 2}\nsoak: 6m\nonBreach: rollback',
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
