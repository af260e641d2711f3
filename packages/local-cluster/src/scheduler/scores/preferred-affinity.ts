/**
 * Preferred node affinity: the weights of the terms that a node matches.
 */
import type { NodeSelectorTerm, PodSpec } from '@rollcall/base/objects.ts';
import type { AffinityNode } from '@rollcall/base/node-affinity.ts';
import { compileNodeAffinity } from '@rollcall/base/node-affinity.ts';

interface PreferredTerm {
  readonly weight: number;
  readonly preference: NodeSelectorTerm;
}

/** Sum of the weights of a node's matching terms; terms that cannot be parsed match nothing. */
export function compilePreferredAffinity(spec: PodSpec): (node: AffinityNode) => number {
  const terms = (spec.affinity?.nodeAffinity?.['preferredDuringSchedulingIgnoredDuringExecution'] ??
    []) as readonly PreferredTerm[];
  if (terms.length === 0) return () => 0;
  const compiled = terms.map(({ weight, preference }) => ({
    weight,
    mismatchOf: compileNodeAffinity({
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [preference] },
        },
      },
    }),
  }));
  return (node) =>
    compiled.reduce(
      (sum, { weight, mismatchOf }) => sum + (mismatchOf(node) === undefined ? weight : 0),
      0,
    );
}
