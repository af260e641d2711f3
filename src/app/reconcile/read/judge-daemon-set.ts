/**
 * The DaemonSet of a basis, fit to be decided on, or why it is not.
 *
 * It travels as raw JSON, so its shape is checked once per run. One that travelled opaque, or does not have the shape, is
 * read live: that read decides (protocol 22). Decides nothing about its pods.
 */
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { whyLeftAlone } from '../../../core/daemon-set/strategy.ts';
import type { ClusterAccess } from '../../../ports/cluster/cluster-access.ts';
import type { NamespacedName } from '../../../ports/stores/view-store.ts';
import { findShapeProblem } from './daemon-set-shape.ts';
import type { Basis } from './read-basis.ts';

/** What the run is about. */
export type JudgedDaemonSet =
  | { readonly kind: 'usable'; readonly daemonSet: DaemonSetObject }
  | { readonly kind: 'terminating' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'malformed'; readonly problem: string }
  /** The selector is exactly empty (spec 2.3 step 4). */
  | { readonly kind: 'selecting-all'; readonly daemonSet: DaemonSetObject }
  | { readonly kind: 'unavailable'; readonly message: string };

/** What the view has of it, or the API server where that is not enough. */
export async function judgeDaemonSet(
  basis: Basis,
  key: NamespacedName,
  access: () => Promise<ClusterAccess | undefined>,
): Promise<JudgedDaemonSet> {
  const { object } = basis.daemonSet;
  if (object !== null && findProblem(object, basis) === undefined) return classify(object);
  const reader = await access();
  if (reader === undefined) {
    const reason = basis.daemonSet.opaqueReason;
    const problem = object === null ? undefined : findProblem(object, basis);
    return {
      kind: 'malformed',
      problem: problem ?? `it travelled opaque (${reason ?? 'unknown'})`,
    };
  }
  const live = await reader.getDaemonSet(key);
  if (live.kind === 'unavailable') return { kind: 'unavailable', message: live.message };
  if (live.kind === 'missing') return { kind: 'gone' };
  if (live.object.metadata.uid !== basis.ref.uid) return { kind: 'gone' };
  const problem = findProblem(live.object, basis);
  return problem === undefined ? classify(live.object) : { kind: 'malformed', problem };
}

function classify(daemonSet: DaemonSetObject): JudgedDaemonSet {
  const why = whyLeftAlone(daemonSet);
  if (why === undefined) return { kind: 'usable', daemonSet };
  return why.kind === 'selecting-all' ? { kind: why.kind, daemonSet } : why;
}

/** The first thing that is not as it must be, as a sentence for a person. */
function findProblem(object: DaemonSetObject, { ref }: Basis): string | undefined {
  const problem = findShapeProblem(object);
  if (problem !== undefined) return problem;
  return object.metadata.uid === ref.uid
    ? undefined
    : 'metadata.uid is not the one it is stored under';
}
