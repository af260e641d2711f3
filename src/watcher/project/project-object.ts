/**
 * Projections of a Node, Pod or ControllerRevision that are fit to be sent.
 *
 * What they hold is read by core/projections. A field that is not as documented, or beyond what a message takes,
 * raises a fault, and the caller makes the object opaque. Equal strings and label maps are
 * shared, because there are ten thousands of these.
 */
import type { Uid } from '../../core/model/identifiers.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type {
  NodeProjection,
  PodProjection,
  RevisionProjection,
} from '../../core/model/projections.ts';
import * as core from '../../core/projections/project.ts';
import type { Reading, Sharing } from '../../core/projections/reading.ts';
import type { ObjectIdentity } from './object-identity.ts';
import { rawJson, readObject, readTexts } from '../../core/projections/raw-fields.ts';
import { raiseFault } from './object-identity.ts';
import { isObjectName, isSendableLabels, isSendableTaints } from './wire-bounds.ts';

/** A raw object whose identity was read. */
export interface ProjectionInput {
  readonly identity: ObjectIdentity;
  readonly raw: KubernetesObject;
  readonly shared: { readonly ownerUid?: Uid };
  readonly interner: Sharing;
}

/** A Node. */
export function projectNode(input: ProjectionInput): NodeProjection {
  checkLabels(input);
  const node = core.projectNode(input, readingOf(input));
  if (!isSendableTaints(node.taints)) raiseUnsendable('taints');
  return node;
}

/** A Pod. */
export function projectPod(input: ProjectionInput): PodProjection {
  checkLabels(input);
  const pod = core.projectPod({ ...input, ...input.shared }, readingOf(input));
  checkName(pod.boundNode);
  checkName(pod.targetNode);
  return pod;
}

/** A ControllerRevision, without its data. */
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
  if (!isSendableLabels(labels)) raiseUnsendable('labels');
}

function raiseUnsendable(field: string): never {
  raiseFault(`${field} are beyond what a message takes`);
}

/** The name, if there is one, can be one. */
function checkName(name: string | undefined): void {
  if (name !== undefined && !isObjectName(name)) raiseFault('a name is no name');
}
