/** A node of the map in words: for the pointer, the keyboard, and the table. */
import { LOOK_WORDS, kindAt, reasonOf } from '../model/looks.ts';
import type { LookKind } from '../model/looks.ts';
import type { MapCluster, NodeMap } from '../model/documents.ts';

export interface NodeWords {
  readonly node: string;
  readonly cluster: string;
  readonly kind: LookKind;
  /** Empty where nothing can be told. */
  readonly code: string;
  readonly title: string;
  readonly daemonSet: string;
  readonly release: string;
}

export function nodeWords(
  map: NodeMap,
  cluster: MapCluster,
  place: number,
  kinds: readonly LookKind[],
): NodeWords {
  const kind = kindAt(cluster, place, kinds);
  const code = cluster.isKnown ? nameAt(map.reasons, cluster.reason[place]) : '';
  return {
    node: nameAt(cluster.names, place),
    cluster: cluster.id,
    kind,
    code,
    title: code === '' ? unknownText(cluster) : (reasonOf(code)?.title ?? code),
    daemonSet: nameAt(map.daemonSets, cluster.daemonSet[place]),
    release: nameAt(map.releases, cluster.release[place]),
  };
}

function unknownText({ isKnown, unknown = LOOK_WORDS.unknown }: MapCluster): string {
  return isKnown ? LOOK_WORDS.unknown : unknown;
}

/** Empty: there is none. */
function nameAt(names: readonly string[], place = -1): string {
  return names[place] ?? '';
}

/** In one line. */
export function lineOf({ node, kind, code, title, daemonSet, release }: NodeWords): string {
  const about = daemonSet === '' ? '' : `, ${daemonSet}`;
  const has = release === '' ? '' : `, release ${release}`;
  const coded = code === '' ? '' : ` (${code})`;
  return `${node}: ${LOOK_WORDS[kind]}${coded}: ${title}${about}${has}`;
}
