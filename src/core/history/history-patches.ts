/**
 * The requests that history makes of an API server (spec 2.10), each with its precondition (S4, S10): merge patches,
 * since data that pass through Go come back with other bytes (measured on 1.36).
 *
 * Differs from upstream: a renumbered revision gets the DaemonSet's present template generation as annotation, and an
 * adopted one of other content loses the one it had: see history-match.ts.
 */
import type { DeleteRevisionEffect, PatchEffect } from '../model/effects.ts';
import { resourceVersion, uid, type Uid } from '../model/identifiers.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject, KubernetesObject, OwnerReference } from '@rollcall/base/objects.ts';
import { ownerReferenceOf } from '../pod/owner.ts';
import { REVISION_HASH_LABEL, TEMPLATE_GENERATION_ANNOTATION } from '../pod/pod-facts.ts';
import { revisionHashOf } from './revisions.ts';

/** Adds our owner reference to an orphan; one that does not hold the present template is told apart. */
export function buildRevisionAdoption(
  daemonSet: DaemonSetObject,
  orphan: KubernetesObject,
  content: 'present-template' | 'other-template',
): PatchEffect {
  const ownerReferences = [...ownersOf(orphan), ownerReferenceOf(daemonSet)];
  const isMarked = orphan.metadata.annotations?.[TEMPLATE_GENERATION_ANNOTATION] !== undefined;
  const annotations =
    isMarked && content === 'other-template'
      ? { annotations: { [TEMPLATE_GENERATION_ANNOTATION]: null } }
      : {};
  return patchOf(orphan, 'adopt', { ownerReferences, ...annotations });
}

/** Removes our owner reference; references to others stay. */
export function buildRevisionRelease(
  daemonSet: DaemonSetObject,
  owned: KubernetesObject,
): PatchEffect {
  const others = ownersOf(owned).filter(({ uid: owner }) => owner !== daemonSet.metadata.uid);
  return patchOf(owned, 'release', { ownerReferences: others });
}

/** Gives a revision the hash that it lacks (spec 2.10 step 2). */
export function buildHashRepair(revision: KubernetesObject): PatchEffect {
  return patchOf(revision, 'relabel', {
    labels: { [REVISION_HASH_LABEL]: revisionHashOf(revision) },
  });
}

/** Makes a revision the newest one (spec 2.10 step 5). */
export function buildRenumbering(
  daemonSet: DaemonSetObject,
  revision: KubernetesObject,
  number: number,
): PatchEffect {
  const generation = daemonSet.metadata.annotations?.[TEMPLATE_GENERATION_ANNOTATION];
  const annotations =
    generation === undefined
      ? {}
      : { annotations: { [TEMPLATE_GENERATION_ANNOTATION]: generation } };
  const patch = patchOf(revision, 'renumber', annotations);
  return { ...patch, body: { ...patch.body, revision: number } };
}

/** Deletes a revision as it was read. */
export function buildRevisionDelete(revision: {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}): DeleteRevisionEffect {
  return {
    kind: 'delete-revision',
    namespace: revision.namespace,
    name: revision.name,
    uid: uid(revision.uid),
    resourceVersion: resourceVersion(revision.resourceVersion),
  };
}

/** Moves a pod from a duplicate's hash to that of the revision which is kept (spec 2.10 step 5). */
export function buildPodRelabel(
  pod: { readonly namespace: string; readonly name: string; readonly uid: Uid },
  hash: string,
): PatchEffect {
  return {
    kind: 'patch',
    resource: 'pods',
    namespace: pod.namespace,
    name: pod.name,
    uid: pod.uid,
    purpose: 'relabel',
    contentType: 'application/merge-patch+json',
    body: { metadata: { uid: pod.uid, labels: { [REVISION_HASH_LABEL]: hash } } },
  };
}

function patchOf(
  { metadata }: KubernetesObject,
  purpose: PatchEffect['purpose'],
  change: JsonObject,
): PatchEffect {
  const { uid: ownUid, resourceVersion: version } = metadata;
  return {
    kind: 'patch',
    resource: 'controllerrevisions',
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    uid: uid(ownUid),
    purpose,
    contentType: 'application/merge-patch+json',
    body: { metadata: { uid: ownUid, resourceVersion: version, ...change } },
  };
}

function ownersOf({ metadata }: KubernetesObject): readonly JsonObject[] {
  const owners: readonly OwnerReference[] = metadata.ownerReferences ?? [];
  return owners as unknown as readonly JsonObject[]; // owner references are raw JSON
}
