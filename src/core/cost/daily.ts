/**
 * Counts by day, in an item that is written anyway: what is added to today's row, which rows are kept, what a span sums up to.
 *
 * Days are those of UTC. No write is made for a count, so one is lost with a lost write, and a write that is repeated may count
 * twice: good enough for a bill, and for nothing that is decided.
 */

/** Some columns by day; who keeps them says what each column is. */
export interface DailyCounts {
  /** When counting began, minutes since 1970. */
  readonly since: number;
  /** The day of the first row, since 1970. */
  readonly day: number;
  /** The newest day first, one for each day back from it; empty: nothing was counted then. */
  readonly rows: readonly (readonly number[])[];
}

export interface DailySum {
  readonly columns: readonly number[];
  /** Hours that it was counted over: from when counting began, or from the first day that is kept, until now. */
  readonly hours: number;
  /** The last day with a count, when it ended or (today) until now; absent: none has one. */
  readonly lastAtMs?: number;
}

/** A week, and today. */
export const DAYS_KEPT = 8;

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * Adds to the row of that day, and drops days beyond `daysKept`. A clock that is behind adds to the newest day.
 */
export function addToDay(
  counts: DailyCounts | undefined,
  atMs: number,
  added: readonly number[],
  daysKept = DAYS_KEPT,
): DailyCounts {
  const day = Math.floor(atMs / DAY_MS);
  if (counts === undefined) return { since: Math.floor(atMs / MINUTE_MS), day, rows: [added] };
  const passed = Math.max(0, day - counts.day);
  const between = Array.from({ length: Math.min(passed, daysKept) }, (): readonly number[] => []);
  const [newest = [], ...older] = [...between, ...counts.rows].slice(0, daysKept);
  return {
    since: counts.since,
    day: Math.max(day, counts.day),
    rows: [sumRows(newest, added), ...older],
  };
}

/** Sums up what is kept of the last days. Days of a clock that was ahead count as today. */
export function sumDays(counts: DailyCounts | undefined, nowMs: number): DailySum | undefined {
  if (counts === undefined) return undefined;
  const today = Math.floor(nowMs / DAY_MS);
  const firstDay = today - (DAYS_KEPT - 1);
  const kept = counts.rows.map((row, back) => ({ row, day: counts.day - back }));
  const inside = kept.filter(({ row, day }) => day >= firstDay && row.length > 0);
  const fromMs = Math.max(counts.since * MINUTE_MS, firstDay * DAY_MS);
  const last = inside[0];
  return {
    columns: inside.reduce<readonly number[]>((sum, { row }) => sumRows(sum, row), []),
    hours: Math.max(0, nowMs - fromMs) / HOUR_MS,
    ...(last === undefined ? {} : { lastAtMs: Math.min(nowMs, (last.day + 1) * DAY_MS) }),
  };
}

/** Column by column. */
export function sumRows(left: readonly number[], right: readonly number[]): readonly number[] {
  const length = Math.max(left.length, right.length);
  return Array.from({ length }, (_, index) => (left[index] ?? 0) + (right[index] ?? 0));
}
