/** Coverage by day as two charts: the share of what is known, and what is not known. */
import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { CoverageRow } from '../model/documents.ts';
import { daysOf, percentText, rangeOf } from '../model/coverage-days.ts';
import { Chart } from '../parts/chart.tsx';

const CHART_HEIGHT = 200;
/** Coverage grows by the minute. */
export const ASK_COVERAGE_MS = 60_000;

/** The charts, of all rows together. */
export function CoverageDays(props: { readonly rows: readonly CoverageRow[] }): VNode {
  const days = useMemo(() => daysOf(props.rows), [props.rows]);
  const timesMs = useMemo(() => days.map(({ atMs }) => atMs), [days]);
  const covered = useMemo(
    () => [
      {
        ...{ label: 'covered, % of what is known', colour: 'well-ink', form: 'line' as const },
        values: days.map(({ coveredPercent }) => coveredPercent),
      },
    ],
    [days],
  );
  const unknown = useMemo(
    () => [
      {
        ...{ label: 'not known, % of the day', colour: 'unknown', form: 'bars' as const },
        values: days.map(({ unknownPercent: percent }) => percent),
      },
    ],
    [days],
  );
  const last = days.at(-1);
  const height = CHART_HEIGHT;
  return (
    <div class="pair">
      <Chart
        {...{ timesMs, series: covered, height, range: rangeOf(days), isByDay: true }}
        label={`Covered by day: the last ${percentText(last?.coveredPercent)}`}
      />
      <Chart
        {...{ timesMs, series: unknown, height, range: [0, 100] as const, isByDay: true }}
        label={`Not known by day: the last ${percentText(last?.unknownPercent)}`}
      />
    </div>
  );
}
