/** The evidence of a rollout with its counts, as its halt is judged by it. */
import type { VNode } from 'preact';
import type { RolloutStatus } from '../model/documents.ts';
import { evidenceText } from '../model/rollout-words.ts';
import { ViewLink } from '../parts/link.tsx';
import { Moment } from '../parts/moment.tsx';
import { Panel, Table } from '../parts/panel.tsx';

type Staged = NonNullable<RolloutStatus['staged']>;

/** The panel. */
export function Evidence(props: { readonly cluster: string; readonly staged: Staged }): VNode {
  const { cluster, staged } = props;
  const { evidence } = staged;
  const { updated, others, outside, failures, eValue, haltsAt } = evidence;
  const haltsAtLog = Math.log(Math.max(haltsAt, 2));
  return (
    <Panel title="Evidence">
      <p>{evidenceText(staged)}</p>
      <meter
        min={0}
        low={haltsAtLog / 2}
        high={haltsAtLog * 0.99}
        max={haltsAtLog}
        optimum={0}
        value={Math.log(Math.max(1, eValue))}
        aria-label="Evidence against the release, up to where it halts"
      />
      <Table label="Counts of the evidence" headings={['Nodes', 'Bad', 'Good']}>
        <tr>
          <th scope="row">with this release</th>
          <td>{updated.bad}</td>
          <td>{updated.good}</td>
        </tr>
        <tr>
          <th scope="row">without it</th>
          <td>{others.bad}</td>
          <td>{others.good}</td>
        </tr>
      </Table>
      {outside === 0 ? null : (
        <p class="note">
          Nodes that were bad before their turn, and count on neither side: {outside}.
        </p>
      )}
      {failures.length === 0 ? null : (
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
      )}
    </Panel>
  );
}
