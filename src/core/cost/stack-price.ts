/**
 * What a stack costs a month whatever its clusters do, as serverless.yml and infra/ declare it by default: it is the same for one
 * cluster and for ten thousand.
 */
import { MONTH_HOURS, PRICES, dollarsOfUsage, gigabyteSecondsOf, totalOf } from './prices.ts';
import type { Usage } from './prices.ts';

/** Megabytes of functions, as serverless.yml declares them by default (a test compares). */
export const FUNCTION_MEGABYTES = {
  ingest: 512,
  reconcile: 1024,
  resync: 256,
  fleet: 512,
} as const;

/** Mappings with a concurrency cap keep five pollers of twenty seconds each. */
const POLLERS = 5;
const POLL_SECONDS = 20;
const FIFO_MAPPINGS = 4;
const STANDARD_MAPPINGS = 4;
/** Metrics that the alarms of infra/alarms look at (a test counts them): each is billed as an alarm. */
export const ALARM_METRICS = 63;
/** Rounded up from the metrics of docs/reference/metrics.md by function. */
const METRICS = 60;

const TURNS_A_MONTH = MONTH_HOURS * 60;

/** Of the schedules of `resync` and `fleet`, a turn each a minute; counted by `npm run bench -- cost`. */
const RESYNC_TURN = { readUnits: 0.96, writeUnits: 2, durationMs: 75 };
const FLEET_TURN = { readUnits: 2, writeUnits: 0, durationMs: 19 };

function turns(turn: typeof RESYNC_TURN, megabytes: number): Usage {
  return {
    sqsRequests: 0,
    readUnits: TURNS_A_MONTH * turn.readUnits,
    writeUnits: TURNS_A_MONTH * turn.writeUnits,
    invocations: TURNS_A_MONTH,
    gigabyteSeconds: gigabyteSecondsOf(TURNS_A_MONTH * turn.durationMs, megabytes),
  };
}

/** Dollars a month, by what they are paid for. */
export const STACK_DOLLARS = {
  polling:
    ((POLLERS * MONTH_HOURS * 3600) / POLL_SECONDS) *
    (FIFO_MAPPINGS * PRICES.fifoRequest + STANDARD_MAPPINGS * PRICES.standardRequest),
  alarms: ALARM_METRICS * PRICES.alarmMonth,
  metrics: METRICS * PRICES.metricMonth,
  dashboard: PRICES.dashboardMonth,
  key: PRICES.keyMonth,
  schedules:
    totalOf(dollarsOfUsage(turns(RESYNC_TURN, FUNCTION_MEGABYTES.resync))) +
    totalOf(dollarsOfUsage(turns(FLEET_TURN, FUNCTION_MEGABYTES.fleet))),
} as const;
