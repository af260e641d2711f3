/**
 * A collection as it was at an earlier version: the newest state with the changes since then undone.
 *
 * A real server reads the old revision from etcd; here the store's history leads back, as far as it reaches.
 */
import type { ApiObject } from '../../objects/api-object.ts';
import { compareKeys, keyText } from '../../store/key-order.ts';
import type { ResourceCall } from '../steps/resource-call.ts';

/** The call's collection at a version, in key order; undefined when the history does not reach back to it. */
export function collectionAt(
  { services, resource, namespace }: ResourceCall,
  version: bigint,
): readonly ApiObject[] | undefined {
  const { store } = services;
  const { resourceName } = resource;
  const changes = store.changesAfter(resourceName, version);
  if (changes === undefined) return undefined;
  const newest = store.list(resourceName, namespace);
  if (changes.length === 0) return newest;
  const objects = new Map(newest.map((object) => [keyText(object.metadata), object]));
  for (const { object, previous } of changes.toReversed()) {
    if (namespace !== undefined && object.metadata.namespace !== namespace) continue;
    const key = keyText(object.metadata);
    if (previous === undefined) objects.delete(key);
    else objects.set(key, previous);
  }
  return [...objects.values()].sort((left, right) => compareKeys(left.metadata, right.metadata));
}
