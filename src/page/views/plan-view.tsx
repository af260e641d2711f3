/** What an edit would do: a manifest is pasted, and the plan of `rollcall plan` is shown as a table. Nothing is changed. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { CommandError, Plan } from '../model/documents.ts';
import type { LookKind } from '../model/looks.ts';
import { reasonOf } from '../model/looks.ts';
import { usePage, useQuery } from '../live/page-context.ts';
import { ErrorBox } from '../parts/asked.tsx';
import { ClusterField } from '../parts/controls.tsx';
import { ViewLink } from '../parts/link.tsx';
import { KindMark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { Outages } from '../parts/outages.tsx';
import { Notes, Panel, Table } from '../parts/panel.tsx';

type Progress =
  | { readonly kind: 'waits' | 'under-way' | 'absent' }
  | { readonly kind: 'error'; readonly error: CommandError }
  | { readonly kind: 'planned'; readonly plan: Plan };

/** The view. */
export function PlanView(): VNode {
  const { client } = usePage();
  const [{ cluster = '' }] = useQuery();
  const [manifest, setManifest] = useState('');
  const [progress, setProgress] = useState<Progress>({ kind: 'waits' });
  const ask = async (): Promise<void> => {
    setProgress({ kind: 'under-way' });
    const answer = await client.order<Plan>('plan', { cluster, manifest });
    if (answer.kind === 'document') setProgress({ kind: 'planned', plan: answer.document });
    else setProgress(answer);
  };
  const isReady = cluster !== '' && manifest.trim() !== '' && progress.kind !== 'under-way';
  return (
    <>
      <h1>Plan</h1>
      <p>What would happen if this DaemonSet were applied. Nothing is changed.</p>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) void ask();
        }}
      >
        <ClusterField none="choose one" class="field" />
        <label class="field">
          <span>Manifest of the DaemonSet (YAML or JSON)</span>
          <textarea
            value={manifest}
            spellcheck={false}
            onInput={(event) => {
              setManifest(event.currentTarget.value);
            }}
          />
        </label>
        <div>
          <button type="submit" class="order" disabled={!isReady}>
            {progress.kind === 'under-way' ? 'Asking …' : 'Show the plan'}
          </button>
        </div>
      </form>
      <Outcome progress={progress} />
    </>
  );
}

function Outcome(props: { readonly progress: Progress }): VNode | null {
  const { progress } = props;
  switch (progress.kind) {
    case 'waits':
    case 'under-way':
      return null;
    case 'absent':
      return <p class="empty">This rollcall ui does not have the command rollcall plan.</p>;
    case 'error':
      return <ErrorBox error={progress.error} />;
    case 'planned':
      return <Planned plan={progress.plan} />;
  }
}

type Change = Plan['nodes'][number]['change'];

const CHANGES: readonly Change[] = ['gained', 'lost', 'restarted', 'held', 'unchanged'];
/** Of a node that stays as it is, its reason has one. */
const LOOKS: Readonly<Partial<Record<Change, LookKind>>> = {
  gained: 'coming',
  lost: 'failing',
  restarted: 'coming',
  held: 'held',
};
const ROWS_MAX = 500;

function Planned(props: { readonly plan: Plan }): VNode {
  const { plan } = props;
  const { cluster, namespace, name, result, refusals, nodes, notes, outages = [] } = plan;
  const counts = CHANGES.map((change) => ({
    change,
    count: nodes.filter((node) => node.change === change).length,
  }));
  const shown = nodes
    .toSorted((left, right) => CHANGES.indexOf(left.change) - CHANGES.indexOf(right.change))
    .slice(0, ROWS_MAX);
  return (
    <Panel title={`Plan of ${namespace}/${name} in ${cluster}`}>
      <Outages outages={outages} />
      {refusals.length === 0 ? null : (
        <ul class="box box-failing">
          {refusals.map((refusal) => (
            <li key={refusal}>{refusal}</li>
          ))}
        </ul>
      )}
      <p role="status">
        <strong>{result === 'none' ? 'Nothing changes.' : RESULTS[result]}</strong>{' '}
        {counts
          .filter(({ count }) => count > 0)
          .map(({ change, count }) => `${String(count)} ${change}`)
          .join(', ')}
      </p>
      {shown.length === 0 ? null : (
        <Table label="Nodes of the plan" headings={['Node', 'Change', 'Why', 'Step', 'When']}>
          {shown.map(({ node, change, reason, step, atMs }) => (
            <tr key={node}>
              <th scope="row">
                <ViewLink route={{ view: 'node', cluster, node }}>{node}</ViewLink>
              </th>
              <td class="nowrap">
                <KindMark kind={LOOKS[change] ?? reasonOf(reason)?.kind ?? 'unknown'} /> {change}
              </td>
              <td>
                {reason}: {reasonOf(reason)?.title ?? ''}
              </td>
              <td>{step}</td>
              <td>{atMs === undefined ? null : <Moment atMs={atMs} />}</td>
            </tr>
          ))}
        </Table>
      )}
      <Steps steps={plan.steps} />
      {nodes.length > ROWS_MAX ? <p class="note">{nodes.length - ROWS_MAX} more nodes.</p> : null}
      <Notes notes={notes} />
    </Panel>
  );
}

function Steps(props: { readonly steps: Plan['steps'] }): VNode | null {
  const { steps } = props;
  if (steps.length === 0) return null;
  return (
    <Table label="Steps of the plan" headings={['Step', 'Is', 'Nodes', 'Begins']}>
      {steps.map(({ kind, name, atMs, nodes }, place) => (
        <tr key={String(place)}>
          <th scope="row">{place}</th>
          <td>{name === '' ? kind : `${kind} ${name}`}</td>
          <td>{nodes}</td>
          <td>
            <Moment atMs={atMs} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

const RESULTS: Readonly<Record<Exclude<Plan['result'], 'none'>, string>> = {
  changes: 'It would change nodes:',
  refused: 'It would be refused.',
};
