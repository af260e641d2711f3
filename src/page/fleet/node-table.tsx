/** The map as a table: the same nodes, those that are not well first. */
import type { VNode } from 'preact';
import { LOOK_KINDS, LOOK_WORDS, kindsOf } from '../model/looks.ts';
import type { NodeMap } from '../model/documents.ts';
import { countFound } from '../model/search-map.ts';
import type { Found } from '../model/search-map.ts';
import { SetLink, ViewLink } from '../parts/link.tsx';
import { KindMark } from '../parts/mark.tsx';
import { Table } from '../parts/panel.tsx';
import { nodeWords } from './node-words.ts';
import type { NodeWords } from './node-words.ts';

const ROWS_MAX = 300;

export function NodeTable(props: {
  readonly map: NodeMap;
  readonly found: readonly Found[];
}): VNode {
  const { map, found } = props;
  const rows = gravestRows(map, found);
  const rest = countFound(found) - rows.length;
  return (
    <>
      <Table
        label="Nodes as a table"
        headings={['Node', 'Cluster', 'Is', 'DaemonSet', 'Release', 'Reason']}
        narrow="flow"
      >
        {rows.map((row) => (
          <NodeRow key={`${row.cluster} ${row.node}`} row={row} />
        ))}
      </Table>
      {rest > 0 ? (
        <p class="note">{rest.toLocaleString('en')} more nodes: search for fewer to see them.</p>
      ) : null}
    </>
  );
}

function NodeRow(props: { readonly row: NodeWords }): VNode {
  const { node, cluster, kind, code, title, daemonSet, release } = props.row;
  return (
    <tr>
      <th scope="row">
        <ViewLink route={{ view: 'node', cluster, node }}>{node}</ViewLink>
      </th>
      <td class="nowrap">{cluster}</td>
      <td class="nowrap">
        <KindMark kind={kind} /> {LOOK_WORDS[kind]}
      </td>
      <td>
        {daemonSet === '' ? null : <SetLink view="daemonset" cluster={cluster} set={daemonSet} />}
      </td>
      <td>
        <code>{release}</code>
      </td>
      <td>{code === '' ? title : `${code}: ${title}`}</td>
    </tr>
  );
}

/** The gravest, without words for those that have no row. */
function gravestRows(map: NodeMap, found: readonly Found[]): readonly NodeWords[] {
  const kinds = kindsOf(map);
  const byKind = new Map<string, NodeWords[]>(LOOK_KINDS.map((kind) => [kind, []]));
  for (const { cluster, places } of found) {
    const all = places === 'all' ? cluster.names.keys() : places;
    for (const place of all) {
      const words = nodeWords(map, cluster, place, kinds);
      const rows = byKind.get(words.kind);
      if (rows !== undefined && rows.length < ROWS_MAX) rows.push(words);
    }
  }
  return [...byKind.values()].flat().slice(0, ROWS_MAX);
}
