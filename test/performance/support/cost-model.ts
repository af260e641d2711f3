/**
 * From the use of single changes to dollars: the formula of docs/scale.md.
 *
 *   cluster = Σ over kinds of change: times a month × (requests, units, invocations × prices)
 *   stack   = idle polling + alarms + dashboard + metrics + key, the same for one cluster and for ten thousand
 *
 * What a month holds is assumed, and named here; what one change costs is counted (counted-changes.ts), durations follow
 * from the latencies assumed (test/support/model/assumed-latencies.ts) and memory is that of serverless.yml. Free tiers,
 * data transfer, NAT and interface endpoints are left out (ADR 0021 has the latter).
 */
import { MODEL_FUNCTIONS } from '../../support/model/model-world.ts';
import type { ModelFunction, ModelUse } from '../../support/model/model-world.ts';
import { sumOf } from '../../support/model/model-use.ts';
import {
  MONTH_HOURS,
  dollarsOfUsage,
  gigabyteSecondsOf,
  totalOf,
} from '../../../src/core/cost/prices.ts';
import type { Dollars } from '../../../src/core/cost/prices.ts';
import { STACK_DOLLARS } from '../../../src/core/cost/stack-price.ts';

/** Kinds of change that are counted. */
export const CHANGE_KINDS = ['node-change', 'pod-restart', 'rollout'] as const;

export type ChangeKind = (typeof CHANGE_KINDS)[number];

/** What a cluster of ten nodes and ten DaemonSets sees in a month, beside quiet days. */
const TIMES_A_MONTH: Readonly<Record<ChangeKind, number>> = {
  // Spec users-want 4.5: some fifty effective changes of a node in a month.
  'node-change': 10 * 50,
  // Each of a hundred pods once.
  'pod-restart': 100,
  // Each DaemonSet twice.
  rollout: 20,
};

/** Issue 16: a thousand quiet clusters a month, and a rollout over a thousand nodes. Issue 43: what of it is the log's. */
export const GOALS = {
  quietMonthDollars: 25,
  rolloutDollars: 0.02,
  writeUnitsPerPod: 25,
  logShare: 0.1,
} as const;

const DAYS = MONTH_HOURS / 24;

/** Megabytes of a function. */
export type MemoryOf = (name: ModelFunction) => number;

/** What a use costs. */
export function dollarsOf(use: ModelUse, memoryOf: MemoryOf): Dollars {
  const gigabyteSeconds = MODEL_FUNCTIONS.reduce(
    (sum, name) => sum + gigabyteSecondsOf(use[name].billedMs, memoryOf(name)),
    0,
  );
  return dollarsOfUsage({
    sqsRequests: sumOf(use, 'sqsRequests'),
    readUnits: sumOf(use, 'readUnits'),
    writeUnits: sumOf(use, 'writeUnits'),
    invocations: sumOf(use, 'invocations'),
    gigabyteSeconds,
  });
}

/** Dollars a month of so many clusters in which nothing happens, by what they are paid for. */
export function quietMonth(day: ModelUse, clusters: number, memoryOf: MemoryOf): Dollars {
  const one = Object.entries(dollarsOf(day, memoryOf));
  return Object.fromEntries(one.map(([of, dollars]) => [of, dollars * DAYS * clusters])) as Dollars; // the same ones
}

/** Dollars a month of the stack itself, without its schedules, which are counted here. */
function stackDollars(): number {
  const { polling, alarms, metrics, dashboard, key } = STACK_DOLLARS;
  return polling + alarms + metrics + dashboard + key;
}

export interface Counted {
  readonly changes: ReadonlyMap<ChangeKind, ModelUse>;
  /** A quiet day of a cluster of ten nodes and ten DaemonSets, and of the stack itself. */
  readonly quietDay: { readonly cluster: ModelUse; readonly stack: ModelUse };
  /** The function fleet's schedule, without any FleetDaemonSet: a month. */
  readonly fleetTurns: Dollars;
  readonly memoryOf: MemoryOf;
}

/** Dollars a month for fleets of 1, 10, 1,000 and 10,000 such clusters. */
export function monthTable({
  changes,
  quietDay,
  fleetTurns,
  memoryOf,
}: Counted): readonly Readonly<
  Record<'clusters' | 'stack' | 'all clusters' | 'total' | 'per cluster', number>
>[] {
  const cluster = [...changes].reduce(
    (sum, [kind, use]) => sum + TIMES_A_MONTH[kind] * totalOf(dollarsOf(use, memoryOf)),
    totalOf(quietMonth(quietDay.cluster, 1, memoryOf)),
  );
  const stack =
    stackDollars() + totalOf(quietMonth(quietDay.stack, 1, memoryOf)) + totalOf(fleetTurns);
  return [1, 10, 1_000, 10_000].map((clusters) => {
    const all = clusters * cluster;
    const total = stack + all;
    return { clusters, stack, 'all clusters': all, total, 'per cluster': total / clusters };
  });
}
