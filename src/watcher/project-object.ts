/**
 * The fields of a Node, Pod or ControllerRevision that can move a decision (spec 2.4, 2.5).
 *
 * Reads raw objects field by field; a field that is not as documented throws
 * {@link UnexpectedFieldError}, and the caller makes the object opaque. Equal strings and label maps are
 * shared, because there are ten thousands of these.
 */
import { nodeName, uid } from '../core/model/identifiers.ts';
import type { Uid } from '../core/model/identifiers.ts';
import type { JsonObject } from '../core/model/json.ts';
import type { KubernetesObject, Taint } from '../core/model/kubernetes.ts';
import type {
  NodeProjection,
  PodPhase,
  PodProjection,
  RevisionProjection,
} from '../core/model/projections.ts';
import type { Interner, Labels } from './interner.ts';
import type { ObjectIdentity } from './object-identity.ts';
import {
  UnexpectedFieldError,
  readInteger,
  readObject,
  readObjects,
  readText,
  readTexts,
  readTimeMs,
  requireText,
} from './raw-fields.ts';
import { isObjectName, isSendableLabels, isSendableTaints } from './wire-bounds.ts';

/** Long enough for every reason that a kubelet gives. */
const REASON_LENGTH_MAX = 256;

/** A raw object whose identity was read. */
export interface ProjectionInput {
  readonly identity: ObjectIdentity;
  readonly raw: KubernetesObject;
  readonly shared: { readonly ownerUid?: Uid };
  readonly interner: Interner;
}

/** A Node. */
export function projectNode({ identity, raw, interner }: ProjectionInput): NodeProjection {
  const json = rawJson(raw);
  const metadata = readObject(json, 'metadata');
  const spec = readObject(json, 'spec');
  const ready = findReadyCondition(json);
  return {
    kind: 'Node',
    name: nodeName(identity.name),
    uid: identity.uid,
    resourceVersion: identity.resourceVersion,
    labels: internTexts(readLabels(metadata), interner),
    taints: readTaints(spec, interner),
    unschedulable: spec['unschedulable'] === true,
    isReady: ready?.['status'] === 'True',
    isTerminating: readText(metadata, 'deletionTimestamp') !== undefined,
  };
}

/** timeAdded is left out: it explains nothing and decides nothing (spec 2.5). */
function readTaints(spec: JsonObject, interner: Interner): readonly Taint[] {
  const taints = readObjects(spec, 'taints').map((raw) => {
    const value = readText(raw, 'value') ?? '';
    return {
      key: interner.text(requireText(raw, 'key')),
      ...(value === '' ? {} : { value: interner.text(value) }),
      effect: requireText(raw, 'effect') as Taint['effect'],
    };
  });
  return requireSendable(taints, isSendableTaints, 'taints');
}

type Writable<T> = { -readonly [Field in keyof T]: T[Field] };

/** A Pod. */
export function projectPod({ identity, raw, shared, interner }: ProjectionInput): PodProjection {
  const json = rawJson(raw);
  const metadata = readObject(json, 'metadata');
  const status = readObject(json, 'status');
  const ready = findReadyCondition(json);
  const createdAtMs = readTimeMs(metadata, 'creationTimestamp');
  if (createdAtMs === undefined || createdAtMs < 0)
    throw new UnexpectedFieldError('creationTimestamp is missing');
  const pod: Writable<PodProjection> = {
    kind: 'Pod',
    namespace: interner.text(identity.namespace ?? ''),
    name: identity.name,
    uid: identity.uid,
    resourceVersion: identity.resourceVersion,
    labels: interner.labels(readLabels(metadata)),
    phase: readPhase(status),
    isReady: ready?.['status'] === 'True',
    createdAtMs,
    isTerminating: readText(metadata, 'deletionTimestamp') !== undefined,
  };
  if (shared.ownerUid !== undefined) pod.ownerUid = uid(interner.text(shared.ownerUid));
  const reason = readText(status, 'reason') ?? '';
  // Whoever may write a pod's status may write anything here; it is compared with words of the kubelet.
  const word = reason.slice(0, REASON_LENGTH_MAX).replace(/[^\x20-\x7e]/g, '?');
  if (word !== '') pod.reason = interner.text(word);
  const readyChangedAtMs =
    ready === undefined ? undefined : readTimeMs(ready, 'lastTransitionTime');
  if (readyChangedAtMs !== undefined && readyChangedAtMs >= 0) {
    pod.readyChangedAtMs = readyChangedAtMs;
  }
  addNodes(pod, readObject(json, 'spec'), interner);
  return pod;
}

/** Where the pod runs, or is meant to: spec.nodeName, else its required affinity (spec 2.4). */
function addNodes(pod: Writable<PodProjection>, spec: JsonObject, interner: Interner): void {
  const bound = readText(spec, 'nodeName') ?? '';
  if (bound !== '') pod.boundNode = nodeName(interner.text(checkedName(bound)));
  const target = bound === '' ? (readAffinityNode(spec) ?? '') : bound;
  if (target !== '') pod.targetNode = nodeName(interner.text(checkedName(target)));
}

const PHASES: readonly string[] = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'];

function readPhase(status: JsonObject): PodPhase {
  const phase = readText(status, 'phase') ?? 'Pending';
  if (!PHASES.includes(phase)) throw new UnexpectedFieldError('phase is not known');
  return phase as PodPhase;
}

/** The node named by required affinity: the first matchFields entry of one name (spec 2.4). */
function readAffinityNode(spec: JsonObject): string | undefined {
  const affinity = readObject(readObject(spec, 'affinity'), 'nodeAffinity');
  const required = readObject(affinity, 'requiredDuringSchedulingIgnoredDuringExecution');
  for (const term of readObjects(required, 'nodeSelectorTerms')) {
    for (const field of readObjects(term, 'matchFields')) {
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
export function projectRevision({
  identity,
  raw,
  shared,
  interner,
}: ProjectionInput): RevisionProjection {
  const json = rawJson(raw);
  const metadata = readObject(json, 'metadata');
  const revision = readInteger(json, 'revision');
  if (revision === undefined) throw new UnexpectedFieldError('revision is missing');
  return {
    kind: 'ControllerRevision',
    namespace: interner.text(identity.namespace ?? ''),
    name: identity.name,
    uid: identity.uid,
    resourceVersion: identity.resourceVersion,
    ...(shared.ownerUid === undefined ? {} : { ownerUid: shared.ownerUid }),
    labels: interner.labels(readLabels(metadata)),
    revision,
    isTerminating: readText(metadata, 'deletionTimestamp') !== undefined,
  };
}

function findReadyCondition(raw: JsonObject): JsonObject | undefined {
  const conditions = readObjects(readObject(raw, 'status'), 'conditions');
  return conditions.find((condition) => condition['type'] === 'Ready');
}

function readLabels(metadata: JsonObject): Labels {
  return requireSendable(readTexts(metadata, 'labels'), isSendableLabels, 'labels');
}

function requireSendable<T>(value: T, isSendable: (value: T) => boolean, field: string): T {
  if (!isSendable(value))
    throw new UnexpectedFieldError(`${field} are beyond what a message takes`);
  return value;
}

/** The name, if it can be one. */
function checkedName(name: string): string {
  if (!isObjectName(name)) throw new UnexpectedFieldError('a name is no name');
  return name;
}

function internTexts(labels: Labels, interner: Interner): Labels {
  const shared: Record<string, string> = {};
  for (const key in labels) shared[interner.text(key)] = interner.text(labels[key] ?? '');
  return shared;
}

/** The same raw value, to be read without trusting its type. */
export function rawJson(raw: KubernetesObject): JsonObject {
  return raw as unknown as JsonObject; // the same raw value, read without trusting its type
}
