/**
 * What a cluster shows of a scenario, in a form that two clusters share: names of pods, UIDs, hashes and
 * times are replaced by what they stand for (a node, "its DaemonSet", the number of a revision). Pure.
 *
 * Pods that are bound to a node that is gone are pod garbage collection's business, and left out.
 */
import type { KubernetesObject, OwnerReference } from '../conformance/control-plane/api.ts';
import { readPod } from '../conformance/control-plane/observed-records.ts';
import { isWithoutAvailability } from './at-rest.ts';
import { controllerOf, HASH_LABEL, numbersByHash, revisionNumber } from './find-pods.ts';
import type { Mirror } from './mirror.ts';
import { roleOfNode, type Place } from './place.ts';

/** A pod, told apart by nothing but what it is. */
export interface PodPortrait {
  /** Number of its revision; 0 without a hash label, -1 where the hash belongs to none. */
  readonly revision: number;
  readonly phase: string;
  readonly isReady: boolean;
  readonly isDeleting: boolean;
  /** True where it is the very pod that was there at the quiet point before. */
  readonly isKept: boolean;
  readonly labels: Readonly<Record<string, unknown>>;
  readonly annotations: Readonly<Record<string, unknown>>;
  readonly finalizers: unknown;
  readonly owners: unknown;
  readonly spec: unknown;
}

export interface RevisionPortrait {
  readonly number: number;
  readonly data: unknown;
  readonly labels: unknown;
  readonly annotations: unknown;
  readonly owners: unknown;
}

export interface SetPortrait {
  readonly isDeleting: boolean;
  readonly isOnDelete: boolean;
  /** False where minReadySeconds are more than anybody waits for. */
  readonly hasAvailability: boolean;
  readonly generation: number;
  readonly annotations: unknown;
  readonly status: unknown;
  readonly revisions: readonly RevisionPortrait[];
  /** By role of the node; nodes without pods are left out. */
  readonly podsByNode: Readonly<Record<string, readonly PodPortrait[]>>;
}

export interface Portrait {
  readonly sets: Readonly<Record<string, SetPortrait>>;
  /** Pods and revisions that no DaemonSet controls, one line each, sorted. */
  readonly ownerless: readonly string[];
  /** Uids of all pods, for `isKept` of the next portrait. */
  readonly podUids: ReadonlySet<string>;
}

/** Annotation with which a DaemonSet is touched so that its controller looks at it. */
export const NUDGE_ANNOTATION = 'differential.rollcall.test/nudge';

interface Sight {
  readonly place: Place;
  readonly objects: ReturnType<Mirror['at']>;
  readonly keptUids: ReadonlySet<string>;
  readonly nodeNames: ReadonlySet<string>;
}

/** Draws the portrait of a place on one side. */
export function drawPortrait(
  mirror: Mirror,
  place: Place,
  keptUids: ReadonlySet<string>,
): Portrait {
  const objects = mirror.at(place);
  const nodeNames = new Set(objects.nodes.map((it) => it.metadata.name));
  const sight: Sight = { place, objects, keptUids, nodeNames };
  const sets: Record<string, SetPortrait> = {};
  for (const daemonSet of objects.daemonSets) {
    sets[daemonSet.metadata.name] = drawSet(sight, daemonSet);
  }
  return {
    sets: Object.fromEntries(Object.entries(sets).sort(([one], [other]) => (one < other ? -1 : 1))),
    ownerless: drawOwnerless(sight),
    podUids: new Set(objects.pods.map((it) => it.metadata.uid ?? '')),
  };
}

function drawSet(sight: Sight, daemonSet: KubernetesObject): SetPortrait {
  const { uid } = daemonSet.metadata;
  const numbers = numbersByHash(sight.objects.revisions, uid);
  const podsByNode: Record<string, PodPortrait[]> = {};
  for (const pod of sight.objects.pods) {
    if (controllerOf(pod)?.uid !== uid || isStray(sight, pod)) continue;
    const role = roleOfNode(sight.place, readPod(pod).node ?? '');
    (podsByNode[role] ??= []).push(drawPod(sight, pod, numbers));
  }
  for (const pods of Object.values(podsByNode)) pods.sort(byText);
  const revisions = sight.objects.revisions
    .filter((it) => controllerOf(it)?.uid === uid)
    .map(drawRevision)
    .sort((one, other) => one.number - other.number);
  const spec = daemonSet['spec'] as { readonly updateStrategy?: { readonly type?: string } };
  return {
    isDeleting: daemonSet.metadata.deletionTimestamp !== undefined,
    isOnDelete: spec.updateStrategy?.type === 'OnDelete',
    hasAvailability: !isWithoutAvailability(daemonSet),
    generation: daemonSet.metadata.generation ?? 0,
    annotations: without(daemonSet.metadata.annotations, NUDGE_ANNOTATION),
    status: daemonSet['status'] ?? {},
    revisions,
    podsByNode: sorted(podsByNode),
  };
}

function drawPod(
  sight: Sight,
  pod: KubernetesObject,
  numbers: ReadonlyMap<string, number>,
): PodPortrait {
  const record = readPod(pod);
  const hash = pod.metadata.labels?.[HASH_LABEL];
  const { nodeName: _bound, ...spec } = pod['spec'] as Record<string, unknown>;
  return {
    revision: hash === undefined ? 0 : (numbers.get(hash) ?? -1),
    phase: record.phase,
    isReady: record.isReady,
    isDeleting: record.isDeleting,
    isKept: sight.keptUids.has(record.uid),
    labels: without(pod.metadata.labels, HASH_LABEL),
    annotations: sorted(pod.metadata.annotations ?? {}),
    finalizers: pod.metadata.finalizers ?? [],
    owners: (pod.metadata.ownerReferences ?? []).map(drawOwner),
    spec: JSON.parse(JSON.stringify(spec).replaceAll(`"${record.node ?? ''}"`, '"<its node>"')),
  };
}

function drawRevision(revision: KubernetesObject): RevisionPortrait {
  const { labels, annotations, ownerReferences } = revision.metadata;
  return {
    number: revisionNumber(revision),
    data: revision['data'],
    labels: without(labels, HASH_LABEL),
    annotations: withoutKnown(annotations),
    owners: (ownerReferences ?? []).map(drawOwner),
  };
}

/**
 * Known difference `revision-generation` (docs/parity.md, src/core/history/history-match.ts): Rollcall keeps the template
 * generation of a revision's annotation up to date, the original leaves the one of the revision's first use.
 */
function withoutKnown(
  annotations: Readonly<Record<string, string>> | undefined,
): Record<string, unknown> {
  const { [NUDGE_ANNOTATION]: _nudge, ...rest } = annotations ?? {};
  return without(rest, 'deprecated.daemonset.template.generation');
}

function drawOwner(reference: OwnerReference): unknown {
  const { uid: _uid, ...rest } = reference;
  return sorted(rest);
}

function drawOwnerless(sight: Sight): readonly string[] {
  const lines: string[] = [];
  for (const pod of sight.objects.pods) {
    if (controllerOf(pod) !== undefined || isStray(sight, pod)) continue;
    const { node = '', phase, isDeleting } = readPod(pod);
    const app = pod.metadata.labels?.['app'] ?? '';
    const where = roleOfNode(sight.place, node);
    lines.push(`pod of ${app} on ${where}: ${phase}${isDeleting ? ', deleting' : ''}`);
  }
  for (const revision of sight.objects.revisions) {
    if (controllerOf(revision) !== undefined) continue;
    lines.push(
      `revision ${revisionNumber(revision)} of ${revision.metadata.labels?.['app'] ?? ''}`,
    );
  }
  return lines.sort();
}

function isStray({ nodeNames }: Sight, pod: KubernetesObject): boolean {
  const { node } = readPod(pod);
  return node !== undefined && !nodeNames.has(node);
}

function without(
  values: Readonly<Record<string, string>> | undefined,
  key: string,
): Record<string, unknown> {
  const { [key]: _left, ...rest } = values ?? {};
  return sorted(rest);
}

function sorted<Value>(values: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(values).sort(([one], [other]) => (one < other ? -1 : 1)),
  );
}

function byText(one: PodPortrait, other: PodPortrait): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;
}
