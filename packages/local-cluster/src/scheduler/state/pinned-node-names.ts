/**
 * The nodes that a required node affinity allows by name, as daemon pods have it: the scheduler then looks at them only.
 */
import type { NodeSelectorTerm, PodSpec } from '@rollcall/base/objects.ts';

/** Names of the only nodes that can match; undefined when some term does not name its node. */
export function pinnedNodeNames(spec: PodSpec): ReadonlySet<string> | undefined {
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const terms = required?.nodeSelectorTerms ?? [];
  if (terms.length === 0) return undefined;
  const names = new Set<string>();
  for (const term of terms) {
    const ofTerm = namesOfTerm(term);
    if (ofTerm === undefined) return undefined;
    for (const name of ofTerm) names.add(name);
  }
  return names;
}

/** The names that all requirements on metadata.name allow. */
function namesOfTerm(term: NodeSelectorTerm): ReadonlySet<string> | undefined {
  let names: ReadonlySet<string> | undefined;
  for (const { key, operator, values = [] } of term.matchFields ?? []) {
    if (key !== 'metadata.name' || operator !== 'In') continue;
    const allowed = new Set(values);
    names = names === undefined ? allowed : names.intersection(allowed);
  }
  return names;
}
