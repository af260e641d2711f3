/**
 * Reads raw JSON, and changes it without writing into it.
 *
 * Every edit gives back the very same value when nothing changes: an object that has all its defaults already costs a
 * walk and no copy, and callers can tell by identity whether anything happened. The readers are total: a member that is
 * absent, or not of the expected shape, reads as empty.
 */
import { isJsonObject, type Json, type JsonObject } from '@rollcall/base/json.ts';

/** What an absent object reads as. */
const EMPTY_OBJECT: JsonObject = Object.freeze({});
const EMPTY_LIST: readonly JsonObject[] = Object.freeze([]);

/** A member that is an object; an empty one when there is none. */
export function objectAt(parent: JsonObject, key: string): JsonObject {
  const value = parent[key];
  return isJsonObject(value) ? value : EMPTY_OBJECT;
}

/** A member that is an object; undefined when there is none. */
export function optionalObjectAt(parent: JsonObject, key: string): JsonObject | undefined {
  const value = parent[key];
  return isJsonObject(value) ? value : undefined;
}

/** A member that is a list of objects; empty when there is none. */
export function listAt(parent: JsonObject, key: string): readonly JsonObject[] {
  const value = parent[key];
  // The schema has decoded the list: all its items are objects.
  return Array.isArray(value) ? (value as readonly JsonObject[]) : EMPTY_LIST;
}

/** A member that is a list of texts; empty when there is none. */
export function textsAt(parent: JsonObject, key: string): readonly string[] {
  const value = parent[key];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** A member that is a text; '' when there is none. */
export function textAt(parent: JsonObject, key: string): string {
  const value = parent[key];
  return typeof value === 'string' ? value : '';
}

/** A member that is a number; undefined when there is none. */
export function numberAt(parent: JsonObject, key: string): number | undefined {
  const value = parent[key];
  return typeof value === 'number' ? value : undefined;
}

/** Is the member present, and not null? */
export function isPresent(parent: JsonObject, key: string): boolean {
  const value = parent[key];
  return value !== undefined && value !== null;
}

/** The members of a map of texts. */
export function textEntriesAt(
  parent: JsonObject,
  key: string,
): readonly (readonly [string, string])[] {
  const map = parent[key];
  if (!isJsonObject(map)) return [];
  return Object.entries(map).map(([name, value]) => [name, typeof value === 'string' ? value : '']);
}

/** The object with this member set; the same object when it is so already. */
export function withMember<T extends JsonObject>(object: T, key: string, value: Json): T {
  return object[key] === value ? object : { ...object, [key]: value };
}

/** The object without this member; the same object when it has none. */
export function withoutMember<T extends JsonObject>(object: T, key: string): T {
  if (object[key] === undefined) return object;
  const rest: Record<string, Json | undefined> = { ...object };
  delete rest[key];
  // Only optional members are ever taken away.
  return rest as T;
}

/** The object with the members that it lacks; the same object when it lacks none. */
export function withDefaults<T extends JsonObject>(object: T, defaults: JsonObject): T {
  let result: T | undefined;
  for (const key in defaults) {
    if (object[key] !== undefined && object[key] !== null) continue;
    result ??= { ...object };
    // The copy is this function's own.
    (result as Record<string, Json | undefined>)[key] = defaults[key];
  }
  return result ?? object;
}

/** The object with one member edited, if present; the same object when the edit changes nothing. */
export function editObjectAt<T extends JsonObject>(
  object: T,
  key: string,
  edit: (value: JsonObject) => JsonObject,
): T {
  const value = object[key];
  return isJsonObject(value) ? withMember(object, key, edit(value)) : object;
}

/** The object with each item of a list edited; the same object when no edit changes anything. */
export function editItemsAt<T extends JsonObject>(
  object: T,
  key: string,
  edit: (item: JsonObject) => JsonObject,
): T {
  const list = object[key];
  if (!Array.isArray(list)) return object;
  return withMember(object, key, mapItems(list as readonly JsonObject[], edit));
}

/** The same list when no edit changes anything. Counts by index: this runs for each container of each write. */
function mapItems(
  items: readonly JsonObject[],
  edit: (item: JsonObject) => JsonObject,
): readonly JsonObject[] {
  let result: JsonObject[] | undefined;
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index];
    if (item === undefined) continue;
    const edited = edit(item);
    if (edited === item) continue;
    result ??= [...items];
    result[index] = edited;
  }
  return result ?? items;
}
