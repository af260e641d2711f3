/**
 * Projections of a Node, Pod or ControllerRevision that are fit to be sent.
 *
 * core/projections reads their content. A field that is not as documented, or beyond what a message takes,
 * raises a fault, and the caller makes the object opaque. Equal strings and label maps are
 * shared, because there are ten thousands of these.
 */
import { isResourceVersion, uid } from '../../core/model/identifiers.ts';
import type { Uid, ResourceVersion } from '../../core/model/identifiers.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type {
  NodeProjection,
  PodProjection,
  RevisionProjection,
  WatchedKind,
} from '../../core/model/projections.ts';
import * as core from '../../core/projections/project.ts';
import {
  type Reading,
  type Sharing,
  rawJson,
  readObject,
  readTexts,
  readText,
  requireText,
} from '../../core/projections/raw-fields.ts';
import {
  isObjectName,
  isLabels,
  areTaints,
  isNamespace,
  isToken,
} from '../../core/projections/wire-bounds.ts';
import { isJsonObject, jsonMember } from '@rollcall/base/json.ts';

export interface ProjectionInput {
  readonly identity: ObjectIdentity;
  readonly raw: KubernetesObject;
  readonly shared: { readonly ownerUid?: Uid };
  readonly interner: Sharing;
}

export function projectNode(input: ProjectionInput): NodeProjection {
  checkLabels(input);
  const node = core.projectNode(input, readingOf(input));
  if (!areTaints(node.taints)) raiseUnsendable('taints');
  return node;
}

export function projectPod(input: ProjectionInput): PodProjection {
  checkLabels(input);
  const pod = core.projectPod({ ...input, ...input.shared }, readingOf(input));
  checkName(pod.boundNode);
  checkName(pod.targetNode);
  return pod;
}

export function projectRevision(input: ProjectionInput): RevisionProjection {
  checkLabels(input);
  return core.projectRevision({ ...input, ...input.shared }, readingOf(input));
}

function readingOf({ interner }: ProjectionInput): Reading {
  return { onFault: raiseFault, sharing: interner };
}

/** Before they are shared: a key such as `__proto__` does not outlive that. */
function checkLabels({ raw }: ProjectionInput): void {
  const labels = readTexts(readObject(rawJson(raw), 'metadata', raiseFault), 'labels', raiseFault);
  if (!isLabels(labels)) raiseUnsendable('labels');
}

function raiseUnsendable(field: string): never {
  raiseFault(`${field} are beyond what a message takes`);
}

/** The name, if there is one, can be one. */
function checkName(name: string | undefined): void {
  if (name !== undefined && !isObjectName(name)) raiseFault('a name is no name');
}

export interface ObjectIdentity {
  readonly of: WatchedKind;
  readonly uid: Uid;
  readonly name: string;
  readonly namespace?: string;
  readonly resourceVersion: ResourceVersion;
}

/** The identity of an object, or why it has none: names and uids that no object can have could spoil a message. */
export function identify(kind: WatchedKind, raw: KubernetesObject): ObjectIdentity | string {
  try {
    const metadata = readObject(rawJson(raw), 'metadata', raiseFault);
    const namespace = readText(metadata, 'namespace', raiseFault);
    const version = requireText(metadata, 'resourceVersion', raiseFault);
    if (!isResourceVersion(version)) return 'resourceVersion is no version';
    const isNamespaced = kind !== 'Node';
    if (isNamespaced && !isNamespace(namespace ?? '')) return 'namespace is no name';
    const ownUid = requireText(metadata, 'uid', raiseFault);
    if (!isToken(ownUid)) return 'uid is no token';
    const name = requireText(metadata, 'name', raiseFault);
    if (!isObjectName(name)) return 'name is no name';
    return {
      of: kind,
      uid: uid(ownUid),
      name,
      resourceVersion: version,
      ...(isNamespaced && namespace !== undefined ? { namespace } : {}),
    };
  } catch (cause) {
    if (cause instanceof UnexpectedFieldError) return cause.message;
    throw cause;
  }
}

/** A field that is not what the Kubernetes API documents. */
class UnexpectedFieldError extends Error {
  override readonly name = 'UnexpectedFieldError';
}

export function raiseFault(message: string): never {
  throw new UnexpectedFieldError(message);
}

/**
 * Whether the newest write of an object went to its status, by its managedFields. They tell whole seconds, and two writes of one
 * second cannot be told apart: then, and where managedFields are missing, the answer is no. It only saves heartbeats
 * (session/options.ts): a wrong yes would make a run that waits for a mark wait for the next message.
 */
export function isWrittenToStatus(raw: KubernetesObject): boolean {
  const fields = jsonMember(rawJson(raw)['metadata'], 'managedFields');
  if (!Array.isArray(fields)) return false;
  let newest = '';
  let isStatus = false;
  for (const entry of fields) {
    const time = isJsonObject(entry) ? entry['time'] : undefined;
    // An entry that does not say when may be the newest.
    if (!isJsonObject(entry) || typeof time !== 'string') return false;
    const isOfStatus = entry['subresource'] === 'status';
    if (time > newest) [newest, isStatus] = [time, isOfStatus];
    else if (time === newest) isStatus &&= isOfStatus;
  }
  return isStatus;
}
