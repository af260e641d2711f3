/**
 * S1 and S2 over all pods of a cluster: what stands on each node for each DaemonSet.
 *
 * S1, for a DaemonSet that never had surge: one non-terminal pod object, terminating or not. S2, with
 * surge: of pods that nobody deleted, one for each revision, and two revisions at most.
 */
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { nodeOf } from '../simulated-cluster.ts';
import { controllerUid } from '../simulated-objects.ts';
import { phaseOf } from './controllers.ts';

/** What is broken among these pods, as text. */
export function findCrowds(
  pods: readonly KubernetesObject[],
  surged: ReadonlySet<string>,
): readonly string[] {
  const places = new Map<string, KubernetesObject[]>();
  for (const pod of pods) {
    const owner = controllerUid(pod);
    if (owner === undefined || ['Succeeded', 'Failed'].includes(phaseOf(pod))) continue;
    // An owner of another namespace is none: whoever writes it is no pod of that DaemonSet.
    const place = `${pod.metadata.namespace ?? ''}/${owner} on ${nodeOf(pod) ?? '?'}`;
    places.set(place, [...(places.get(place) ?? []), pod]);
  }
  return [...places].flatMap(([place, here]) => {
    const [first] = here;
    const owner = first === undefined ? undefined : controllerUid(first);
    const isSurged = owner !== undefined && surged.has(owner);
    const crowd = isSurged ? crowdOfRevisions(here) : here.length > 1;
    const names = here
      .map((pod) => `${pod.metadata.name} (${revisionOf(pod) ?? 'none'})`)
      .join(', ');
    return crowd ? [`${isSurged ? 'S2' : 'S1'}: ${names} of ${place}`] : [];
  });
}

function crowdOfRevisions(here: readonly KubernetesObject[]): boolean {
  const live = here.filter((pod) => pod.metadata.deletionTimestamp === undefined);
  // Of which revision a pod is, its label says; who took the label off made one of no revision.
  const revisions = live.map((pod) => revisionOf(pod) ?? pod.metadata.uid);
  return revisions.length > 2 || new Set(revisions).size < revisions.length;
}

function revisionOf(pod: KubernetesObject): string | undefined {
  return pod.metadata.labels?.['controller-revision-hash'];
}
