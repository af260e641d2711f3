/**
 * Days that leave a state for an item of their own, a week of them at a time: so a year costs fifty writes, and a state holds eight days.
 *
 * Only days leave that were over when the stored state was written: nothing is added to them any more, so an item that is written twice
 * holds the same.
 */
import { sumRows } from '../cost/daily.ts';
import type { DailyCounts } from '../cost/daily.ts';
import type { CoverageRecord } from '../model/state.ts';

/** For so long a day is kept. */
export const COVERAGE_DAYS_MAX = 366;

const LEAVING_MIN = 7;
const DAY = 86_400;

/** Days of one DaemonSet with a place of their own. */
export interface CoverageDays {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The first day, since 1970. */
  readonly day: number;
  /** One for each day from there on. */
  readonly rows: readonly (readonly number[])[];
}

/** The days that leave with this write, the oldest first; undefined: none do. */
export function leavingDays(
  stored: CoverageRecord | undefined,
  next: CoverageRecord | undefined,
): Pick<CoverageDays, 'day' | 'rows'> | undefined {
  if (stored === undefined || next === undefined) return undefined;
  const { day: newest, rows } = next.days;
  const open = Math.max(1, newest - Math.floor(stored.at / DAY) + 1);
  const leaving = rows.slice(open);
  if (leaving.length < LEAVING_MIN) return undefined;
  return { day: newest - rows.length + 1, rows: leaving.toReversed() };
}

/** The record without them. */
export function withoutDays(
  record: CoverageRecord,
  { rows: gone }: Pick<CoverageDays, 'rows'>,
): CoverageRecord {
  const rows = record.days.rows.slice(0, record.days.rows.length - gone.length);
  return { ...record, days: { ...record.days, rows } };
}

/** All days of a state, as an item holds them. */
export function allDays({ day, rows }: DailyCounts): Pick<CoverageDays, 'day' | 'rows'> {
  return { day: day - rows.length + 1, rows: rows.toReversed() };
}

/** Columns by day since 1970, of several DaemonSets that bore one name after each other. */
export function mergeDays(all: readonly CoverageDays[]): ReadonlyMap<number, readonly number[]> {
  const byUid = new Map<string, readonly number[]>();
  for (const { uid, day, rows } of all) {
    for (const [index, row] of rows.entries()) byUid.set(`${String(day + index)} ${uid}`, row);
  }
  const days = new Map<number, readonly number[]>();
  for (const [key, row] of byUid) {
    const day = Number.parseInt(key, 10);
    days.set(day, sumRows(days.get(day) ?? [], row));
  }
  return days;
}
