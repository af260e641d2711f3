/**
 * Cells as numbers: what is drawn of a node, so that only those that changed are drawn again.
 *
 * By reason a cell shows its kind, and a notch where its pod has another release than most of its DaemonSet. By release it shows the
 * rank of the release, and its kind where that is not well.
 */
import { LOOK_KINDS, kindAt, releaseLooks } from './looks.ts';
import type { LookKind } from './looks.ts';
import type { MapCluster, NodeMap } from './documents.ts';

/** What colours tell. */
export type Paint = 'reason' | 'release';

/** What one cell shows. */
export interface CellLook {
  readonly kind: LookKind;
  /** By release: its rank, -1 without a pod. By reason: 1 where it is another release than most, else 0. */
  readonly variant: number;
  /** Not found by the search. */
  readonly isDim: boolean;
}

const VARIANTS = 16;
const DIM = 1024;

/** What of a map decides looks. */
export interface CellRules {
  readonly paint: Paint;
  readonly kinds: readonly LookKind[];
  readonly ranks: readonly number[];
  /** By DaemonSet: the release that most of its nodes have. */
  readonly usual: readonly number[];
}

/** The rules of a map. */
export function cellRules(map: NodeMap, kinds: readonly LookKind[], paint: Paint): CellRules {
  return { paint, kinds, ranks: releaseLooks(map), usual: usualReleases(map) };
}

/** For each DaemonSet the release that most nodes have, -1 where none has one. */
export function usualReleases({
  daemonSets,
  clusters,
}: Pick<NodeMap, 'daemonSets' | 'clusters'>): readonly number[] {
  const counts = daemonSets.map(() => new Map<number, number>());
  for (const { daemonSet, release } of clusters) {
    daemonSet.forEach((set, place) => {
      const has = release[place] ?? -1;
      const of = counts[set];
      if (has >= 0 && of !== undefined) of.set(has, (of.get(has) ?? 0) + 1);
    });
  }
  return counts.map((of) => {
    const ranked = [...of].sort(([left, many], [right, more]) => more - many || left - right);
    return ranked[0]?.[0] ?? -1;
  });
}

/** The cells of a cluster; `places`: those that the search found. */
export function cellCodes(
  cluster: MapCluster,
  rules: CellRules,
  places: 'all' | readonly number[],
): Uint16Array {
  const codes = new Uint16Array(cluster.names.length);
  const isPartial = places !== 'all';
  for (let place = 0; place < codes.length; place += 1) {
    const kind = LOOK_KINDS.indexOf(kindAt(cluster, place, rules.kinds));
    const variant = variantAt(cluster, place, rules) + 1;
    codes[place] = kind * VARIANTS + variant + (isPartial ? DIM : 0);
  }
  if (isPartial) for (const place of places) codes[place] = (codes[place] ?? 0) % DIM;
  return codes;
}

function variantAt(
  { release, daemonSet }: MapCluster,
  place: number,
  { paint, ranks, usual }: CellRules,
): number {
  const has = release[place] ?? -1;
  if (paint === 'release') return ranks[has] ?? -1;
  const usually = usual[daemonSet[place] ?? -1] ?? -1;
  return has >= 0 && usually >= 0 && has !== usually ? 1 : 0;
}

/** What a code says. */
export function lookOf(code: number): CellLook {
  const isDim = code >= DIM;
  const rest = code % DIM;
  const kind = LOOK_KINDS[Math.floor(rest / VARIANTS)] ?? 'unknown';
  return { kind, variant: (rest % VARIANTS) - 1, isDim };
}
