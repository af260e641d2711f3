/** Hunts of start-up taints: nodes join, go and come back under their names, while daemons start, fail and roll (S19). */
import { ORDERLY, type Hunt } from './hunt.ts';

const ROLLING = {
  spec: {
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
    minReadySeconds: 0,
  },
};

const CYCLE = [
  ['scale-in', 500, 8000],
  ['scale-out', 500, 12_000],
  ['roll', 20, 4000],
  ['remake-node', 200, 6000],
  ['end-pod', 20, 2000],
  ['unready-pods', 200, 4000],
] as const;

const SETTING = { ...ORDERLY, ...ROLLING, nodesCount: 6, setsCount: 3, podStartMsMax: 4000 };

/** The hunts by name. */
export const START_UP_HUNTS = {
  'start-ups': {
    profile: 'baseline',
    setting: { ...SETTING, startUp: 'labelled' },
    cycle: CYCLE,
  },
  /** Requests that are late, unanswered or refused, runs that die and overlap, views that lag. */
  'start-ups-of-sleepers': {
    profile: 'dying-functions',
    faults: {
      copy: { rate: 0.2 },
      stuck: { rate: 0.1 },
      'lose-answer': { rate: 0.1 },
      'replica-lag': { rate: 0.2 },
      'failing-pods': { rate: 0.1 },
    },
    setting: { ...SETTING, startUp: 'all', requestMsMax: 1500 },
    cycle: [...CYCLE, ['freeze-pods', 200, 4000], ['freeze-stack', 200, 4000]],
  },
} as const satisfies Readonly<Record<string, Hunt>>;
