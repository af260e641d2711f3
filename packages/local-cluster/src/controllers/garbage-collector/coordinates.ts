/**
 * Where an object of the ownership graph is, or is said to be by a reference of one of its dependents.
 *
 * A reference names apiVersion, kind, name and UID; the namespace is the dependent's. So the same UID may be claimed at
 * several places, of which at most one is true.
 */
import type { ApiObject, Owner } from '../../objects/api-object.ts';
import { compareText } from '@rollcall/base/compare-text.ts';

/** Coordinates of one object; namespace '' for cluster-scoped ones. */
export interface Coordinates {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Where an observed object is. */
export function coordinatesOf(object: ApiObject): Coordinates {
  const { namespace = '', name, uid } = object.metadata;
  return { apiVersion: object.apiVersion, kind: object.kind, namespace, name, uid };
}

/** Where a reference says that its owner is. */
export function coordinatesOfOwner(owner: Owner, dependentNamespace: string): Coordinates {
  const { apiVersion, kind, name, uid } = owner;
  return { apiVersion, kind, namespace: dependentNamespace, name, uid };
}

/** True when a reference means this object, apart from the namespace. */
export function matchesOwner(owner: Owner, at: Coordinates): boolean {
  return (
    owner.uid === at.uid &&
    owner.name === at.name &&
    owner.kind === at.kind &&
    owner.apiVersion === at.apiVersion
  );
}

/** True for equal coordinates. */
export function isSamePlace(left: Coordinates, right: Coordinates): boolean {
  return compareCoordinates(left, right) === 0;
}

/** Order in which alternatives are tried: kind, apiVersion, namespace, name, UID. */
export function compareCoordinates(left: Coordinates, right: Coordinates): number {
  return (
    compareText(left.kind, right.kind) ||
    compareText(left.apiVersion, right.apiVersion) ||
    compareText(left.namespace, right.namespace) ||
    compareText(left.name, right.name) ||
    compareText(left.uid, right.uid)
  );
}
