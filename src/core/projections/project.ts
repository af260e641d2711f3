/**
 * The fields of a raw Node, Pod or ControllerRevision that can move a decision (spec 2.4, 2.5).
 *
 * The one place that reads them, for what a watcher reports and for what a live read answers alike, with what the
 * API server leaves out as it is meant. The two differ in what they do about a field that is not as documented: a
 * watcher lets the object travel opaque (protocol 22), a live read takes it as absent: an API server is trusted with
 * its own cluster. A pod's controller is its owner, a DaemonSet or not.
 */
import { nodeName, resourceVersion, uid } from '../model/identifiers.ts';
import type { ResourceVersion, Uid } from '../model/identifiers.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject, Taint } from '@rollcall/base/objects.ts';
import type {
  NodeProjection,
  NodeSystem,
  PodPhase,
  PodProjection,
  RevisionProjection,
} from '../model/projections.ts';
import { controllerUidOf } from '../pod/owner.ts';
import {
  boundedWord,
  rawJson,
  readInteger,
  readObject,
  readObjects,
  readText,
  readTexts,
  readTimeMs,
  requireText,
  type OnFault,
  type Labels,
  type Reading,
  type Sharing,
} from './raw-fields.ts';
import { readTrouble } from './pod-trouble.ts';

/** A raw object whose identity is known. */
export interface RawObject {
  readonly identity: {
    readonly uid: Uid;
    readonly name: string;
    readonly namespace?: string;
    readonly resourceVersion: ResourceVersion;
  };
  readonly ownerUid?: Uid;
  readonly raw: KubernetesObject;
}

/** A Node. */
export function projectNode(
  { identity, raw }: RawObject,
  { onFault, sharing }: Reading,
): NodeProjection {
  const json = rawJson(raw);
  const metadata = readObject(json, 'metadata', onFault);
  const spec = readObject(json, 'spec', onFault);
  const ready = findReadyCondition(json, onFault);
  const system = readSystem(json, { onFault, sharing });
  const createdAtMs = readTimeMs(metadata, 'creationTimestamp', onFault);
  return {
    kind: 'Node',
    name: nodeName(identity.name),
    uid: identity.uid,
    resourceVersion: identity.resourceVersion,
    labels: shareTexts(readTexts(metadata, 'labels', onFault), sharing),
    taints: readTaints(spec, { onFault, sharing }),
    unschedulable: spec['unschedulable'] === true,
    isReady: ready?.['status'] === 'True',
    isTerminating: readText(metadata, 'deletionTimestamp', onFault) !== undefined,
    ...(createdAtMs === undefined ? {} : { createdAtMs }),
    ...(system === undefined ? {} : { system }),
  };
}

/** Of a node whose kubelet has not told of it yet: nothing. What it leaves out is told as empty. */
function readSystem(raw: JsonObject, { onFault, sharing }: Reading): NodeSystem | undefined {
  const status = readObject(raw, 'status', onFault);
  if (status['nodeInfo'] === undefined || status['nodeInfo'] === null) return undefined;
  const info = readObject(status, 'nodeInfo', onFault);
  const read = (field: string, pool?: Sharing): string =>
    boundedWord(readText(info, field, onFault), pool) ?? '';
  return {
    kernelVersion: read('kernelVersion', sharing),
    osImage: read('osImage', sharing),
    containerRuntimeVersion: read('containerRuntimeVersion', sharing),
    kubeletVersion: read('kubeletVersion', sharing),
    bootId: read('bootID'), // each node has its own
  };
}

/** timeAdded is left out: it explains nothing and decides nothing (spec 2.5). */
function readTaints(spec: JsonObject, { onFault, sharing }: Reading): readonly Taint[] {
  return readObjects(spec, 'taints', onFault).map((raw) => {
    const value = readText(raw, 'value', onFault) ?? '';
    return {
      key: sharing.text(requireText(raw, 'key', onFault)),
      ...(value === '' ? {} : { value: sharing.text(value) }),
      effect: requireText(raw, 'effect', onFault) as Taint['effect'],
    };
  });
}

type Writable<T> = { -readonly [Field in keyof T]: T[Field] };

/** A Pod. */
export function projectPod(
  { identity, ownerUid, raw }: RawObject,
  reading: Reading,
): PodProjection {
  const { onFault, sharing } = reading;
  const json = rawJson(raw);
  const metadata = readObject(json, 'metadata', onFault);
  const status = readObject(json, 'status', onFault);
  const ready = findReadyCondition(json, onFault);
  const createdAtMs = readTimeMs(metadata, 'creationTimestamp', onFault);
  if (createdAtMs === undefined) onFault('creationTimestamp is missing');
  const pod: Writable<PodProjection> = {
    kind: 'Pod',
    namespace: sharing.text(identity.namespace ?? ''),
    name: identity.name,
    uid: identity.uid,
    resourceVersion: identity.resourceVersion,
    labels: sharing.labels(readTexts(metadata, 'labels', onFault)),
    phase: readPhase(status, onFault),
    isReady: ready?.['status'] === 'True',
    createdAtMs: createdAtMs ?? 0,
    isTerminating: readText(metadata, 'deletionTimestamp', onFault) !== undefined,
  };
  if (ownerUid !== undefined) pod.ownerUid = sharing.text(ownerUid) as Uid;
  const reason = boundedWord(readText(status, 'reason', onFault), sharing);
  if (reason !== undefined) pod.reason = reason;
  const trouble = pod.isTerminating ? undefined : readTrouble(status, reading);
  if (trouble !== undefined) pod.trouble = trouble;
  const readyChangedAtMs =
    ready === undefined ? undefined : readTimeMs(ready, 'lastTransitionTime', onFault);
  if (readyChangedAtMs !== undefined) pod.readyChangedAtMs = readyChangedAtMs;
  addNodes(pod, readObject(json, 'spec', onFault), reading);
  return pod;
}

/** Where the pod runs, or is meant to: spec.nodeName, else its required affinity (spec 2.4). */
function addNodes(
  pod: Writable<PodProjection>,
  spec: JsonObject,
  { onFault, sharing }: Reading,
): void {
  const bound = readText(spec, 'nodeName', onFault) ?? '';
  if (bound !== '') pod.boundNode = nodeName(sharing.text(bound));
  const target = bound === '' ? (readAffinityNode(spec, onFault) ?? '') : bound;
  if (target !== '') pod.targetNode = nodeName(sharing.text(target));
}

const PHASES: readonly string[] = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'];

/** An API server gives each pod the phase Pending that has none. */
function readPhase(status: JsonObject, onFault: OnFault): PodPhase {
  const phase = readText(status, 'phase', onFault) ?? 'Pending';
  if (PHASES.includes(phase)) return phase as PodPhase;
  onFault('phase is not known');
  return 'Unknown';
}

/** The node named by required affinity: the first matchFields entry of one name (spec 2.4). */
function readAffinityNode(spec: JsonObject, onFault: OnFault): string | undefined {
  const affinity = readObject(readObject(spec, 'affinity', onFault), 'nodeAffinity', onFault);
  const required = readObject(affinity, 'requiredDuringSchedulingIgnoredDuringExecution', onFault);
  for (const term of readObjects(required, 'nodeSelectorTerms', onFault)) {
    for (const field of readObjects(term, 'matchFields', onFault)) {
      const values = field['values'];
      const isNodeName = field['key'] === 'metadata.name' && field['operator'] === 'In';
      if (!isNodeName || !Array.isArray(values) || values.length !== 1) continue;
      const name: unknown = values[0];
      if (typeof name === 'string') return name;
    }
  }
  return undefined;
}

/** A ControllerRevision, without its data. */
export function projectRevision(
  { identity, ownerUid, raw }: RawObject,
  { onFault, sharing }: Reading,
): RevisionProjection {
  const json = rawJson(raw);
  const metadata = readObject(json, 'metadata', onFault);
  const revision = readInteger(json, 'revision', onFault);
  if (revision === undefined) onFault('revision is missing');
  return {
    kind: 'ControllerRevision',
    namespace: sharing.text(identity.namespace ?? ''),
    name: identity.name,
    uid: identity.uid,
    resourceVersion: identity.resourceVersion,
    ...(ownerUid === undefined ? {} : { ownerUid }),
    labels: sharing.labels(readTexts(metadata, 'labels', onFault)),
    revision: revision ?? 0,
    isTerminating: readText(metadata, 'deletionTimestamp', onFault) !== undefined,
  };
}

function findReadyCondition(raw: JsonObject, onFault: OnFault): JsonObject | undefined {
  const conditions = readObjects(readObject(raw, 'status', onFault), 'conditions', onFault);
  return conditions.find((condition) => condition['type'] === 'Ready');
}

function shareTexts(labels: Labels, sharing: Sharing): Labels {
  const shared: Record<string, string> = {};
  for (const key in labels) shared[sharing.text(key)] = sharing.text(labels[key] ?? '');
  return shared;
}

const LIVE: Reading = {
  onFault: () => undefined,
  sharing: { text: (value) => value, labels: (value) => value },
};

/** A pod as it is now. */
export function projectLivePod(pod: KubernetesObject): PodProjection {
  return projectPod(rawObjectOf(pod), LIVE);
}

/** A node as it is now. */
export function projectLiveNode(node: KubernetesObject): NodeProjection {
  return projectNode(rawObjectOf(node), LIVE);
}

function rawObjectOf(raw: KubernetesObject): RawObject {
  const { name, namespace, uid: ownUid, resourceVersion: version } = raw.metadata;
  const ownerUid = controllerUidOf(raw);
  return {
    identity: {
      name,
      uid: uid(ownUid),
      resourceVersion: resourceVersion(version),
      ...(namespace === undefined ? {} : { namespace }),
    },
    ...(ownerUid === undefined ? {} : { ownerUid: uid(ownerUid) }),
    raw,
  };
}
