/**
 * How a node looks on the map: a kind, which has a colour and a shape, so that no colour is needed to tell two apart.
 *
 * Kinds are those of the table of reasons (core/status/reasons.ts), and one more for what cannot be told now.
 */
import { REASONS } from '../../core/status/reasons.ts';
import type { Reason, ReasonKind } from '../../core/status/reasons.ts';
import type { MapCluster, NodeMap } from './documents.ts';

/** A kind of cell. */
export type LookKind = ReasonKind | 'unknown';

/** The gravest first. */
export const LOOK_KINDS: readonly LookKind[] = [
  ...(['failing', 'held', 'coming', 'unknown', 'serving', 'not-wanted'] as const),
];

/** In words, as the legend has them. */
export const LOOK_WORDS: Readonly<Record<LookKind, string>> = {
  failing: 'failing',
  held: 'held',
  coming: 'coming',
  unknown: 'not known now',
  serving: 'serving',
  'not-wanted': 'no pod needed',
};

/** What the table says of a code; undefined: a newer release has it. */
export function reasonOf(code: string): Reason | undefined {
  return Object.hasOwn(REASONS, code) ? REASONS[code as keyof typeof REASONS] : undefined;
}

/** The kind of each reason of a map, by its place. */
export function kindsOf({ reasons }: Pick<NodeMap, 'reasons'>): readonly LookKind[] {
  return reasons.map((code) => reasonOf(code)?.kind ?? 'unknown');
}

/** The kind of the cell at a place. Nothing of a cluster that is not known is told. */
export function kindAt(
  { isKnown, reason }: Pick<MapCluster, 'isKnown' | 'reason'>,
  place: number,
  kinds: readonly LookKind[],
): LookKind {
  return isKnown ? (kinds[reason[place] ?? -1] ?? 'unknown') : 'unknown';
}

/** What every cluster is of which nothing is known any more. */
const UNHEARD = 'nothing was heard of it for a while';

/** A map of which nothing is known any more: the same clusters and nodes, and no word on how they are. */
export function withoutKnowledge(map: NodeMap): NodeMap {
  const clusters = map.clusters.map((cluster) => ({
    ...cluster,
    isKnown: false,
    unknown: cluster.unknown ?? UNHEARD,
  }));
  return { ...map, clusters };
}

/** How many cells have which kind. */
export type KindCounts = Readonly<Record<LookKind, number>>;

/** Counts the cells of a cluster at these places; absent: at all. */
export function countKinds(
  cluster: MapCluster,
  kinds: readonly LookKind[],
  places?: readonly number[],
): KindCounts {
  const counts: Record<LookKind, number> = {
    ...{ failing: 0, held: 0, coming: 0, unknown: 0, serving: 0, 'not-wanted': 0 },
  };
  if (places === undefined) {
    for (let place = 0; place < cluster.names.length; place += 1) {
      counts[kindAt(cluster, place, kinds)] += 1;
    }
  } else for (const place of places) counts[kindAt(cluster, place, kinds)] += 1;
  return counts;
}

/** The sum of counts. */
export function sumKinds(all: readonly KindCounts[]): KindCounts {
  const sum = (kind: LookKind): number => all.reduce((total, counts) => total + counts[kind], 0);
  return {
    ...{ failing: sum('failing'), held: sum('held'), coming: sum('coming') },
    ...{ unknown: sum('unknown'), serving: sum('serving'), 'not-wanted': sum('not-wanted') },
  };
}

/** `3 failing, 17 serving`; `no nodes`. */
export function countsText(counts: KindCounts): string {
  const parts = LOOK_KINDS.filter((kind) => counts[kind] > 0).map(
    (kind) => `${String(counts[kind])} ${LOOK_WORDS[kind]}`,
  );
  return parts.length === 0 ? 'no nodes' : parts.join(', ');
}

/** Releases that have a look of their own; the others share one. */
export const RELEASE_LOOKS = 6;

/** For each release its look, by how many nodes have it: 0 the most frequent, RELEASE_LOOKS - 1 all that are rare. */
export function releaseLooks({
  releases,
  clusters,
}: Pick<NodeMap, 'releases' | 'clusters'>): readonly number[] {
  const counts = releases.map(() => 0);
  for (const { release } of clusters) {
    for (const place of release) if (place >= 0) counts[place] = (counts[place] ?? 0) + 1;
  }
  const ranked = counts
    .map((count, place) => ({ count, place }))
    .sort((left, right) => right.count - left.count || left.place - right.place);
  const looks = releases.map(() => RELEASE_LOOKS - 1);
  ranked.forEach(({ place }, rank) => {
    looks[place] = Math.min(rank, RELEASE_LOOKS - 1);
  });
  return looks;
}
