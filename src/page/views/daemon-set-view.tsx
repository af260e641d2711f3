/** A DaemonSet in one cluster: desired, current and ready over time, why nodes lack a pod and what to do, and what happened. */
import type { VNode } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { SetAddress } from '../model/address.ts';
import type { Coverage, Explanation, Log, NodeMap } from '../model/documents.ts';
import { percentText } from '../model/coverage-days.ts';
import { addSample, sampleOf } from '../model/set-history.ts';
import type { Sample } from '../model/set-history.ts';
import { useDocument } from '../live/use-document.ts';
import { Shown } from '../parts/asked.tsx';
import { Chart } from '../parts/chart.tsx';
import { Link, ViewLink } from '../parts/link.tsx';
import { LogNotes, LogTable } from '../parts/log-table.tsx';
import { Panel } from '../parts/panel.tsx';
import { formatAddress } from '../model/address.ts';
import { AnswerOf } from './answer.tsx';
import { ASK_COVERAGE_MS, CoverageDays } from './coverage-days.tsx';

const ASK_MS = 4_000;
const ASK_LOG_MS = 15_000;
const CHART_HEIGHT = 180;

/** The view. */
export function DaemonSetView({ cluster, namespace, name }: SetAddress): VNode {
  const daemonset = `${namespace}/${name}`;
  const why = useDocument<Explanation>({
    words: 'why',
    parameters: { daemonset, cluster },
    everyMs: ASK_MS,
  });
  const log = useDocument<Log>({
    words: 'log',
    parameters: { subject: daemonset, cluster, since: '24h', limit: 100 },
    everyMs: ASK_LOG_MS,
  });
  const map = formatAddress({
    route: { view: 'fleet' },
    query: { daemonset, q: `cluster:${cluster}` },
  });
  return (
    <>
      <div class="title">
        <h1>DaemonSet {daemonset}</h1>
        <span class="about">
          in {cluster} ·{' '}
          <ViewLink route={{ view: 'rollout', cluster, namespace, name }}>its rollout</ViewLink> ·{' '}
          <Link to={map}>its nodes on the map</Link>
        </span>
      </div>
      <Panel title="Nodes over time">
        <Counts cluster={cluster} daemonSet={daemonset} />
      </Panel>
      <Panel title="Why, and what to do">
        <Shown asked={why} command="rollcall why">
          {({ answers }) =>
            answers.map((answer) => <AnswerOf key={answer.cluster} answer={answer} about="nodes" />)
          }
        </Shown>
      </Panel>
      <Panel title="Coverage of 30 days">
        <SetCoverage {...{ cluster, namespace, name }} />
      </Panel>
      <Panel title="The last 24 hours">
        <Shown asked={log} command="rollcall log">
          {(document) => (
            <>
              <LogNotes log={document} />
              <LogTable entries={document.entries} />
            </>
          )}
        </Shown>
      </Panel>
    </>
  );
}

function SetCoverage({ cluster, namespace, name }: SetAddress): VNode {
  const asked = useDocument<Coverage>({
    words: 'coverage',
    parameters: { cluster, since: '30d' },
    everyMs: ASK_COVERAGE_MS,
  });
  return (
    <Shown asked={asked} command="rollcall coverage">
      {({ rows }) => {
        const row = rows.find((each) => each.namespace === namespace && each.name === name);
        if (row === undefined) return <p class="empty">Nothing is counted of it yet.</p>;
        const { coverage } = row;
        return (
          <>
            {coverage === undefined ? (
              <p class="empty">No node-minute of these days is known yet.</p>
            ) : (
              <p>
                <strong>{percentText(coverage * 100)}</strong>{' '}
                <span class="about">of the node-minutes that are known</span>
              </p>
            )}
            <CoverageDays rows={[row]} />
          </>
        );
      }}
    </Shown>
  );
}

function Counts(props: { readonly cluster: string; readonly daemonSet: string }): VNode {
  const { cluster, daemonSet } = props;
  const asked = useDocument<NodeMap>({
    words: 'get/nodes',
    parameters: { daemonset: daemonSet, cluster },
    everyMs: ASK_MS,
  });
  const [history, setHistory] = useState<readonly Sample[]>([]);
  const { document } = asked;
  useEffect(() => {
    const sample = document === undefined ? undefined : sampleOf(document, cluster);
    if (sample !== undefined) setHistory((before) => addSample(before, sample));
  }, [document, cluster]);
  return (
    <Shown asked={asked} command="rollcall get nodes">
      {() => <CountsChart history={history} />}
    </Shown>
  );
}

function CountsChart(props: { readonly history: readonly Sample[] }): VNode {
  const { history } = props;
  const last = history.at(-1);
  const series = useMemo(
    () => [
      {
        ...{ label: 'desired', colour: 'soft', form: 'dashed' as const },
        values: history.map(({ desired }) => desired),
      },
      {
        ...{ label: 'current', colour: 'coming', form: 'dotted' as const },
        values: history.map(({ current }) => current),
      },
      {
        ...{ label: 'ready', colour: 'well-ink', form: 'line' as const },
        values: history.map(({ ready }) => ready),
      },
    ],
    [history],
  );
  const timesMs = useMemo(() => history.map(({ atMs }) => atMs), [history]);
  const text = last === undefined ? 'nothing is known yet' : countsText(last);
  return (
    <>
      <p>
        <strong>{text}</strong>{' '}
        <span class="about">Kept while this view is open, for an hour at most.</span>
      </p>
      <Chart {...{ timesMs, series, height: CHART_HEIGHT }} label={`Nodes over time: ${text}`} />
    </>
  );
}

function countsText({ desired, current, ready }: Sample): string {
  if (desired === null) return 'not known now';
  return `${String(desired)} desired, ${String(current ?? 0)} current, ${String(ready ?? 0)} ready`;
}
