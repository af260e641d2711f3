/** Owner references that are given twice are kept once, with a warning, before any rule looks at them. */
import type { ApiObject, Owner } from '../../objects/api-object.ts';

/** An object whose owners are each there once. */
export interface WithUniqueOwners {
  readonly object: ApiObject;
  readonly warnings: readonly string[];
}

const NO_WARNINGS: readonly string[] = [];

/** The object with each owner once (compared as whole entries); the same object when nothing repeats. */
export function withUniqueOwners(object: ApiObject): WithUniqueOwners {
  const owners = object.metadata.ownerReferences;
  if (owners === undefined || owners.length < 2) return { object, warnings: NO_WARNINGS };
  const kept = new Map<string, Owner>();
  const repeatedUids = new Set<string>();
  for (const owner of owners) {
    const { apiVersion, kind, name, uid, controller, blockOwnerDeletion } = owner;
    const key = JSON.stringify([apiVersion, kind, name, uid, controller, blockOwnerDeletion]);
    if (kept.has(key)) repeatedUids.add(uid);
    else kept.set(key, owner);
  }
  if (repeatedUids.size === 0) return { object, warnings: NO_WARNINGS };
  return {
    object: { ...object, metadata: { ...object.metadata, ownerReferences: [...kept.values()] } },
    warnings: [
      '.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may ' +
        'reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ' +
        [...repeatedUids].join(', '),
    ],
  };
}
