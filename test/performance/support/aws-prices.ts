/**
 * List prices of us-east-1 in US dollars, autumn 2026 (spec aws-facts 1, 2, 3, 9), and what a month is.
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
