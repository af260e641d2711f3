/** A map of which nothing is known any more: the same clusters and nodes, and no word on how they are. */
import type { NodeMap } from './documents.ts';

/** What every cluster is then. */
const UNHEARD = 'nothing was heard of it for a while';

/** Takes what is known out of a map. */
export function withoutKnowledge(map: NodeMap): NodeMap {
  const clusters = map.clusters.map((cluster) => ({
    ...cluster,
    isKnown: false,
    unknown: cluster.unknown ?? UNHEARD,
  }));
  return { ...map, clusters };
}
