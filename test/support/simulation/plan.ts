/**
 * What happens to one simulated world, as data: its setting, its faults, its steps.
 *
 * A plan is drawn from a seed and a profile (draw-plan.ts), played (play-plan.ts), shrunk when a promise broke
 * (shrink-plan.ts), and kept as JSON. Every fault and every step has randomness of its own, so that taking one away
 * leaves the others as they are. A name that nobody knows is refused: a mistyped fault must never mean "no fault"
 * (faults row 16).
 */
import assert from 'node:assert/strict';
import type { JsonObject } from '@rollcall/base/json.ts';
import { FAULTS, STEPS, type Deed, type Fault, type StepKind } from './deeds.ts';

/** Version of the format of kept plans. */
export const PLAN_SCHEMA = 'rollcall-simulation-plan/v1';

/** When a fault fires: at a share of its opportunities, or at exactly these (counted from 1). */
export type FaultRule = { readonly rate: number } | { readonly at: readonly number[] };

/** One step: its particulars come from `dice` alone; afterwards `waitMs` of virtual time pass. */
export interface PlanStep {
  readonly kind: StepKind;
  readonly dice: number;
  readonly waitMs: number;
}

/** How the world begins, and how slow it is while faults are on. */
export interface Setting {
  readonly nodesCount: number;
  readonly skewMs: {
    readonly api: number;
    readonly functions: number;
    readonly watcher: number;
    /** Longest that a kubelet's clock is off, either way: each has its own. */
    readonly kubelets?: number;
  };
  /** How late the copy of a message may be; a minute unless told. */
  readonly copyMsMax?: number;
  /** Longest time that a delivery takes, and a request. */
  readonly deliveryMsMax: number;
  readonly requestMsMax: number;
  /** Objects in a page of a watcher's list. */
  readonly pageLimit: number;
  /** Longest time that a pod's containers take to become ready; 300 ms each unless told. */
  readonly podStartMsMax?: number;
  /** How many DaemonSets steps choose from, all made at the start; unless told two, of which one is. */
  readonly setsCount?: number;
  /** Bounds other than the published ones: pods in a run, deltas in a message, bytes in a slice, snapshots, positions in META. */
  readonly burstPodsMax?: number;
  readonly deltasMax?: number;
  readonly sliceBytesMax?: number;
  readonly snapshotMs?: number;
  readonly positionsMax?: number;
  /** What of the first DaemonSet's spec is given; the rest is drawn. */
  readonly spec?: JsonObject;
  /** The policy of every DaemonSet that is there at the start. */
  readonly policy?: string;
  /** Admission is installed: what is no pod of the present template says of which copy it is (ADR 0063). */
  readonly isGuarded?: boolean;
  /** Nodes that are there at the start bear the label `pool`, with so many values in turn. */
  readonly poolsCount?: number;
  /** Somebody may edit a namespace of his own, and is no friend; the takeover has its sentinel. */
  readonly hasTenant?: true;
  /** Each DaemonSet that is there at the start has a twin of its name in another namespace. */
  readonly hasTwins?: true;
  /** Nodes that join have a start-up taint, which those DaemonSets are waited for that are labelled (all at the start are), or all. */
  readonly startUp?: 'labelled' | 'all';
  /** A built-in controller is at work, and we are its copilot; with the right to restore templates, or without. */
  readonly copilot?: 'restores' | 'deletes';
}

/** Everything that happens to one world. */
export interface SimulationPlan {
  readonly schema: typeof PLAN_SCHEMA;
  readonly profile: string;
  readonly seed: number;
  readonly setting: Setting;
  readonly faults: Readonly<Partial<Record<Fault, FaultRule>>>;
  /** What must have happened at least once, or the run fails (M1); provoked if the steps did not bring it. */
  readonly demands: readonly Deed[];
  readonly steps: readonly PlanStep[];
}

/** Reads a kept plan; throws and names what it does not know. */
export function parsePlan(value: unknown): SimulationPlan {
  const plan = value as SimulationPlan; // each part is checked here
  assert.equal(plan.schema, PLAN_SCHEMA, 'not a plan of this schema');
  for (const [fault, rule] of Object.entries(plan.faults)) {
    demandName('fault', fault, FAULTS);
    assert.ok('rate' in rule || 'at' in rule, `${fault} has neither rate nor at`);
  }
  for (const { kind, dice, waitMs } of plan.steps) {
    demandName('step', kind, STEPS);
    assert.ok(Number.isInteger(dice) && waitMs >= 0, `a step ${kind} has no dice or no wait`);
  }
  for (const deed of plan.demands) demandName('deed', deed, [...FAULTS, ...STEPS]);
  return plan;
}

function demandName(what: string, name: string, known: readonly string[]): void {
  assert.ok(known.includes(name), `no ${what} is called ${name}`);
}
