/** Coverage: the share of node-minutes with a serving pod, by day and by DaemonSet. Time that is not known is never covered. */
import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Coverage, CoverageRow } from '../model/documents.ts';
import { percentText } from '../model/coverage-days.ts';
import { durationText } from '../model/freshness.ts';
import { useQuery } from '../live/page-context.ts';
import { useDocument } from '../live/use-document.ts';
import { Shown } from '../parts/asked.tsx';
import { Controls, SearchField, SelectField } from '../parts/controls.tsx';
import type { Option } from '../parts/controls.tsx';
import { SetLink } from '../parts/link.tsx';
import { Panel, Table } from '../parts/panel.tsx';
import { ASK_COVERAGE_MS, CoverageDays } from './coverage-days.tsx';

const TIMES = ['7', '30', '90', '365'].map((days): Option => [`${days}d`, `${days} days`]);

/** The view. */
export function CoverageView(): VNode {
  const [{ since = '30d', q = '' }] = useQuery();
  const asked = useDocument<Coverage>({
    words: 'coverage',
    parameters: { since },
    everyMs: ASK_COVERAGE_MS,
  });
  return (
    <>
      <h1>Coverage</h1>
      <Controls>
        <SearchField placeholder="cluster, DaemonSet, owner" />
        <SelectField label="Of the last" name="since" value={since} options={TIMES} />
      </Controls>
      <Shown asked={asked} command="rollcall coverage">
        {({ rows, unreadable }) => (
          <>
            <Rows rows={rows.filter((row) => isLike(row, q))} />
            {unreadable.length === 0 ? null : (
              <ul class="box box-failing">
                {unreadable.map((reason) => (
                  <li key={reason}>Cannot be read: {reason}</li>
                ))}
              </ul>
            )}
          </>
        )}
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
        <CoverageDays rows={rows} />
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
          p50, p95 and p99: how long new nodes waited for a Ready pod, as upper bounds. Time in
          which nothing was heard counts as not known.
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
      <td class="nowrap">{waitText(timeToDaemon, 'p50Ms')}</td>
      <td class="nowrap">{waitText(timeToDaemon, 'p95Ms')}</td>
      <td class="nowrap">{waitText(timeToDaemon, 'p99Ms')}</td>
    </tr>
  );
}

function unknownPercent(days: CoverageRow['days']): number {
  const unknown = days.reduce((sum, day) => sum + day.unknownMinutes, 0);
  const known = days.reduce((sum, day) => sum + day.coveredMinutes + day.uncoveredMinutes, 0);
  return unknown + known === 0 ? 0 : (100 * unknown) / (unknown + known);
}

/** As an upper bound; `longer` than the last bound. */
function waitText(times: CoverageRow['timeToDaemon'], which: 'p50Ms' | 'p95Ms' | 'p99Ms'): string {
  const durationMs = times[which];
  if (times.nodes === 0) return '–';
  return durationMs === undefined ? 'longer' : `≤ ${durationText(durationMs)}`;
}
