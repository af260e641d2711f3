/**
 * What to do with one object of which an owner may be gone (upstream: attemptToDeleteItem). Pure.
 *
 * Owners are solid (they exist), absent, or waiting (they exist, are deleted in the foreground and wait for this
 * object). One solid owner keeps the object. Without any, it is deleted; in the foreground when a waiting owner would
 * otherwise go before the object's own dependents.
 */
import type { ApiObject, Owner } from '../../objects/api-object.ts';
import type { OwnerState } from './classify-owner.ts';
import { FOREGROUND_FINALIZER, hasFinalizer, ORPHAN_FINALIZER } from './finalizers.ts';

/** An owner reference and what became of the owner. */
export interface ClassifiedOwner {
  readonly owner: Owner;
  readonly state: OwnerState;
}

/** What to do. */
export type CollectionDecision =
  | { readonly kind: 'keep' }
  /** Keep it, and drop the references to these owners. */
  | { readonly kind: 'drop-owners'; readonly uids: readonly string[] }
  | {
      readonly kind: 'delete';
      readonly propagation: 'Background' | 'Foreground' | 'Orphan';
      /** First make its own references non-blocking: its dependents wait too, so a circle could block itself. */
      readonly unblocksOwners: boolean;
    };

/** Decides. `latest` is the live object; the dependents are the graph's. */
export function decideCollection(input: {
  readonly latest: ApiObject;
  readonly owners: readonly ClassifiedOwner[];
  readonly hasDependents: boolean;
  readonly hasWaitingDependent: boolean;
}): CollectionDecision {
  const { latest, owners } = input;
  if (owners.length === 0) return { kind: 'keep' };
  const gone = owners.filter(({ state }) => state !== 'solid');
  if (gone.length < owners.length) {
    if (gone.length === 0) return { kind: 'keep' };
    return { kind: 'drop-owners', uids: gone.map(({ owner }) => owner.uid) };
  }
  if (input.hasDependents && owners.some(({ state }) => state === 'waiting')) {
    return {
      kind: 'delete',
      propagation: 'Foreground',
      unblocksOwners: input.hasWaitingDependent && owners.some(isBlocking),
    };
  }
  return { kind: 'delete', propagation: propagationOf(latest), unblocksOwners: false };
}

function isBlocking({ owner }: ClassifiedOwner): boolean {
  return owner.blockOwnerDeletion === true;
}

/** A finalizer that is there already decides. */
function propagationOf(latest: ApiObject): 'Background' | 'Foreground' | 'Orphan' {
  if (hasFinalizer(latest, ORPHAN_FINALIZER)) return 'Orphan';
  return hasFinalizer(latest, FOREGROUND_FINALIZER) ? 'Foreground' : 'Background';
}
