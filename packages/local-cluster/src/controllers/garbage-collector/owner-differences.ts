/**
 * What changed between two lists of owner references, by UID.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Owner } from '../../objects/api-object.ts';

/** The differences. */
export interface OwnerDifferences {
  readonly added: readonly Owner[];
  readonly removed: readonly Owner[];
  /** UIDs of owners that a blocking reference no longer holds back. */
  readonly unblocked: readonly string[];
}

/** Compares; a reference whose fields changed is neither added nor removed. */
export function diffOwners(before: readonly Owner[], after: readonly Owner[]): OwnerDifferences {
  if (isDeepStrictEqual(before, after)) return { added: [], removed: [], unblocked: [] };
  const beforeByUid = new Map(before.map((owner) => [owner.uid, owner]));
  const afterByUid = new Map(after.map((owner) => [owner.uid, owner]));
  const isBlocking = (owner: Owner | undefined): boolean => owner?.blockOwnerDeletion === true;
  return {
    added: after.filter(({ uid }) => !beforeByUid.has(uid)),
    removed: before.filter(({ uid }) => !afterByUid.has(uid)),
    unblocked: before
      .filter((owner) => isBlocking(owner) && !isBlocking(afterByUid.get(owner.uid)))
      .map(({ uid }) => uid),
  };
}
