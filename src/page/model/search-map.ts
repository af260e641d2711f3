/**
 * The search of the map: words that all have to be found, each in anything, or in one field as `cluster:prod`.
 *
 * A word is looked for in the cluster's name, state and labels, and in a node's name, DaemonSet, reason and release.
 */
import { LOOK_WORDS, kindAt, kindsOf, reasonOf } from './looks.ts';
import type { LookKind } from './looks.ts';
import type { MapCluster, NodeMap } from './documents.ts';

const FIELDS = ['cluster', 'node', 'label', 'state', 'daemonset', 'reason', 'release'] as const;
export type SearchField = (typeof FIELDS)[number];

/** A word; without a field it is looked for everywhere. */
export interface Term {
  readonly field?: SearchField;
  readonly text: string;
}

/** What is left of a cluster: places of nodes, or all of them. */
export interface Found {
  readonly cluster: MapCluster;
  readonly places: 'all' | readonly number[];
}

/** The words of a search. */
export function parseSearch(text: string): readonly Term[] {
  return text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => {
      const [, name = '', rest = ''] = /^([a-z]+):(.+)$/.exec(word) ?? [];
      const field = FIELDS.find((each) => each === name);
      return field === undefined ? { text: word } : { field, text: rest };
    });
}

/** Clusters and nodes that have every word, in the order of the map. */
export function searchMap(map: NodeMap, terms: readonly Term[]): readonly Found[] {
  if (terms.length === 0) return map.clusters.map((cluster) => ({ cluster, places: 'all' }));
  const matchers = terms.map((term) => matcherOf(map, term));
  return map.clusters.flatMap((cluster) => {
    // A word that the cluster itself has leaves all of its nodes.
    const left = matchers.filter(({ ofCluster }) => !ofCluster(cluster));
    if (left.length === 0) return { cluster, places: 'all' as const };
    const places: number[] = [];
    for (let place = 0; place < cluster.names.length; place += 1) {
      if (left.every(({ ofNode }) => ofNode(cluster, place))) places.push(place);
    }
    return places.length === 0 ? [] : { cluster, places };
  });
}

/** How many nodes were found. */
export function countFound(found: readonly Found[]): number {
  return found.reduce(
    (sum, { cluster, places }) => sum + (places === 'all' ? cluster.names.length : places.length),
    0,
  );
}

interface Matcher {
  readonly ofCluster: (cluster: MapCluster) => boolean;
  readonly ofNode: (cluster: MapCluster, place: number) => boolean;
}

function matcherOf(map: NodeMap, { field, text }: Term): Matcher {
  const isIn = (word: string): boolean => word.toLowerCase().includes(text);
  const asks = (each: SearchField): boolean => field === undefined || field === each;
  const kinds = kindsOf(map);
  const reasons = map.reasons.map((code) => asks('reason') && isReasonLike(code, isIn));
  const kindsFound = kindsLike(asks('reason') ? text : undefined);
  const releases = map.releases.map((release) => asks('release') && isIn(release));
  const daemonSets = map.daemonSets.map((name) => asks('daemonset') && isIn(name));
  return {
    ofCluster: ({ id, state, labels }) =>
      (asks('cluster') && isIn(id)) ||
      (asks('state') && isIn(state)) ||
      (asks('label') && Object.entries(labels).some(([key, value]) => isIn(`${key}=${value}`))),
    ofNode: (cluster, place) =>
      (cluster.isKnown && isSet(reasons, cluster.reason[place])) ||
      kindsFound.has(kindAt(cluster, place, kinds)) ||
      isSet(releases, cluster.release[place]) ||
      isSet(daemonSets, cluster.daemonSet[place]) ||
      (asks('node') && isIn(cluster.names[place] ?? '')),
  };
}

function isSet(found: readonly boolean[], place: number | undefined): boolean {
  return found[place ?? -1] === true;
}

/** By its code, or by its title. Kinds are matched on their own. */
function isReasonLike(code: string, isIn: (word: string) => boolean): boolean {
  return isIn(code) || isIn(reasonOf(code)?.title ?? '');
}

/** A kind is meant by the whole of its name alone: `held`, `failing`. */
function kindsLike(text: string | undefined): ReadonlySet<LookKind> {
  const all = Object.keys(LOOK_WORDS) as LookKind[];
  return new Set(all.filter((kind) => kind === text));
}
