/** What a hunt is made of, and what several share (hunts.ts). */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { StepKind } from './deeds.ts';
import type { SimulationPlan } from './plan.ts';

export interface Hunt {
  readonly profile: string;
  readonly faults?: SimulationPlan['faults'];
  readonly setting?: Partial<SimulationPlan['setting']>;
  /** Each clock is off by so much at most, either way, by the seed: the API server's, functions', watcher's and kubelets'. */
  readonly skewMsMax?: number;
  /** In half of the seeds admission is installed. */
  readonly isGuardedInHalf?: boolean;
  /** One of these is every DaemonSet's, by the seed. */
  readonly policies?: readonly string[];
  /** Steps with how long is waited after each; again and again. */
  readonly cycle: readonly (readonly [kind: StepKind, leastMs: number, mostMs: number])[];
  /** How many; `STEPS` unless told. */
  readonly stepsCount?: number;
}

/** No clock is off, and nothing is slow. */
export const ORDERLY = {
  skewMs: { api: 0, functions: 0, watcher: 0 },
  deliveryMsMax: 20,
  requestMsMax: 20,
};

/** Of releases under a policy: runs that die, freeze, overlap and send late. */
export const STAGED_FAULTS = {
  copy: { rate: 0.1 },
  kill: { rate: 0.03 },
  freeze: { rate: 0.03 },
  stuck: { rate: 0.05 },
  'lose-answer': { rate: 0.05 },
} as const;

/** A DaemonSet that rolls by itself, within these bounds. */
export const rolling = (bounds: JsonObject): { readonly spec: JsonObject } => ({
  spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: bounds }, minReadySeconds: 0 },
});

/** Of releases under a policy: six nodes, of which two may be down. */
export const STAGED_SETTING = {
  ...ORDERLY,
  ...rolling({ maxUnavailable: 2, maxSurge: 0 }),
  nodesCount: 6,
  podStartMsMax: 5000,
};
