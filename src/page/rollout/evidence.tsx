/** The evidence of a rollout with its counts, as its halt is judged by it. */
import type { VNode } from 'preact';
import type { RolloutStatus } from '../model/documents.ts';
import { evidenceTexts, isByNodes } from '../model/rollout-words.ts';
import { ViewLink } from '../parts/link.tsx';
import { Moment } from '../parts/moment.tsx';
import { Panel, Table } from '../parts/panel.tsx';

type Staged = NonNullable<RolloutStatus['staged']>;

export function Evidence(props: { readonly cluster: string; readonly staged: Staged }): VNode {
  const { cluster, staged } = props;
  return (
    <Panel title="Evidence">
      <ul class="stack">
        {evidenceTexts(staged).map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
      {isByNodes(staged) ? <Counts evidence={staged.evidence} /> : null}
      <Failures cluster={cluster} failures={staged.evidence.failures} />
    </Panel>
  );
}

function Counts(props: { readonly evidence: Staged['evidence'] }): VNode {
  const { updated, others, outside, eValue, haltsAt } = props.evidence;
  // E multiplies from node to node, so its way to the halt is even on a logarithmic scale.
  const haltsAtLog = Math.log(Math.max(haltsAt, 2));
  return (
    <>
      <meter
        min={0}
        low={haltsAtLog / 2}
        high={haltsAtLog * 0.99}
        max={haltsAtLog}
        optimum={0}
        value={Math.log(Math.max(1, eValue))}
        aria-label="E, up to where it halts"
      />
      <Table label="Counts of the evidence" headings={['Nodes', 'Lost', 'Not lost']}>
        <tr>
          <th scope="row">updated</th>
          <td>{updated.bad}</td>
          <td>{updated.good}</td>
        </tr>
        <tr>
          <th scope="row">others</th>
          <td>{others.bad}</td>
          <td>{others.good}</td>
        </tr>
        {outside === 0 ? null : (
          <tr>
            <th scope="row">before their turn</th>
            <td>{outside}</td>
            <td />
          </tr>
        )}
      </Table>
    </>
  );
}

function Failures(props: {
  readonly cluster: string;
  readonly failures: Staged['evidence']['failures'];
}): VNode | null {
  const { cluster, failures } = props;
  if (failures.length === 0) return null;
  return (
    <Table label="The newest failures" headings={['Node', 'Zone and pool', 'Release', 'When']}>
      {failures.map(({ node, stratum, isUpdated, atMs, isCounted }) => (
        <tr key={`${node} ${String(atMs)}`}>
          <th scope="row">
            <ViewLink route={{ view: 'node', cluster, node }}>{node}</ViewLink>
          </th>
          <td>{stratum}</td>
          <td>
            {isUpdated ? 'this one' : 'another'}
            {isCounted ? '' : ' (of an outage that is counted already)'}
          </td>
          <td>
            <Moment atMs={atMs} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
