/**
 * Which pod a step means by "the pod of d1 on n3", on one cluster as it is seen there. Pure.
 */
import type { KubernetesObject, OwnerReference } from '../conformance/control-plane/api.ts';
import { readPod } from '../conformance/control-plane/observed-records.ts';

/** The label that ties a pod to its revision. */
export const HASH_LABEL = 'controller-revision-hash';

/** The owner that controls an object. */
export function controllerOf(object: KubernetesObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true);
}

/** The number of a ControllerRevision. */
export function revisionNumber(revision: KubernetesObject): number {
  return Number(revision['revision'] ?? 0);
}

/** Numbers of a DaemonSet's revisions by their hash label. */
export function numbersByHash(
  revisions: readonly KubernetesObject[],
  daemonSetUid: string | undefined,
): ReadonlyMap<string, number> {
  const owned = revisions.filter((it) => controllerOf(it)?.uid === daemonSetUid);
  return new Map(owned.map((it) => [it.metadata.labels?.[HASH_LABEL] ?? '', revisionNumber(it)]));
}

/** What is looked through. */
export interface Population {
  readonly pods: readonly KubernetesObject[];
  readonly daemonSets: readonly KubernetesObject[];
  readonly revisions: readonly KubernetesObject[];
}

/**
 * The live pod of a set on a node. Of two (surge), the one of the older revision, then the older one:
 * names differ between clusters and decide nothing.
 */
export function findPodOf(
  population: Population,
  role: { readonly set: string; readonly nodeName: string },
): KubernetesObject | undefined {
  const daemonSet = population.daemonSets.find((it) => it.metadata.name === role.set);
  if (daemonSet === undefined) return undefined;
  const numbers = numbersByHash(population.revisions, daemonSet.metadata.uid);
  const rank = (pod: KubernetesObject): string => {
    const number = numbers.get(pod.metadata.labels?.[HASH_LABEL] ?? '') ?? 0;
    return `${String(number).padStart(6, '0')} ${pod.metadata.creationTimestamp ?? ''}`;
  };
  const found = population.pods.filter((pod) => {
    const { node, isDeleting, isTerminal } = readPod(pod);
    const isOwned = controllerOf(pod)?.uid === daemonSet.metadata.uid;
    return isOwned && node === role.nodeName && !isDeleting && !isTerminal;
  });
  return found.sort((one, other) => (rank(one) < rank(other) ? -1 : 1))[0];
}
