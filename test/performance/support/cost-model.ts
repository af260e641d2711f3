/**
 * From the use of single changes to dollars a month: the formula of docs/scale.md.
 *
 *   cluster = Σ over kinds of change: times a month × (requests, units, invocations × prices)
 *   stack   = idle polling + alarms + dashboard + metrics + key, the same for one cluster and for ten thousand
 *
 * What a month holds is assumed, and named here; what one change costs is counted by the benchmark. Free tiers, data
 * transfer, NAT and interface endpoints are left out (ADR 0021 has the latter).
 */
import type { AwsUse } from './aws-meter.ts';
import { MONTH_HOURS, PRICES } from './aws-prices.ts';
import type { DayUse } from './quiet-day.ts';

/** Kinds of change that are counted. */
export const EVENT_KINDS = ['heartbeat', 'node-change', 'pod-restart', 'rollout'] as const;

/** One of them. */
export type EventKind = (typeof EVENT_KINDS)[number];

/** What one change uses. */
export type EventUse = Omit<AwsUse, 'emptyReceives'> & { readonly invocations: number };

/** What a cluster of ten nodes and ten DaemonSets sees in a month. */
const TIMES_A_MONTH: Readonly<Record<EventKind, number>> = {
  // Every ten minutes.
  heartbeat: 6 * MONTH_HOURS,
  // Spec users-want 4.5: some fifty effective changes of a node in a month.
  'node-change': 10 * 50,
  // Each of a hundred pods once.
  'pod-restart': 100,
  // Each DaemonSet twice.
  rollout: 20,
};

/** Assumed, not measured: of all functions, with waiting for API servers. */
const BILLED_SECONDS = 0.15;
const MEMORY_GB = 1;
const LOG_KB_PER_INVOCATION = 1;
const BYTES_PER_GB = 1e9;
const BYTES_PER_KB = 1e3;

/** Mappings with a concurrency cap keep five pollers of twenty seconds each. */
const POLLERS = 5;
const POLL_SECONDS = 20;
const FIFO_MAPPINGS = 4;
const STANDARD_MAPPINGS = 4;
/** Rounded up from infra/alarms.yml and the metrics of docs/reference.md by function. */
const ALARMS = 30;
const METRICS = 60;

const DAYS = MONTH_HOURS / 24;

/** Dollars a month of the days in which nothing happens; each hint leads to a look like a heartbeat's. */
function quietDollars(day: DayUse, look: EventUse | undefined): number {
  const looks = look === undefined ? 0 : day.hints * changeDollars(look);
  return DAYS * (changeDollars(day) + looks);
}

/** Dollars of one change of a kind. */
function changeDollars(use: EventUse): number {
  const { sqsRequests, readUnits, writeUnits, invocations } = use;
  const lambda = PRICES.invocation + BILLED_SECONDS * MEMORY_GB * PRICES.gigabyteSecond;
  const logs = ((LOG_KB_PER_INVOCATION * BYTES_PER_KB) / BYTES_PER_GB) * PRICES.logGigabyte;
  return (
    sqsRequests * PRICES.fifoRequest +
    readUnits * PRICES.readUnit +
    writeUnits * PRICES.writeUnit +
    invocations * (lambda + logs)
  );
}

/** Dollars a month of the stack itself. */
function stackDollars(): number {
  const receives = (POLLERS * MONTH_HOURS * 3600) / POLL_SECONDS;
  return (
    receives * (FIFO_MAPPINGS * PRICES.fifoRequest + STANDARD_MAPPINGS * PRICES.standardRequest) +
    ALARMS * PRICES.alarmMonth +
    METRICS * PRICES.metricMonth +
    PRICES.dashboardMonth +
    PRICES.keyMonth
  );
}

/** Dollars a month for fleets of 1, 10, 1,000 and 10,000 such clusters. */
export function monthTable(
  uses: ReadonlyMap<EventKind, EventUse>,
  quiet: { readonly cluster: DayUse; readonly stack: DayUse },
): readonly Readonly<
  Record<'clusters' | 'stack' | 'all clusters' | 'total' | 'per cluster', number>
>[] {
  const cluster = [...uses].reduce(
    (sum, [kind, use]) => sum + TIMES_A_MONTH[kind] * changeDollars(use),
    quietDollars(quiet.cluster, uses.get('heartbeat')),
  );
  const stack = stackDollars() + quietDollars(quiet.stack, undefined);
  return [1, 10, 1_000, 10_000].map((clusters) => {
    const all = clusters * cluster;
    const total = stack + all;
    return { clusters, stack, 'all clusters': all, total, 'per cluster': total / clusters };
  });
}
