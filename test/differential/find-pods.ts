/**
 * Which pod a step means by "the pod of d1 on n3", on one cluster as it is seen there. Pure.
 */
import type { KubernetesObject, OwnerReference } from '../conformance/control-plane/api.ts';
import { readPod } from '../conformance/control-plane/observed-records.ts';

/** The label that ties a pod to its revision. */
export const HASH_LABEL = 'controller-revision-hash';

export function controllerOf(object: KubernetesObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true);
}

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

export interface Population {
  readonly pods: readonly KubernetesObject[];
  readonly daemonSets: readonly KubernetesObject[];
  readonly revisions: readonly KubernetesObject[];
}

/** What a pod step is about, apart from the node. */
export interface Subject {
  readonly op: string;
  readonly set: string;
}

export function freeLabel(set: string): string {
  return `${set}-free`;
}

/**
 * The pods that a step may mean, on all nodes. Of two on a node (surge), the one of the older revision comes
 * first, then the older one: names differ between clusters and decide nothing.
 */
export function findSubjects(
  population: Population,
  { op, set }: Subject,
): readonly KubernetesObject[] {
  const daemonSet = population.daemonSets.find((it) => it.metadata.name === set);
  const numbers = numbersByHash(population.revisions, daemonSet?.metadata.uid);
  const rank = (pod: KubernetesObject): string => {
    const number = numbers.get(pod.metadata.labels?.[HASH_LABEL] ?? '') ?? 0;
    return `${String(number).padStart(6, '0')} ${pod.metadata.creationTimestamp ?? ''}`;
  };
  const isSubject = (pod: KubernetesObject): boolean => {
    const { isDeleting, isTerminal, labels } = readPod(pod);
    if (op === 'pod-free') return isDeleting && labels['app'] === set;
    if (isDeleting || isTerminal) return false;
    if (op === 'pod-reclaim') {
      return labels['app'] === freeLabel(set) && controllerOf(pod) === undefined;
    }
    if (daemonSet === undefined || controllerOf(pod)?.uid !== daemonSet.metadata.uid) return false;
    return op !== 'pod-ready' || labels['rollcall.test/never-ready'] === 'true';
  };
  return population.pods.filter(isSubject).sort((one, other) => (rank(one) < rank(other) ? -1 : 1));
}
