/** Equality of JSON values by meaning: key order plays no part, an absent member equals null, as in the API's objects. */
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import { isJsonObject } from '@rollcall/base/json.ts';

/** True when both mean the same. Shared parts are not walked. */
export function isEqualJson(left: Json | undefined, right: Json | undefined): boolean {
  if (left === right || (left ?? null) === (right ?? null)) return true;
  if (isJsonObject(left) && isJsonObject(right)) return isEqualObject(left, right);
  if (!Array.isArray(left) || !Array.isArray(right)) return false;
  const other: readonly Json[] = right;
  return (
    left.length === other.length &&
    left.every((item: Json, index) => isEqualJson(item, other[index]))
  );
}

function isEqualObject(left: JsonObject, right: JsonObject): boolean {
  for (const key of Object.keys(left)) {
    if (!isEqualJson(left[key], right[key])) return false;
  }
  return Object.keys(right).every((key) => (right[key] ?? null) === null || key in left);
}
