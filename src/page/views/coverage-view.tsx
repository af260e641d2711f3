/** Coverage: the share of node-minutes with a serving pod, by day and by DaemonSet. Time that is not known is never covered. */
import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Coverage, CoverageRow } from '../model/documents.ts';
import { daysOf, percentText, rangeOf } from '../model/coverage-days.ts';
import { durationText } from '../model/freshness.ts';
import { useQuery } from '../live/page-context.ts';
import { useDocument } from '../live/use-document.ts';
import { Shown } from '../parts/asked.tsx';
import { Chart } from '../parts/chart.tsx';
import { SetLink } from '../parts/link.tsx';
import { Panel, Table } from '../parts/panel.tsx';

const CHART_HEIGHT = 200;
const TIMES = ['7d', '30d', '90d', '365d'] as const;

/** The view. */
export function CoverageView(): VNode {
  const [{ since = '30d', q = '' }, change] = useQuery();
  const asked = useDocument<Coverage>({ words: 'coverage', parameters: { since } });
  return (
    <>
      <h1>Coverage</h1>
      <form
        class="controls"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
        }}
      >
        <label class="grows">
          <span>Search</span>
          <input
            type="search"
            value={q}
            placeholder="cluster, DaemonSet, owner"
            onInput={(event) => {
              change({ q: event.currentTarget.value });
            }}
          />
        </label>
        <label>
          <span>Of the last</span>
          <select
            value={since}
            onChange={(event) => {
              change({ since: event.currentTarget.value });
            }}
          >
            {TIMES.map((time) => (
              <option key={time} value={time}>
                {time.replace('d', ' days')}
              </option>
            ))}
          </select>
        </label>
      </form>
      <Shown asked={asked} command="rollcall coverage">
        {({ rows }) => <Rows rows={rows.filter((row) => isLike(row, q))} />}
      </Shown>
    </>
  );
}

function isLike({ cluster, namespace, name, ownerLabel = '' }: CoverageRow, q: string): boolean {
  return `${cluster} ${namespace}/${name} ${ownerLabel}`.toLowerCase().includes(q.toLowerCase());
}

function Rows(props: { readonly rows: readonly CoverageRow[] }): VNode {
  const { rows } = props;
  if (rows.length === 0) return <p class="empty">Nothing is counted of this time.</p>;
  const worst = rows.toSorted((left, right) => (left.coverage ?? 2) - (right.coverage ?? 2));
  return (
    <>
      <Panel title="By day">
        <Days rows={rows} />
      </Panel>
      <Panel title="By DaemonSet">
        <Table
          label="Coverage by DaemonSet"
          headings={['DaemonSet', 'Cluster', 'Owner', 'Coverage', 'Not known', 'p50', 'p95', 'p99']}
        >
          {worst.map((row) => (
            <Row key={`${row.cluster}/${row.namespace}/${row.name}`} row={row} />
          ))}
        </Table>
        <p class="note">
          p50, p95 and p99: how long new nodes waited for a serving pod. Time in which nothing was
          heard counts as not known.
        </p>
      </Panel>
    </>
  );
}

function Row(props: { readonly row: CoverageRow }): VNode {
  const { cluster, namespace, name, ownerLabel, coverage, days, timeToDaemon } = props.row;
  const unknown = useMemo(() => unknownPercent(days), [days]);
  return (
    <tr>
      <th scope="row">
        <SetLink view="daemonset" cluster={cluster} set={`${namespace}/${name}`} />
      </th>
      <td>{cluster}</td>
      <td>{ownerLabel ?? '–'}</td>
      <td class="nowrap">{percentText(coverage === undefined ? undefined : coverage * 100)}</td>
      <td class="nowrap">{percentText(unknown)}</td>
      <td class="nowrap">{waitText(timeToDaemon?.p50Ms)}</td>
      <td class="nowrap">{waitText(timeToDaemon?.p95Ms)}</td>
      <td class="nowrap">{waitText(timeToDaemon?.p99Ms)}</td>
    </tr>
  );
}

function unknownPercent(days: CoverageRow['days']): number {
  const unknown = days.reduce((sum, day) => sum + day.unknownMinutes, 0);
  const known = days.reduce((sum, day) => sum + day.coveredMinutes + day.uncoveredMinutes, 0);
  return unknown + known === 0 ? 0 : (100 * unknown) / (unknown + known);
}

function waitText(durationMs: number | undefined): string {
  return durationMs === undefined ? '–' : durationText(durationMs);
}

function Days(props: { readonly rows: readonly CoverageRow[] }): VNode {
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
        {...{ timesMs, series: covered, height, range: rangeOf(days) }}
        label={`Covered by day: the last ${percentText(last?.coveredPercent)}`}
      />
      <Chart
        {...{ timesMs, series: unknown, height, range: [0, 100] as const }}
        label={`Not known by day: the last ${percentText(last?.unknownPercent)}`}
      />
    </div>
  );
}
