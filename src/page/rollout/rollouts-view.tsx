/** Every rollout in a line: of fleets first, then of DaemonSets; what is halted or waits before the others. */
import type { VNode } from 'preact';
import type { FleetItem, ListOf, RolloutItem } from '../model/documents.ts';
import { toneOfPhase } from '../model/rollout-words.ts';
import type { PhaseTone } from '../model/rollout-words.ts';
import { useLive, useQuery } from '../live/page-context.ts';
import { useDocument } from '../live/use-document.ts';
import type { Asked } from '../live/use-document.ts';
import { Shown } from '../parts/asked.tsx';
import { Controls, SearchField } from '../parts/controls.tsx';
import { SetLink, ViewLink } from '../parts/link.tsx';
import { LiveMark } from '../parts/mark.tsx';
import { Panel, Table } from '../parts/panel.tsx';

const ORDER: readonly PhaseTone[] = ['failing', 'unknown', 'waiting', 'coming', 'well'];

/** The view. */
export function RolloutsView(): VNode {
  const live = useLive();
  const rollouts = useTold<RolloutItem>('get/rollouts', live.rollouts);
  const fleets = useTold<FleetItem>('get/fleets', live.fleets);
  const [{ q = '' }] = useQuery();
  const isLike = (item: object): boolean =>
    Object.values(item).join(' ').toLowerCase().includes(q.toLowerCase());
  return (
    <>
      <h1>Rollouts</h1>
      <Controls>
        <SearchField placeholder="cluster, name, state, words" />
      </Controls>
      <Panel title="Of fleets">
        <Shown asked={fleets} command="rollcall get fleets">
          {({ items }) => (
            <Fleets
              items={byTone(items.filter(isLike))}
              otherwise={q === '' ? NO_FLEET : NOTHING}
            />
          )}
        </Shown>
      </Panel>
      <Panel title="Of DaemonSets">
        <Shown asked={rollouts} command="rollcall get rollouts">
          {({ items }) => (
            <Rollouts
              items={byTone(items.filter(isLike))}
              otherwise={q === '' ? NO_ROLLOUT : NOTHING}
            />
          )}
        </Shown>
      </Panel>
    </>
  );
}

const NOTHING = 'No rollout has these words.';
const NO_FLEET = 'There is no FleetDaemonSet. Apply one with: rollcall fleet apply -f FILE';
const NO_ROLLOUT = 'No DaemonSet has a rollout by a policy.';

/** What the stream told; before it did, what the command says. */
function useTold<Item>(words: string, told: ListOf<Item> | undefined): Asked<ListOf<Item>> {
  const asked = useDocument<ListOf<Item>>({ words });
  return told === undefined ? asked : { document: told, askAgain: asked.askAgain };
}

function byTone<Item extends RolloutItem | FleetItem>(items: readonly Item[]): readonly Item[] {
  const rank = ({ state }: Item): number => ORDER.indexOf(toneOfPhase(state));
  return items.toSorted((left, right) => rank(left) - rank(right));
}

function Empty(props: { readonly otherwise: string }): VNode {
  return <p class="empty">{props.otherwise}</p>;
}

function Rollouts(props: {
  readonly items: readonly RolloutItem[];
  readonly otherwise: string;
}): VNode {
  const { items, otherwise } = props;
  if (items.length === 0) return <Empty otherwise={otherwise} />;
  return (
    <Table
      label="Rollouts of DaemonSets"
      headings={['State', 'Cluster', 'DaemonSet', 'Where it is']}
      narrow="flow"
    >
      {items.map(({ cluster, namespace, name, state, summary }) => (
        <tr key={`${cluster}/${namespace}/${name}`}>
          <td>
            <LiveMark tone={toneOfPhase(state)} text={state} />
          </td>
          <td class="nowrap">{cluster}</td>
          <th scope="row">
            <SetLink view="rollout" cluster={cluster} set={`${namespace}/${name}`} />
          </th>
          <td>{summary}</td>
        </tr>
      ))}
    </Table>
  );
}

function Fleets(props: {
  readonly items: readonly FleetItem[];
  readonly otherwise: string;
}): VNode {
  const { items, otherwise } = props;
  if (items.length === 0) return <Empty otherwise={otherwise} />;
  return (
    <Table
      label="Rollouts of fleets"
      headings={['State', 'Fleet', 'Generation', 'Where it is']}
      narrow="flow"
    >
      {items.map(({ namespace, name, state, generation, summary }) => (
        <tr key={`${namespace}/${name}`}>
          <td>
            <LiveMark tone={toneOfPhase(state)} text={state} />
          </td>
          <th scope="row">
            <ViewLink route={{ view: 'fleet-rollout', namespace, name }}>
              {namespace}/{name}
            </ViewLink>
          </th>
          <td>{generation}</td>
          <td>{summary}</td>
        </tr>
      ))}
    </Table>
  );
}
