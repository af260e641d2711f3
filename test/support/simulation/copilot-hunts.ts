/** Hunts in which a built-in controller is at work and Rollcall times deletions beside it (ADR 0056). */
import { ORDERLY, STAGED_FAULTS, type Hunt } from './hunt.ts';

const ON_DELETE = { updateStrategy: { type: 'OnDelete' }, minReadySeconds: 0 } as const;

/** Five nodes, and the optional right. */
const RESTORING = {
  ...ORDERLY,
  spec: ON_DELETE,
  nodesCount: 5,
  podStartMsMax: 2000,
  copilot: 'restores',
} as const;

/** The hunts. */
export const COPILOT_HUNTS = {
  /** Releases beside a built-in controller that is late, twice or away, while nodes and pods come and go (S4, S16, ADR 0056). */
  'beside-built-in': {
    profile: 'baseline',
    faults: STAGED_FAULTS,
    setting: {
      ...ORDERLY,
      spec: ON_DELETE,
      nodesCount: 6,
      podStartMsMax: 5000,
      copilot: 'deletes',
    },
    policies: [
      'maxUnavailable: 2\ncanary: {nodes: 1}\nsoak: 5m',
      'maxUnavailable: 2\ncanary: {nodes: 2}\nsoak: 5m',
      'maxUnavailable: 1\ncanary: {nodes: 2}\nsoak: 5m\nonHalt: rollback',
    ],
    cycle: [
      ['release', 5000, 60_000],
      ['end-pod', 5000, 120_000],
      ['slow-built-in', 5000, 120_000],
      ['unready-node', 5000, 120_000],
      ['drain-node', 5000, 240_000],
      ['pause-rollout', 5000, 240_000],
      ['leaderless', 5000, 240_000],
      ['freeze-pods', 5000, 120_000],
      ['remake-node', 5000, 60_000],
      ['unready-pods', 5000, 240_000],
      ['restart-watcher', 5000, 120_000],
      ['remove-node', 5000, 200_000],
      ['refuse-namespace', 5000, 200_000],
      ['change-node', 5000, 200_000],
      ['evict-pod', 5000, 300_000],
    ],
    stepsCount: 45,
  },
  /** What Rollcall works by is taken from it in the middle: rights, the opt-in, the strategy, the mode. */
  'shaken-copilot': {
    profile: 'baseline',
    faults: STAGED_FAULTS,
    setting: RESTORING,
    policies: [
      'maxUnavailable: 2\ncanary: {nodes: 1}\nsoak: 5m',
      'maxUnavailable: 2\ncanary: {nodes: 2}\nsoak: 5m\nonHalt: rollback',
    ],
    cycle: [
      ['release', 1000, 300_000],
      ['opt-out', 1000, 240_000],
      ['change-mode', 1000, 400_000],
      ['release', 1000, 300_000],
      ['take-rights', 1000, 400_000],
      ['end-pod', 5000, 120_000],
      ['roll-by-itself', 1000, 240_000],
      ['freeze-pods', 5000, 60_000],
      ['cool-down', 100, 5000],
    ],
    stepsCount: 36,
  },
  /** Images that do not get well beside a built-in controller: halted on the canary, and restored by who has the right. */
  'ill-beside-built-in': {
    profile: 'baseline',
    faults: STAGED_FAULTS,
    setting: RESTORING,
    policies: [
      'maxUnavailable: 2\ncanary: {nodes: 1}\nsoak: 5m\nonHalt: rollback',
      'maxUnavailable: 2\ncanary: {nodes: 2}\nsoak: 5m\nonHalt: rollback',
      'maxUnavailable: 2\ncanary: {nodes: 1}\nsoak: 5m',
    ],
    cycle: [
      ['end-pod', 60_000, 120_000],
      ['release-ill', 1000, 240_000],
      ['heal-back', 1000, 420_000],
      ['end-pod', 5000, 60_000],
      ['restart-watcher', 5000, 60_000],
      ['take-rights', 60_000, 600_000],
      ['release', 60_000, 600_000],
    ],
    stepsCount: 21,
  },
} as const satisfies Readonly<Record<string, Hunt>>;
