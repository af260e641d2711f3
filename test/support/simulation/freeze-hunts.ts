/** Hunts of freezes: of the stack and of DaemonSets by name, while work is under way in worlds of every kind (protocol 7, 13; S17). */
import { ORDERLY, type Hunt } from './hunt.ts';

const ROLLING = {
  spec: {
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 3, maxSurge: 0 } },
    minReadySeconds: 0,
  },
};

/** Freezes in the middle of creates and deletes of many batches, and what is changed while all stands still. */
const CYCLE = [
  ['roll', 20, 2000],
  ['freeze-stack', 20, 5000],
  ['end-pod', 20, 2000],
  ['change-node', 20, 2000],
  ['freeze-stack', 20, 15_000],
  ['change-set', 20, 2000],
  ['freeze-stack', 20, 5000],
] as const;

const SETTING = { ...ORDERLY, ...ROLLING, nodesCount: 9, setsCount: 2, podStartMsMax: 1000 };

/** The hunts by name. */
export const FREEZE_HUNTS = {
  'stack-freezes': {
    profile: 'baseline',
    setting: { ...SETTING, requestMsMax: 300 },
    cycle: CYCLE,
  },
  /** Runs that die, stand still for a minute, overlap and send late. */
  'freezes-of-sleepers': {
    profile: 'dying-functions',
    setting: { ...SETTING, requestMsMax: 1500 },
    cycle: CYCLE,
  },
  /** Beside everything that may happen, and a cluster that is frozen by itself. */
  'freezes-in-chaos': {
    profile: 'combined-chaos',
    setting: { nodesCount: 6, setsCount: 2 },
    cycle: [
      ...CYCLE,
      ['freeze-cluster', 20, 4000],
      ['roll', 20, 4000],
      ['restart-watcher', 20, 4000],
    ],
  },
  /** Under a policy: canaries, soaks and rollbacks that a freeze holds up. */
  'freezes-of-stages': {
    profile: 'baseline',
    setting: { ...SETTING },
    policies: [
      'maxUnavailable: 2\ncanary: {nodes: 1}\nsoak: 1m',
      'maxUnavailable: 2\ncanary: {nodes: 1}\nsoak: 1m\nonHalt: rollback',
    ],
    cycle: [
      ['release', 1000, 90_000],
      ['freeze-stack', 1000, 60_000],
      ['end-pod', 1000, 30_000],
      ['freeze-stack', 1000, 60_000],
    ],
    stepsCount: 24,
  },
} as const satisfies Readonly<Record<string, Hunt>>;
