/** The two finalizers that ask the garbage collector to act before an owner goes. */
import type { ApiObject } from '../../objects/api-object.ts';

/** Its dependents are deleted first. */
export const FOREGROUND_FINALIZER = 'foregroundDeletion';
/** Its dependents lose their references to it first. */
export const ORPHAN_FINALIZER = 'orphan';

/** True when the object has this finalizer. */
export function hasFinalizer(object: ApiObject, finalizer: string): boolean {
  return object.metadata.finalizers?.includes(finalizer) ?? false;
}

/** True once its deletion has begun. */
export function isBeingDeleted(object: ApiObject): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}
