/** The field of a pod that the store keeps an index of. */
import { isJsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../objects/api-object.ts';

/** spec.nodeName of a pod; undefined while it is bound to no node. */
export function nodeNameOf(pod: ApiObject): string | undefined {
  const { spec } = pod;
  if (!isJsonObject(spec)) return undefined;
  const { nodeName } = spec;
  return typeof nodeName === 'string' && nodeName !== '' ? nodeName : undefined;
}
