/**
 * What the failed clusters of a stage have in common: labels of registrations by smallest Fisher p × number of values (facts 4).
 *
 * As core/evidence/rank-attributes.ts does for nodes. A cause is claimed only if even p × all values tested is 5 % at most, and of more
 * than ten clusters; otherwise nothing is said, since three clusters always have something in common.
 */
import { fisherOneSided } from '../../evidence/fisher.ts';
import type { GivenCluster } from './tally-stage.ts';

/** Chance of a false claim. */
const CLAIM_AT = 0.05;
/** Of so few clusters nothing is claimed. */
const LISTED_UP_TO = 10;

/** In words; undefined: nothing can be claimed. Labels may hold what the nodes of a cluster have in common. */
export function describeCommonLabels(
  all: readonly GivenCluster[],
  isBad: (cluster: GivenCluster) => boolean,
): string | undefined {
  const given = all.filter(({ labels }) => labels !== undefined);
  if (given.length <= LISTED_UP_TO) return undefined;
  const badCount = given.filter(isBad).length;
  const values = valuesOf(given);
  const tested = [...values.values()].reduce((sum, byValue) => sum + byValue.size, 0);
  let best: { readonly words: string; readonly p: number; readonly score: number } | undefined;
  for (const [label, byValue] of values) {
    for (const [value, clusters] of byValue) {
      const withBad = clusters.filter(isBad).length;
      const p = fisherOneSided({
        updatedBad: withBad,
        updatedGood: clusters.length - withBad,
        othersBad: badCount - withBad,
        othersGood: given.length - clusters.length - (badCount - withBad),
      });
      const score = p * byValue.size;
      if (best === undefined || score < best.score) {
        const words = `most likely cause: ${label}=${value} (${String(withBad)} of ${String(clusters.length)} failed there, ${String(badCount - withBad)} of ${String(given.length - clusters.length)} elsewhere)`;
        best = { words, p, score };
      }
    }
  }
  return best !== undefined && best.p * tested <= CLAIM_AT ? best.words : undefined;
}

/** Clusters by label and value. */
function valuesOf(
  given: readonly GivenCluster[],
): ReadonlyMap<string, ReadonlyMap<string, readonly GivenCluster[]>> {
  const values = new Map<string, Map<string, GivenCluster[]>>();
  for (const cluster of given) {
    for (const [label, value] of Object.entries(cluster.labels ?? {})) {
      const byValue = values.get(label) ?? new Map<string, GivenCluster[]>();
      values.set(label, byValue);
      const clusters = byValue.get(value) ?? [];
      byValue.set(value, clusters);
      clusters.push(cluster);
    }
  }
  return values;
}
