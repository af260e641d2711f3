/** Coverage by day and in sum. Time that is not known counts for neither side: it is shown beside them. */
import type { CoverageDay, CoverageRow } from './documents.ts';

/** A day of one or of all rows; null: no minute of it is known. */
export interface DayShare {
  readonly atMs: number;
  readonly coveredPercent: number | null;
  readonly unknownPercent: number;
}

/** The days of rows, added up, in their order. */
export function daysOf(rows: readonly Pick<CoverageRow, 'days'>[]): readonly DayShare[] {
  const byDay = Map.groupBy(
    rows.flatMap(({ days }) => days),
    ({ day }) => day,
  );
  return [...byDay]
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([day, all]) => shareOf(Date.parse(`${day}T00:00:00Z`), all));
}

function shareOf(atMs: number, days: readonly CoverageDay[]): DayShare {
  const sum = (key: keyof Omit<CoverageDay, 'day'>): number =>
    days.reduce((total, day) => total + day[key], 0);
  const covered = sum('coveredMinutes');
  const known = covered + sum('uncoveredMinutes');
  const all = known + sum('unknownMinutes');
  return {
    atMs,
    coveredPercent: known === 0 ? null : (100 * covered) / known,
    unknownPercent: all === 0 ? 0 : (100 * (all - known)) / all,
  };
}

/** `99.93 %`, never rounded up to 100; `not known`. */
export function percentText(percent: number | null | undefined): string {
  if (percent === null || percent === undefined) return 'not known';
  const floored = Math.floor(percent * 100) / 100;
  return `${floored.toFixed(floored === 100 ? 0 : 2)} %`;
}

/** Of a chart: up to 100, from a little below the worst day, so that days differ to the eye. */
export function rangeOf(days: readonly DayShare[]): readonly [low: number, high: number] {
  const known = days.flatMap(({ coveredPercent }) => coveredPercent ?? []);
  const worst = Math.min(99, ...known);
  return [Math.max(0, Math.floor(worst - 0.5)), 100];
}
