/**
 * List prices of us-east-1 in US dollars, autumn 2026 (spec aws-facts 1, 2, 3, 9), and what a month is: the one table of them.
 *
 * Check them before quoting a figure: prices change, the counts beside them do not.
 */

/** Dollars for one unit each. */
export const PRICES = {
  fifoRequest: 0.5e-6,
  standardRequest: 0.4e-6,
  readUnit: 0.125e-6,
  writeUnit: 0.625e-6,
  invocation: 0.2e-6,
  /** arm64. */
  gigabyteSecond: 1.33334e-5,
  logGigabyte: 0.5,
  metricMonth: 0.3,
  alarmMonth: 0.1,
  dashboardMonth: 3,
  keyMonth: 1,
} as const;

/** Hours in the month that prices are quoted for. */
export const MONTH_HOURS = 730;

/** Assumed: two metrics and a line of a run. */
const LOG_KB_PER_INVOCATION = 1;
const KB_PER_GB = 1e6;
const MEGABYTES_PER_GB = 1024;

export interface Usage {
  readonly sqsRequests: number;
  readonly readUnits: number;
  readonly writeUnits: number;
  readonly invocations: number;
  readonly gigabyteSeconds: number;
}

export type Dollars = Readonly<
  Record<'sqs' | 'reads' | 'writes' | 'invocations' | 'durations' | 'logs', number>
>;

export function dollarsOfUsage(usage: Usage): Dollars {
  return {
    // The delay queue is a standard one, and a little cheaper; it is not told apart.
    sqs: usage.sqsRequests * PRICES.fifoRequest,
    reads: usage.readUnits * PRICES.readUnit,
    writes: usage.writeUnits * PRICES.writeUnit,
    invocations: usage.invocations * PRICES.invocation,
    durations: usage.gigabyteSeconds * PRICES.gigabyteSecond,
    logs: ((usage.invocations * LOG_KB_PER_INVOCATION) / KB_PER_GB) * PRICES.logGigabyte,
  };
}

export function totalOf(dollars: Dollars): number {
  return Object.values(dollars).reduce((sum, part) => sum + part, 0);
}

/** Gigabyte-seconds of a function with so much memory. */
export function gigabyteSecondsOf(durationMs: number, memoryMegabytes: number): number {
  return (durationMs / 1000) * (memoryMegabytes / MEGABYTES_PER_GB);
}
