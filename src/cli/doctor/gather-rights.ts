/**
 * Which rights an identity lacks, verb by verb, by access reviews.
 *
 * Its own are asked for with the registered credential, another's with the user's kubeconfig.
 */
import type { RightsFact } from '../../app/doctor/facts.ts';
import { checked, unchecked } from '../../app/doctor/finding.ts';
import type { Checked } from '../../app/doctor/finding.ts';
import type { Permission } from '../../core/daemon-set/permission.ts';
import type { ClusterInspection, RightsOf } from '../../ports/cluster/cluster-inspection.ts';
import { ask } from './ways-in.ts';
import type { WayIn, WaysIn } from './ways-in.ts';

/** Of the API, where they are no namespaced ones. */
const CLUSTER_SCOPED: readonly string[] = ['nodes', 'namespaces'];
const NAMESPACES_MAX = 20;

interface RightsQuestion {
  readonly needed: readonly Permission[];
  /** True if the registered credential is that identity itself. */
  readonly self: boolean;
  readonly identity: RightsOf;
}

/** Asks for them all. */
export async function gatherRights(
  { ways, namespaces }: { readonly ways: WaysIn; readonly namespaces: readonly string[] },
  { needed, self, identity }: RightsQuestion,
): Promise<Checked<RightsFact>> {
  const registered: WayIn = self
    ? ways.registration
    : { why: 'the registered credential is another one’s' };
  const answer = await ask({ ...ways, registration: registered }, async (inspection) => {
    const isOwn = inspection === ('inspection' in registered ? registered.inspection : undefined);
    const of = isOwn ? ('self' as const) : identity;
    const granted = await inspection.review(needed, of);
    if (granted.kind !== 'answered') return granted;
    const missing = needed.filter((_permission, index) => granted.value[index] !== true);
    const value = await narrow({ inspection, of, missing, namespaces });
    return { kind: 'answered', value } as const;
  });
  if (answer.kind === 'answered') {
    return checked({ required: needed.length, ...answer.value, by: answer.by });
  }
  return answer.kind === 'missing' ? unchecked('the API server reviews no rights') : answer;
}

/** Rights that are missing for all namespaces may be granted in some. */
async function narrow(options: {
  readonly inspection: ClusterInspection;
  readonly of: RightsOf;
  readonly missing: readonly Permission[];
  readonly namespaces: readonly string[];
}): Promise<Pick<RightsFact, 'missing' | 'missingIn'>> {
  const { inspection, of, missing, namespaces } = options;
  const isNarrow = ({ resource, namespace }: Permission): boolean =>
    namespace === undefined && !CLUSTER_SCOPED.includes(resource);
  const narrower = missing.filter(isNarrow);
  const missingIn: string[] = [];
  const looked = narrower.length === 0 ? [] : namespaces.slice(0, NAMESPACES_MAX);
  for (const namespace of looked) {
    const answer = await inspection.review(
      narrower.map((permission) => ({ ...permission, namespace })),
      of,
    );
    const isGranted = answer.kind === 'answered' && answer.value.every(Boolean);
    if (!isGranted) missingIn.push(namespace);
  }
  if (missingIn.length === looked.length) return { missing, missingIn: [] };
  return { missing: missing.filter((permission) => !isNarrow(permission)), missingIn };
}
