/**
 * JSON values as they travel: Kubernetes objects, messages and items.
 *
 * Rollcall keeps Kubernetes objects as raw JSON throughout, because typed models drop the fields
 * that they do not know (spec aws-facts 3.5). This module does not validate; adapters parse what
 * comes from outside before it gets here.
 */

/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. Key order carries no meaning. */
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** Narrows an unknown value to a JSON object (not null, not an array). */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A member of what may be an object; undefined where there is none. For reading deep into foreign objects. */
export function jsonMember(value: Json | undefined, name: string): Json | undefined {
  return isJsonObject(value) ? value[name] : undefined;
}

/** The items of what may be a list; none where it is not one. */
export function jsonItems(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

/**
 * True if two JSON values have equal canonical text, without making it. What they share is not looked into: of two states
 * of one thing most is the same object.
 */
export function isSameJson(left: Json | undefined, right: Json | undefined): boolean {
  if (left === right) return true;
  if (Array.isArray(left)) return Array.isArray(right) && isSameList(left, right);
  if (isJsonObject(left)) return isJsonObject(right) && isSameObject(left, right);
  return (left ?? null) === (right ?? null);
}

function isSameList(left: readonly Json[], right: readonly Json[]): boolean {
  return (
    left.length === right.length && left.every((item, index) => isSameJson(item, right[index]))
  );
}

function isSameObject(left: JsonObject, right: JsonObject): boolean {
  let membersLeft = 0;
  for (const key of Object.keys(right)) if (right[key] !== undefined) membersLeft += 1;
  for (const key of Object.keys(left)) {
    if (left[key] === undefined) continue;
    if (right[key] === undefined || !isSameJson(left[key], right[key])) return false;
    membersLeft -= 1;
  }
  return membersLeft === 0;
}

/**
 * Canonical text of a JSON value: keys sorted, undefined members left out. Two values with equal
 * meaning have equal canonical text, whatever the key order they arrived in.
 */
export function canonicalJson(value: Json | undefined): string {
  if (value === undefined) return 'null';
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item: Json) => canonicalJson(item)).join(',')}]`;
  const object = value as JsonObject;
  const members = Object.keys(object)
    .filter((key) => object[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(object[key])}`);
  return `{${members.join(',')}}`;
}
