/** The fleet: what is not whole, then every cluster and every node; searched by anything, and the search is in the address. */
import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { describeWell } from '../../core/status/health/fleet-health.ts';
import type { Paint } from '../model/cells.ts';
import type { FleetHealth, NodeMap } from '../model/documents.ts';
import { countKinds, kindsOf, sumKinds, withoutKnowledge } from '../model/looks.ts';
import { freezeOrders } from '../model/orders.ts';
import { countFound, parseSearch, searchMap } from '../model/search-map.ts';
import { useAge, useLive, useQuery } from '../live/page-context.ts';
import { useDocument } from '../live/use-document.ts';
import { Shown } from '../parts/asked.tsx';
import { Controls, SearchField, SelectField } from '../parts/controls.tsx';
import type { Option } from '../parts/controls.tsx';
import { LogTable } from '../parts/log-table.tsx';
import { StateMark } from '../parts/mark.tsx';
import { OrderButtons } from '../parts/order-dialog.tsx';
import { Panel } from '../parts/panel.tsx';
import { Findings } from './findings.tsx';
import { FleetMap } from './fleet-map.tsx';
import { Legend } from './legend.tsx';
import { NodeTable } from './node-table.tsx';

/** As often as the stream looks at most. */
const ASK_MS = 4_000;
const ENTRIES_SHOWN = 8;

/** The view. */
export function FleetView(): VNode {
  const live = useLive();
  const [query] = useQuery();
  const { daemonset = '' } = query;
  return (
    <>
      <h1 class="unseen">Fleet</h1>
      {live.health === undefined ? null : <Standing health={live.health} />}
      {live.health === undefined ? null : <Findings findings={live.health.findings} />}
      {daemonset === '' ? <LiveMap /> : <MapOfSet daemonSet={daemonset} />}
      {live.entries.length === 0 ? null : (
        <Panel title="Just now">
          <LogTable entries={live.entries.slice(-ENTRIES_SHOWN)} />
        </Panel>
      )}
    </>
  );
}

const STANDINGS = {
  well: ['well', 'All is well'],
  'not-well': ['failing', 'Not well'],
  stopped: ['unknown', 'Nothing acts'],
} as const;

function Standing(props: { readonly health: FleetHealth }): VNode {
  const { health } = props;
  const isOld = useAge().kind !== 'fresh';
  const [tone, word] = isOld ? (['unknown', 'Not known now'] as const) : STANDINGS[health.standing];
  const { freeze, thaw } = freezeOrders({ kind: 'stack' });
  const isFrozen = health.outages.some(({ code }) => code === 'frozen');
  const isOfNow = !isOld && health.standing !== 'stopped';
  return (
    <div class="standing">
      <p>
        <StateMark tone={tone} text={word} />{' '}
        <span>{isOfNow ? describeWell(health) : `as of before: ${describeWell(health)}`}.</span>
      </p>
      <OrderButtons orders={[isFrozen ? thaw : freeze]} onGiven={() => undefined} />
    </div>
  );
}

function LiveMap(): VNode {
  const { map } = useLive();
  const age = useAge();
  if (map === undefined) {
    return (
      <p class="empty" role="status">
        Waiting for the first look at the nodes …
      </p>
    );
  }
  // Before the first look nothing says how old it is.
  return <AgingMap map={map} isOld={age.kind !== 'fresh'} />;
}

/** Drawn again when the map changed, or what is known of it; not each second, in which its age does. */
function AgingMap(props: { readonly map: NodeMap; readonly isOld: boolean }): VNode {
  const { map, isOld } = props;
  return useMemo(() => <SearchedMap map={isOld ? withoutKnowledge(map) : map} />, [map, isOld]);
}

/** Of one DaemonSet, which the stream does not tell. */
function MapOfSet(props: { readonly daemonSet: string }): VNode {
  const { daemonSet } = props;
  const age = useAge();
  const asked = useDocument<NodeMap>({
    words: 'get/nodes',
    parameters: { daemonset: daemonSet },
    everyMs: ASK_MS,
  });
  const isLate = age.kind === 'late' || asked.error !== undefined;
  return (
    <Shown asked={asked} command="rollcall get nodes">
      {(map) => <AgingMap map={map} isOld={isLate} />}
    </Shown>
  );
}

function SearchedMap(props: { readonly map: NodeMap }): VNode {
  const { map } = props;
  const [{ q = '', by, view }, change] = useQuery();
  const paint: Paint = by === 'release' ? 'release' : 'reason';
  const found = useMemo(() => searchMap(map, parseSearch(q)), [map, q]);
  const counts = useMemo(() => {
    const kinds = kindsOf(map);
    return sumKinds(
      found.map(({ cluster, places }) =>
        places === 'all' ? countKinds(cluster, kinds) : countKinds(cluster, kinds, places),
      ),
    );
  }, [map, found]);
  const search = (text: string): void => {
    change({ q: text });
  };
  return (
    <section aria-labelledby="nodes">
      <h2 id="nodes" class="unseen">
        Nodes
      </h2>
      <MapControls map={map} nodes={countFound(found)} clusters={found.length} />
      <Legend {...{ map, counts, paint }} onSearch={search} />
      {found.length === 0 ? (
        <p class="empty">
          {map.clusters.length === 0
            ? 'There is no cluster.'
            : 'No cluster and no node has these words.'}
        </p>
      ) : view === 'table' ? (
        <NodeTable map={map} found={found} />
      ) : (
        <FleetMap
          {...{ map, found, paint }}
          onCluster={(id) => {
            search(`cluster:${id}`);
          }}
        />
      )}
    </section>
  );
}

function MapControls(props: {
  readonly map: NodeMap;
  readonly nodes: number;
  readonly clusters: number;
}): VNode {
  const { map, nodes, clusters } = props;
  const [{ by = 'reason', view = 'map', daemonset = '' }] = useQuery();
  const sets = useDaemonSets(map);
  return (
    <Controls>
      <SearchField placeholder="cluster, node, label, DaemonSet, reason, release" />
      <SelectField
        {...{ label: 'DaemonSet', name: 'daemonset', value: daemonset }}
        options={[['', 'the worst of each node'], ...sets.map((name): Option => [name, name])]}
      />
      <Choice
        {...{ legend: 'Colours', name: 'by', value: by }}
        choices={[
          ['reason', 'reason'],
          ['release', 'release'],
        ]}
      />
      <Choice
        {...{ legend: 'As', name: 'view', value: view }}
        choices={[
          ['map', 'map'],
          ['table', 'table'],
        ]}
      />
      <output>
        {nodes.toLocaleString('en')} nodes in {clusters.toLocaleString('en')}{' '}
        {clusters === 1 ? 'cluster' : 'clusters'}
      </output>
    </Controls>
  );
}

function Choice(props: {
  readonly legend: string;
  readonly name: string;
  readonly value: string;
  readonly choices: readonly Option[];
}): VNode {
  const { legend, name, value, choices } = props;
  const [, change] = useQuery();
  return (
    <fieldset class="choice">
      <legend>{legend}</legend>
      {choices.map(([each, text], place) => (
        <label key={each}>
          <input
            type="radio"
            name={name}
            value={each}
            checked={value === each}
            onChange={() => {
              change({ [name]: place === 0 ? '' : each });
            }}
          />
          <span>{text}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** All that the stream told of, so that a chosen one does not hide the others. */
function useDaemonSets(map: NodeMap): readonly string[] {
  const live = useLive();
  const names = [...(live.map?.daemonSets ?? []), ...map.daemonSets];
  return [...new Set(names)].sort();
}
