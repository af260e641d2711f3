/** The rollout of a fleet: its stages, its gate, every cluster with what it has, and the orders that can be given. */
import type { VNode } from 'preact';
import { counted } from '@rollcall/base/counted.ts';
import type { FleetStatus } from '../model/documents.ts';
import { ordersOfFleet } from '../model/orders.ts';
import { cellsOfStage, nodesText, toneOfPhase } from '../model/rollout-words.ts';
import type { PhaseTone } from '../model/rollout-words.ts';
import { useDocument } from '../live/use-document.ts';
import { Shown } from '../parts/asked.tsx';
import { ViewLink } from '../parts/link.tsx';
import { LiveMark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { OrderButtons } from '../parts/order-dialog.tsx';
import { Outages } from '../parts/outages.tsx';
import { NextSteps, Notes, Panel, Table } from '../parts/panel.tsx';
import { Steps } from './steps.tsx';

const ASK_MS = 4_000;
const CLUSTERS_MAX = 200;

/** The view. */
export function FleetRolloutView(props: {
  readonly namespace: string;
  readonly name: string;
}): VNode {
  const fleet = `${props.namespace}/${props.name}`;
  const asked = useDocument<FleetStatus>({
    words: 'fleet/status',
    parameters: { fleet },
    everyMs: ASK_MS,
  });
  return (
    <>
      <h1>Fleet {fleet}</h1>
      <Shown asked={asked} command="rollcall fleet status">
        {(status) => <Status status={status} onGiven={asked.askAgain} />}
      </Shown>
    </>
  );
}

function Status(props: { readonly status: FleetStatus; readonly onGiven: () => void }): VNode {
  const { status, onGiven } = props;
  const { phase, summary, outages, notes, staged, stages, next } = status;
  const untouched = status.record?.untouchedClusters ?? 0;
  return (
    <>
      <Outages outages={outages} />
      <p>
        <LiveMark tone={toneOfPhase(phase)} text={phase} /> {summary}
      </p>
      <OrderButtons orders={ordersOfFleet(status)} onGiven={onGiven} />
      {staged?.breach === undefined ? null : (
        <p class="box box-failing">
          <strong>{staged.breach.cause}</strong>: {staged.breach.message} (
          <Moment atMs={staged.breach.atMs} />)
        </p>
      )}
      <NextSteps steps={next} />
      <Panel title="Stages">
        <Steps steps={stages} />
        <Stages stages={stages} />
        <dl class="facts">
          {staged === undefined ? null : (
            <>
              <dt>Gate</dt>
              <dd>{staged.gateText}</dd>
            </>
          )}
          <dt>Applied</dt>
          <dd>
            generation {status.generation} by {status.appliedBy} (
            <Moment atMs={status.appliedAtMs} />)
          </dd>
          {status.former === undefined ? null : (
            <>
              <dt>Before</dt>
              <dd>generation {status.former.generation}, which was good</dd>
            </>
          )}
          {untouched === 0 ? null : (
            <>
              <dt>Not touched</dt>
              <dd>{counted(untouched, 'cluster')}</dd>
            </>
          )}
        </dl>
      </Panel>
      <Panel title={`Clusters (${String(status.clusters.length)})`}>
        <Clusters status={status} />
      </Panel>
      <Notes notes={notes} />
    </>
  );
}

function Stages(props: { readonly stages: FleetStatus['stages'] }): VNode {
  return (
    <Table
      label="Stages with their clusters"
      headings={[
        'Stage',
        'Is',
        'Clusters',
        'Well',
        'Rolling',
        'Failed',
        'Waiting',
        'Nodes',
        'Gates',
      ]}
    >
      {props.stages.map((stage) => (
        <tr key={stage.name}>
          <th scope="row">{stage.name}</th>
          <td>{stage.state}</td>
          {cellsOfStage(stage).map((text, place) => (
            <td key={String(place)} class="nowrap">
              {text}
            </td>
          ))}
          <td class="nowrap">{stage.gates.join(', ')}</td>
        </tr>
      ))}
    </Table>
  );
}

type Line = FleetStatus['clusters'][number];

const TONES: Readonly<Record<Line['phase'], PhaseTone>> = {
  failed: 'failing',
  applying: 'coming',
  rolling: 'coming',
  returning: 'coming',
  returned: 'waiting',
  waiting: 'waiting',
  well: 'well',
};

function Clusters(props: { readonly status: FleetStatus }): VNode {
  const { namespace, name, clusters } = props.status;
  const rest = clusters.length - CLUSTERS_MAX;
  if (clusters.length === 0) return <p class="empty">It was dealt to no cluster yet.</p>;
  return (
    <>
      <Table label="Clusters of the fleet" headings={['Cluster', 'Stage', 'Is', 'Nodes', 'Note']}>
        {clusters.slice(0, CLUSTERS_MAX).map(({ cluster, place, phase, nodes, failure, note }) => (
          <tr key={cluster}>
            <th scope="row">
              <ViewLink route={{ view: 'rollout', cluster, namespace, name }}>{cluster}</ViewLink>
            </th>
            <td>{place}</td>
            <td>
              <LiveMark tone={TONES[phase]} text={phase} />
            </td>
            <td class="nowrap">{nodesText(nodes)}</td>
            <td>{failure === undefined ? note : `${failure.cause}: ${failure.message}`}</td>
          </tr>
        ))}
      </Table>
      {rest > 0 ? <p class="note">{rest} more clusters: rollcall fleet status -o wide.</p> : null}
    </>
  );
}
