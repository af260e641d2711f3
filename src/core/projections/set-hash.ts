/**
 * Set hashes and slice numbers: how watcher and ingest agree on what was sent.
 *
 * A membership hash is 48 bits over (set, uid, projection without resourceVersion); a type's set
 * hash is their sum modulo 2^48, so that it can be kept incrementally and in any order (protocol 19).
 * It detects loss, not malice: a watcher can only deceive about its own cluster.
 */
import { hash48 } from '@rollcall/base/hash48.ts';
import { canonicalJson, isSameJson, type JsonObject } from '@rollcall/base/json.ts';
import { projectionJson, type Projection } from '../model/projections.ts';
import type { Uid } from '../model/identifiers.ts';
import type { NameRange, SetHashes, SetId } from '../model/watcher-message.ts';

const MODULUS = 2 ** 48;

/** Text that is equal for two projections exactly when nothing but the version differs. */
export function projectionText(projection: Projection): string {
  return canonicalJson(withoutVersion(projection));
}

/** True exactly if the texts of two projections are equal. */
export function isSameProjection(left: Projection, right: Projection): boolean {
  if (left === right) return true;
  if (left.kind !== right.kind) return false;
  return isSameJson(withoutVersion(left), withoutVersion(right));
}

function withoutVersion(projection: Projection): JsonObject {
  const { resourceVersion: _version, ...rest } = projectionJson(projection);
  if (projection.kind !== 'DaemonSet') return rest;
  const { resourceVersion: _inner, ...metadata } = projection.object.metadata;
  return { ...rest, object: { ...projection.object, metadata } as unknown as JsonObject }; // a raw object
}

/** Hash of one membership: the object as it stands in one set. */
export function membershipHash(set: SetId, text: string): number {
  return hash48(`${set}\n${text}`);
}

/** `sum + hash` modulo 2^48. */
export function addHash(sum: number, hash: number): number {
  return (sum + hash) % MODULUS;
}

/** `sum − hash` modulo 2^48. */
export function subtractHash(sum: number, hash: number): number {
  return (sum - hash + MODULUS) % MODULUS;
}

/** Set hashes of an empty cluster. */
export const EMPTY_HASHES: SetHashes = { Node: 0, Pod: 0, DaemonSet: 0, ControllerRevision: 0 };

/** Which slice holds the object of this name. */
export function sliceIndexOf(name: string, sliceCount: number): number {
  // Stryker disable next-line ConditionalExpression: a hash modulo one is zero, too; this saves computing it
  return sliceCount === 1 ? 0 : hash48(name) % sliceCount;
}

/** The most slices that a set can have (design 4). */
export const SLICE_COUNT_MAX = 16;

/** How many slices a set has: of revisions there are few. */
export function slicesOfSet(set: SetId, sliceCount: number): number {
  return set.startsWith('revisions/') ? 1 : sliceCount;
}

/** The slices of a DaemonSet's pods and revisions. */
export function slicesOfDaemonSet(
  uid: Uid,
  sliceCount: number,
): readonly { readonly set: Exclude<SetId, 'daemonsets'>; readonly index: number }[] {
  return ([`pods/${uid}`, `revisions/${uid}`] as const).flatMap((set) =>
    Array.from({ length: slicesOfSet(set, sliceCount) }, (_, index) => ({ set, index })),
  );
}

/** Which slice of a set holds the object of this name. */
export function sliceIndexIn(set: SetId, name: string, sliceCount: number): number {
  return sliceIndexOf(name, slicesOfSet(set, sliceCount));
}

/** By what portions of DaemonSets are ordered, and their ranges told. */
export function nameKeyOf(daemonSet: {
  readonly namespace?: string;
  readonly name: string;
}): string {
  return `${daemonSet.namespace ?? ''}/${daemonSet.name}`;
}

/** True if a portion that covers these names would hold a DaemonSet of that key. */
export function isInRange({ after, upTo }: NameRange, key: string): boolean {
  return (after === undefined || key > after) && (upTo === undefined || key <= upTo);
}

/** Slices per set for a number of nodes: one up to 300, 4 up to 2,000, 16 above (design 4). */
export function sliceCountFor(nodes: number): number {
  if (nodes <= 300) return 1;
  return nodes <= 2000 ? 4 : SLICE_COUNT_MAX;
}
