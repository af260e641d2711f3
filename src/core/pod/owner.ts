/**
 * The owner reference of a DaemonSet, and the patches that add or remove it (spec 2.4).
 *
 * Each patch carries the UID of the object that it means: on another object of that name the API
 * server refuses it (S4; Kubernetes 1.36 answers 422, a UID is immutable), as it does a second
 * controlling owner (422). Whether to adopt or release is decided in view.ts.
 */
import type { PatchEffect } from '../model/effects.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject, KubernetesObject } from '@rollcall/base/objects.ts';
import type { PodProjection, RevisionProjection } from '../model/projections.ts';

/** The controlling owner reference that our pods and revisions carry (spec 2.4). */
export function ownerReferenceOf(daemonSet: DaemonSetObject): JsonObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    name: daemonSet.metadata.name,
    uid: daemonSet.metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}

/** UID of the controlling owner of an object; undefined for an orphan. */
export function controllerUidOf(object: KubernetesObject): string | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true)?.uid;
}

/** What a patch has to know of a pod or a revision. */
export type Ownable = Pick<
  PodProjection | RevisionProjection,
  'kind' | 'namespace' | 'name' | 'uid'
>;

/** Adds our owner reference to an orphan (strategic-merge patch, spec 2.4). */
export function buildAdoptPatch(daemonSet: DaemonSetObject, orphan: Ownable): PatchEffect {
  const ownerReferences = [ownerReferenceOf(daemonSet)];
  return {
    ...patchOf(orphan),
    purpose: 'adopt',
    body: { metadata: { ownerReferences, uid: orphan.uid } },
  };
}

/** Removes our owner reference, by our UID, from an object that we own (spec 2.4). */
export function buildReleasePatch(daemonSet: DaemonSetObject, owned: Ownable): PatchEffect {
  const ownerReferences = [{ $patch: 'delete', uid: daemonSet.metadata.uid }];
  return {
    ...patchOf(owned),
    purpose: 'release',
    body: { metadata: { ownerReferences, uid: owned.uid } },
  };
}

function patchOf(object: Ownable): Omit<PatchEffect, 'purpose' | 'body'> {
  return {
    kind: 'patch',
    resource: object.kind === 'Pod' ? 'pods' : 'controllerrevisions',
    namespace: object.namespace,
    name: object.name,
    uid: object.uid,
    contentType: 'application/strategic-merge-patch+json',
  };
}
