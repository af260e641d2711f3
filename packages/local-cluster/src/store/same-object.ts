/**
 * Does a write change anything? Compares two states of an object, the resourceVersion aside.
 *
 * Parts that both states share are equal without a look, so a write that changed one field costs the path to it.
 * A member that is undefined is an absent one, as in JSON.
 */
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../objects/api-object.ts';

/** Equal in everything but metadata.resourceVersion. */
export function isSameObject(left: ApiObject, right: ApiObject): boolean {
  if (left === right) return true;
  const { metadata: leftMetadata, ...leftRest } = left;
  const { metadata: rightMetadata, ...rightRest } = right;
  if (!hasSameMembers(leftRest, rightRest)) return false;
  const { resourceVersion: _left, ...leftOther } = leftMetadata;
  const { resourceVersion: _right, ...rightOther } = rightMetadata;
  return hasSameMembers(leftOther, rightOther);
}

function isSame(left: Json | undefined, right: Json | undefined): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object') return false;
  if (left === null || right === null) return false;
  if (isList(left)) {
    if (!isList(right) || left.length !== right.length) return false;
    return left.every((item, index) => isSame(item, right[index]));
  }
  return !isList(right) && hasSameMembers(left, right);
}

function hasSameMembers(left: JsonObject, right: JsonObject): boolean {
  for (const key of Object.keys(left)) {
    if (!isSame(left[key], right[key])) return false;
  }
  for (const key of Object.keys(right)) {
    if (left[key] === undefined && right[key] !== undefined) return false;
  }
  return true;
}

function isList(value: readonly Json[] | JsonObject): value is readonly Json[] {
  return Array.isArray(value);
}
