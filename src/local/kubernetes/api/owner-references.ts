/** Owner references that are given twice are stored once, as the real server does before anything looks at them. */
import type { ApiObject, Owner } from '../objects/api-object.ts';

/** The object with each owner once (compared as whole entries); the same object when nothing repeats. */
export function withoutRepeatedOwners(object: ApiObject): ApiObject {
  const owners = object.metadata.ownerReferences;
  if (owners === undefined || owners.length < 2) return object;
  const seen = new Map<string, Owner>();
  for (const owner of owners) {
    const { apiVersion, kind, name, uid, controller, blockOwnerDeletion } = owner;
    const key = JSON.stringify([apiVersion, kind, name, uid, controller, blockOwnerDeletion]);
    if (!seen.has(key)) seen.set(key, owner);
  }
  if (seen.size === owners.length) return object;
  return { ...object, metadata: { ...object.metadata, ownerReferences: [...seen.values()] } };
}
