/**
 * Equality of JSON as the API server's semantic equality sees it: by value, where nothing and an empty list are the
 * same (decoding has left out empty maps), and quantities by amount under the keys where quantities live.
 *
 * Identical parts are equal without a look inside; structure is shared between versions of an object, so comparing two
 * versions costs little more than their difference.
 */
import { isJsonObject, type Json, type JsonObject } from '@rollcall/base/json.ts';
import { compareQuantities, parseQuantity } from '../../objects/quantity.ts';

const QUANTITY_MAPS: ReadonlySet<string> = new Set([
  'limits',
  'requests',
  'overhead',
  'capacity',
  'allocatable',
]);

/** Are these two values the same to the API server? */
export function equalJson(first: Json | undefined, second: Json | undefined): boolean {
  if (first === second) return true;
  if (isNothing(first) && isNothing(second)) return true;
  if (Array.isArray(first)) return Array.isArray(second) && equalLists(first, second);
  if (!isJsonObject(first)) return false;
  return isJsonObject(second) && equalObjects(first, second);
}

/** null, absent, or an empty list: Go decodes all of them to an empty slice or a nil pointer. */
function isNothing(value: Json | undefined): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

function equalLists(first: readonly Json[], second: readonly Json[]): boolean {
  if (first.length !== second.length) return false;
  return first.every((item, index) => equalJson(item, second[index]));
}

function equalObjects(first: JsonObject, second: JsonObject): boolean {
  for (const key in first) {
    if (!equalMembers(key, first[key], second[key])) return false;
  }
  for (const key in second) {
    if (first[key] === undefined && !isNothing(second[key])) return false;
  }
  return true;
}

function equalMembers(key: string, first: Json | undefined, second: Json | undefined): boolean {
  if (first === second) return true;
  if (QUANTITY_MAPS.has(key) && isJsonObject(first) && isJsonObject(second)) {
    return equalQuantities(first, second);
  }
  return equalJson(first, second);
}

function equalQuantities(first: JsonObject, second: JsonObject): boolean {
  const names = Object.keys(first);
  if (names.length !== Object.keys(second).length) return false;
  return names.every((name) => {
    const [one, other] = [first[name], second[name]];
    if (one === other) return true;
    if (typeof one !== 'string' || typeof other !== 'string') return false;
    const [left, right] = [parseQuantity(one), parseQuantity(other)];
    return left !== undefined && right !== undefined && compareQuantities(left, right) === 0;
  });
}

/** Equality of raw JSON that the API server keeps as text: even the order of members counts. */
export function sameRaw(first: Json | undefined, second: Json | undefined): boolean {
  return first === second || JSON.stringify(first) === JSON.stringify(second);
}
