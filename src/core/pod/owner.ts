/**
 * Which pods and revisions a DaemonSet claims, and the patches that add or remove its owner reference (spec 2.4).
 *
 * Each patch carries the UID of its object: on another object of that name the API server refuses it (S4; Kubernetes
 * 1.36 answers 422, a UID is immutable), as it does a second controlling owner (422).
 */
import { compileSelector, type CompiledSelector } from '@rollcall/base/label-selector.ts';
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

/** What becomes of a pod or a revision: kept (ours), adopted, released, or not ours to look at. */
export type Claim = 'keep' | 'adopt' | 'release' | 'ignore';

/** A DaemonSet that claims. */
export interface Claimant {
  readonly uid: string;
  readonly namespace: string;
  readonly selector: CompiledSelector;
  readonly isDeleting: boolean;
}

/** The DaemonSet as a claimant. */
export function claimantOf({ metadata, spec }: DaemonSetObject): Claimant {
  return {
    uid: metadata.uid,
    namespace: metadata.namespace ?? '',
    selector: compileSelector(spec.selector),
    isDeleting: metadata.deletionTimestamp !== undefined,
  };
}

/**
 * Decides one pod or revision (table of spec 2.4). One whose controller has another UID is never touched (S4, S10). A
 * malformed selector neither adopts nor releases: it says nothing about any object.
 */
export function claimOf(
  claimant: Claimant,
  object: Pick<PodProjection, 'namespace' | 'labels' | 'isTerminating'> & {
    readonly ownerUid?: string | undefined;
  },
): Claim {
  const isMatch = claimant.selector.matches(object.labels);
  if (object.ownerUid !== undefined) {
    if (object.ownerUid !== claimant.uid) return 'ignore';
    // Every writer of pods may name any owner; an owner in another namespace is none.
    if (object.namespace !== claimant.namespace) return 'ignore';
    const isKept = isMatch || claimant.isDeleting || claimant.selector.invalid !== undefined;
    return isKept ? 'keep' : 'release';
  }
  const isAdoptable =
    isMatch &&
    !claimant.isDeleting &&
    !object.isTerminating &&
    object.namespace === claimant.namespace;
  return isAdoptable ? 'adopt' : 'ignore';
}

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
