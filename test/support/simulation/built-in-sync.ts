/**
 * One sync of the built-in DaemonSet controller for one DaemonSet, as far as worlds of copilot need it (rollouts facts 2).
 *
 * It adopts and releases, makes or renumbers the revision of the template, makes a pod of the *newest* template where a node
 * has none, deletes failed, surplus and misplaced ones, rolls by itself under RollingUpdate (without surge), trims history
 * and writes the status. What it knows of pods and nodes is given and may be old; what it writes meets the API server
 * as it is. Bytes decide what is one template, as in the original. It is no copy: back-off, expectations and events are left out.
 */
import { canonicalJson, type JsonObject, type Json } from '@rollcall/base/json.ts';
import { hash48 } from '@rollcall/base/hash48.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { nodeOf, type SimulatedCluster } from '../simulated-cluster.ts';
import { controllerUid } from '../simulated-objects.ts';
import type { NamespacedName } from '../../../src/ports/stores/view-store.ts';
import { phaseOf } from './controllers.ts';
import { placementOf } from './oracle.ts';
import { readyOf } from './staged-pods.ts';

const HASH_LABEL = 'controller-revision-hash';

export interface ObservedCluster {
  readonly pods: readonly KubernetesObject[];
  readonly nodes: readonly KubernetesObject[];
}

export interface BuiltInDesk {
  readonly api: SimulatedCluster;
  readonly nowMs: () => number;
  /** A name that no pod had. */
  readonly nextName: (daemonSet: string) => string;
  /** Deletes a pod as its controller does: the kubelet has to confirm. */
  readonly deletePod: (pod: KubernetesObject) => void;
  /** Hears of each pod that it made. */
  readonly onMade: (pod: KubernetesObject) => void;
}

/** What is to follow: `retry` where a create was refused, `again` when a pod becomes available. */
export interface SyncResult {
  readonly isRefused: boolean;
  readonly againInMs: number | undefined;
}

interface Subject {
  readonly set: KubernetesObject;
  readonly hash: string;
  readonly seen: ObservedCluster;
}

/** Syncs a DaemonSet that stands; one that is being deleted is left alone. */
export function syncBuiltIn(
  desk: BuiltInDesk,
  { namespace, name }: NamespacedName,
  seen: ObservedCluster,
): SyncResult {
  const found = desk.api.find('daemonsets', name, namespace);
  if (found === undefined || found.metadata.deletionTimestamp !== undefined) {
    return { isRefused: false, againInMs: undefined };
  }
  claim(desk, found);
  const subject = { set: found, hash: snapshot(desk, found), seen };
  const isRefused = manage(desk, subject);
  if (specOf(found).updateStrategy?.type === 'RollingUpdate') roll(desk, subject);
  trim(desk, subject);
  writeStatus(desk, subject);
  return { isRefused, againInMs: nextAvailabilityMs(desk, found) };
}

interface Spec {
  readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly template: {
    readonly metadata?: { readonly labels?: Readonly<Record<string, string>> };
    readonly spec: JsonObject;
  };
  readonly minReadySeconds?: number;
  readonly revisionHistoryLimit?: number;
  readonly updateStrategy?: {
    readonly type?: string;
    readonly rollingUpdate?: { readonly maxUnavailable?: number | string };
  };
}

function specOf(set: KubernetesObject): Spec {
  return set['spec'] as Spec; // as users of the simulation write it
}

function keyOf({ namespace = '', name }: KubernetesObject['metadata']): NamespacedName {
  return { namespace, name };
}

function ownerOf({ metadata: { uid, name } }: KubernetesObject): JsonObject {
  return { apiVersion: 'apps/v1', kind: 'DaemonSet', name, uid, controller: true };
}

/** Pods that match and have no controller are adopted, those that do not match any more are let go. */
function claim({ api }: BuiltInDesk, set: KubernetesObject): void {
  for (const pod of api.list('pods')) claimPod(api, set, pod);
  for (const { metadata } of api.list('controllerrevisions')) {
    const { ownerReferences = [] } = metadata;
    const isOwned = ownerReferences.some(({ controller }) => controller === true);
    if (isOwned || !isSelected(set, metadata)) continue;
    own(api, { kind: 'controllerrevisions', ...keyOf(metadata) }, [ownerOf(set)]);
  }
}

function claimPod(api: SimulatedCluster, set: KubernetesObject, pod: KubernetesObject): void {
  const { ownerReferences = [] } = pod.metadata;
  const owner = controllerUid(pod);
  const isMatch = isSelected(set, pod.metadata);
  if (owner === set.metadata.uid && !isMatch) {
    const kept = ownerReferences.filter(({ uid }) => uid !== set.metadata.uid);
    own(api, { kind: 'pods', ...keyOf(pod.metadata) }, kept);
  } else if (owner === undefined && isMatch && !isEnding(pod)) {
    own(api, { kind: 'pods', ...keyOf(pod.metadata) }, [...ownerReferences, ownerOf(set)]);
  }
}

function isSelected(
  set: KubernetesObject,
  { labels = {} }: Pick<KubernetesObject['metadata'], 'labels'>,
): boolean {
  const wanted = Object.entries(specOf(set).selector.matchLabels);
  return wanted.every(([key, value]) => labels[key] === value);
}

function own(
  api: SimulatedCluster,
  { kind, ...key }: NamespacedName & { readonly kind: 'pods' | 'controllerrevisions' },
  ownerReferences: readonly unknown[],
): void {
  api.change(kind, key, (object) => ({
    ...object,
    metadata: { ...object.metadata, ownerReferences: ownerReferences as never },
  }));
}

/** Makes or renumbers the revision of the template; answers its hash. */
function snapshot({ api }: BuiltInDesk, set: KubernetesObject): string {
  const { uid, name, namespace } = set.metadata;
  const { template } = specOf(set);
  const data = { spec: { template: { ...template, $patch: 'replace' } } } as unknown as JsonObject;
  const text = canonicalJson(data);
  const owned = revisionsOf(api, set);
  const newest = Math.max(0, ...owned.map(numberOf));
  const found = owned.find((revision) => canonicalJson(revision['data'] as Json) === text);
  const known = found?.metadata.labels?.[HASH_LABEL];
  const hash = known ?? hash48(`${uid} ${text}`).toString(36);
  if (found === undefined) {
    const metadata = {
      name: `${name}-${hash}`,
      namespace,
      labels: { ...template.metadata?.labels, [HASH_LABEL]: hash },
      ownerReferences: [ownerOf(set)],
    };
    const kind = { apiVersion: 'apps/v1', kind: 'ControllerRevision' };
    api.put('controllerrevisions', { ...kind, metadata, data, revision: newest + 1 });
    return hash;
  }
  if (numberOf(found) < newest) {
    api.change('controllerrevisions', keyOf(found.metadata), (object) => ({
      ...object,
      revision: newest + 1,
    }));
  }
  return hash;
}

/** Spec 2.7, by what was seen; true if a create was refused. */
function manage(desk: BuiltInDesk, { set, hash, seen }: Subject): boolean {
  const { uid } = set.metadata;
  const own = seen.pods.filter((pod) => controllerUid(pod) === uid);
  const byNode = Map.groupBy(own, (pod) => nodeOf(pod) ?? '');
  let isRefused = false;
  for (const node of seen.nodes) {
    const pods = byNode.get(node.metadata.name) ?? [];
    const placement = placementOf(set, node);
    if (placement === 'leave') for (const pod of pods) desk.deletePod(pod);
    else endSurplus(desk, pods);
    if (placement !== 'run' || pods.some((pod) => !isEnding(pod) || !isTerminal(pod))) continue;
    isRefused = !create(desk, { set, hash, node: node.metadata.name }) || isRefused;
  }
  const names = new Set(seen.nodes.map(({ metadata }) => metadata.name));
  for (const pod of own) {
    const isBound = (pod['spec'] as { readonly nodeName?: string }).nodeName !== undefined;
    if (!isBound && !names.has(nodeOf(pod) ?? '')) desk.deletePod(pod);
  }
  return isRefused;
}

/** Failed and succeeded pods go, and all but the oldest of those that live. */
function endSurplus(desk: BuiltInDesk, pods: readonly KubernetesObject[]): void {
  for (const pod of pods.filter(isTerminal)) desk.deletePod(pod);
  const live = pods.filter((pod) => !isTerminal(pod) && !isEnding(pod));
  const ageOf = ({ metadata }: KubernetesObject): string =>
    `${metadata.creationTimestamp ?? ''} ${metadata.name}`;
  const [, ...younger] = live.toSorted((left, right) => (ageOf(left) < ageOf(right) ? -1 : 1));
  for (const pod of younger) desk.deletePod(pod);
}

function create(
  { api, nextName, onMade }: BuiltInDesk,
  at: { readonly set: KubernetesObject; readonly hash: string; readonly node: string },
): boolean {
  const { set, hash, node } = at;
  if (api.isNamespaceTerminating) return false;
  const { template } = specOf(set);
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [node] }];
  const required = { nodeSelectorTerms: [{ matchFields }] };
  const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: nextName(set.metadata.name),
      namespace: set.metadata.namespace,
      labels: { ...template.metadata?.labels, [HASH_LABEL]: hash },
      ownerReferences: [ownerOf(set)],
    },
    spec: { ...template.spec, affinity },
    status: { phase: 'Pending' },
  };
  const admitted = api.hooks.admitPod?.(pod as unknown as KubernetesObject); // raw JSON of a pod
  if (admitted !== undefined && 'code' in admitted) return false;
  const given = (admitted ?? pod) as unknown as typeof pod;
  onMade(api.put('pods', { ...given, status: { phase: 'Pending' } }));
  return true;
}

/** The built-in rolling update without surge: unavailable old pods, then others within maxUnavailable. */
function roll(desk: BuiltInDesk, { set, hash, seen }: Subject): void {
  const nodes = seen.nodes.filter((node) => placementOf(set, node) === 'run');
  const own = seen.pods.filter((pod) => controllerUid(pod) === set.metadata.uid);
  const byNode = Map.groupBy(own, (pod) => nodeOf(pod) ?? '');
  const isUp = (pod: KubernetesObject): boolean => isAvailable(desk, set, pod);
  const podsOn = (node: KubernetesObject): readonly KubernetesObject[] =>
    byNode.get(node.metadata.name) ?? [];
  const { maxUnavailable = 1 } = specOf(set).updateStrategy?.rollingUpdate ?? {};
  const max =
    typeof maxUnavailable === 'number'
      ? maxUnavailable
      : Math.ceil((Number.parseInt(maxUnavailable, 10) * nodes.length) / 100);
  let room = Math.max(1, max) - nodes.filter((node) => !podsOn(node).some(isUp)).length;
  const old = nodes
    .flatMap(podsOn)
    .filter((pod) => pod.metadata.labels?.[HASH_LABEL] !== hash && !isEnding(pod));
  for (const pod of old) {
    if (isUp(pod) && room <= 0) continue;
    if (isUp(pod)) room -= 1;
    desk.deletePod(pod);
  }
}

/** History beyond its limit goes, the oldest first, but for what pods are of. */
function trim({ api }: BuiltInDesk, { set, hash }: Subject): void {
  const { uid } = set.metadata;
  const used = new Set(
    api
      .list('pods')
      .filter((pod) => controllerUid(pod) === uid)
      .map(({ metadata }) => metadata.labels?.[HASH_LABEL]),
  );
  const old = revisionsOf(api, set)
    .filter(({ metadata }) => metadata.labels?.[HASH_LABEL] !== hash)
    .toSorted((left, right) => numberOf(left) - numberOf(right));
  const { revisionHistoryLimit = 10 } = specOf(set);
  const unused = old.filter(({ metadata }) => !used.has(metadata.labels?.[HASH_LABEL]));
  for (const { metadata } of unused.slice(0, Math.max(0, old.length - revisionHistoryLimit))) {
    api.remove('controllerrevisions', metadata.name, metadata.namespace);
  }
}

function writeStatus(desk: BuiltInDesk, { set, hash }: Subject): void {
  const { api } = desk;
  const { uid, generation = 0 } = set.metadata;
  const key = keyOf(set.metadata);
  const nodes = api.list('nodes');
  const podsOn = podsByNode(api, set);
  const wanted = nodes.filter((node) => placementOf(set, node) === 'run');
  const oldest = wanted.flatMap(({ metadata }) => podsOn.get(metadata.name)?.[0] ?? []);
  const countOf = (is: (pod: KubernetesObject) => boolean): number => oldest.filter(is).length;
  const available = countOf((pod) => isAvailable(desk, set, pod));
  const status = {
    currentNumberScheduled: oldest.length,
    desiredNumberScheduled: wanted.length,
    numberAvailable: available,
    numberMisscheduled: nodes.filter(
      (node) => !wanted.includes(node) && podsOn.has(node.metadata.name),
    ).length,
    numberReady: countOf((pod) => readyOf(pod)?.status === 'True'),
    numberUnavailable: wanted.length - available,
    observedGeneration: generation,
    updatedNumberScheduled: countOf(({ metadata }) => metadata.labels?.[HASH_LABEL] === hash),
  };
  const found = api.find('daemonsets', key.name, key.namespace);
  if (found?.metadata.uid !== uid) return;
  const former = (found['status'] ?? {}) as Record<string, unknown>;
  if (Object.entries(status).every(([field, value]) => former[field] === value)) return;
  api.change('daemonsets', key, (object) => ({ ...object, status }));
}

/** The pods of a DaemonSet by node, the oldest first. */
function podsByNode(
  api: SimulatedCluster,
  set: KubernetesObject,
): ReadonlyMap<string, readonly KubernetesObject[]> {
  const bornAt = ({ metadata }: KubernetesObject): string => metadata.creationTimestamp ?? '';
  const own = api
    .list('pods')
    .filter((pod) => controllerUid(pod) === set.metadata.uid)
    .toSorted((left, right) => (bornAt(left) < bornAt(right) ? -1 : 1));
  return Map.groupBy(own, (pod) => nodeOf(pod) ?? '');
}

function isAvailable(
  { nowMs }: BuiltInDesk,
  set: KubernetesObject,
  pod: KubernetesObject,
): boolean {
  const ready = readyOf(pod);
  if (isEnding(pod) || ready?.status !== 'True') return false;
  const waitMs = (specOf(set).minReadySeconds ?? 0) * 1000;
  return waitMs === 0 || nowMs() - Date.parse(ready.lastTransitionTime ?? '') >= waitMs;
}

/** When a pod that is ready becomes available; undefined: none is to. */
function nextAvailabilityMs(desk: BuiltInDesk, set: KubernetesObject): number | undefined {
  const waitMs = (specOf(set).minReadySeconds ?? 0) * 1000;
  const dueMs = desk.api
    .list('pods')
    .filter((pod) => controllerUid(pod) === set.metadata.uid && !isEnding(pod))
    .filter((pod) => readyOf(pod)?.status === 'True' && !isAvailable(desk, set, pod))
    .map((pod) => Date.parse(readyOf(pod)?.lastTransitionTime ?? '') + waitMs - desk.nowMs());
  return dueMs.length === 0 ? undefined : Math.max(1, Math.min(...dueMs));
}

function revisionsOf(api: SimulatedCluster, set: KubernetesObject): readonly KubernetesObject[] {
  return api
    .list('controllerrevisions')
    .filter((revision) => controllerUid(revision) === set.metadata.uid);
}

function numberOf(revision: KubernetesObject): number {
  return typeof revision['revision'] === 'number' ? revision['revision'] : 0;
}

function isTerminal(pod: KubernetesObject): boolean {
  return ['Failed', 'Succeeded'].includes(phaseOf(pod));
}

function isEnding({ metadata }: KubernetesObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}
