/** Nodes as `rollcall get nodes` prints them: for people a line each, for programs the columns of the map. */
import { REASONS, type ReasonCode } from '../../core/status/reasons.ts';
import type { MappedCluster, NodeMap } from '../../core/status/node-map.ts';
import { toned, type Line, type Piece } from '../command-line/colour.ts';
import { outageLines } from '../command-line/freeze-words.ts';
import { plainText, renderTextTable } from '../command-line/text-table.ts';
import type { Printable } from '../command-line/output-form.ts';
import type { SeenNodes } from './look-at-fleet.ts';

const HEADINGS = ['CLUSTER', 'NODE', 'REASON', 'DAEMONSET', 'RELEASE'];

/** All of them. */
export function printNodes({ atMs, health, map }: SeenNodes): Printable & {
  readonly document: { readonly kind: 'NodeMap' } & Record<string, unknown>;
} {
  const { outages } = health;
  const { reasons, releases, daemonSets, clusters } = map;
  return {
    document: { kind: 'NodeMap', atMs, outages, reasons, releases, daemonSets, clusters },
    names: clusters.flatMap(({ id, names }) => names.map((name) => `node/${id}/${name}`)),
    table: () => [
      ...outageLines(outages),
      ...clusters
        .filter(({ isKnown }) => !isKnown)
        .map(({ id, unknown = '' }) => plainText(`! ${id}: ${unknown}`)),
      ...tableOf(map),
    ],
  };
}

function tableOf(map: NodeMap): readonly Line[] {
  const rows = map.clusters.flatMap((cluster) =>
    cluster.names.map((_, at) => cellsOf(cluster, at, map)),
  );
  return rows.length === 0 ? ['No nodes.'] : renderTextTable(HEADINGS, rows);
}

function cellsOf(
  { id, isKnown, names, reason, release, daemonSet }: MappedCluster,
  at: number,
  { reasons, releases, daemonSets }: NodeMap,
): readonly Piece[] {
  const pick = (texts: readonly string[], column: readonly number[]): string | undefined =>
    texts[column[at] ?? -1];
  const set = pick(daemonSets, daemonSet);
  const code = pick(reasons, reason);
  const isOfNone = isKnown && set === undefined;
  const otherwise = isOfNone ? '-' : '?';
  const hash = pick(releases, release) ?? (code === undefined ? otherwise : '-');
  return [id, names[at] ?? '', codePiece(code) ?? otherwise, set ?? otherwise, hash];
}

function codePiece(code: string | undefined): Piece | undefined {
  if (code === undefined) return undefined;
  const { kind } = REASONS[code as ReasonCode];
  return toned(code, kind === 'failing' ? 'failing' : kind === 'held' ? 'waiting' : undefined);
}
