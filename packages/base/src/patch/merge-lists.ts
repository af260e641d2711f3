/**
 * Merging of lists for strategic merge patches: items matched by a key, or scalars as a set, and the order of the result.
 *
 * Order: items that the patch (or its `$setElementOrder`) names come in its order; the others keep the order they had, and
 * go before the first named item that was behind them.
 */
import { isJsonObject } from '../json.ts';
import type { Json, JsonObject } from '../json.ts';
import { PatchError } from './patch-outcome.ts';

/** How the items of one list merge. */
export interface ListMerge {
  /** For messages. */
  readonly field: string;
  /** Absent: only lists of scalars can merge. */
  readonly mergeKey?: string;
  readonly mergeItems: (before: JsonObject, patch: JsonObject) => JsonObject;
}

const DIRECTIVE = '$patch';

/** Merges a patch's list into the list that is there. */
export function mergeLists(
  before: readonly Json[],
  patch: readonly Json[],
  merge: ListMerge,
): readonly Json[] {
  if (before.length === 0 && patch.length === 0) return before;
  if (elementsOf([before, patch]) !== 'objects') {
    const merged = [...new Set([...before, ...patch])];
    return inElementOrder(merged, { order: patch, before, merge });
  }
  const { mergeKey } = merge;
  if (mergeKey === undefined) {
    throw new PatchError('failed', `cannot merge lists without merge key for ${merge.field}`);
  }
  const { kept, changes } = withSpecialItems(objectsOf(before), objectsOf(patch), mergeKey);
  const merged: JsonObject[] = [...kept];
  for (const change of changes) {
    const key = keyOf(change, mergeKey);
    const index = merged.findIndex((item) => item[mergeKey] === key);
    const match = merged[index];
    if (match === undefined) merged.push(change);
    else merged[index] = merge.mergeItems(match, change);
  }
  return inElementOrder(merged, { order: changes, before: kept, merge });
}

/** Puts the items that `order` names into its order, and the others where they were. */
export function inElementOrder(
  items: readonly Json[],
  {
    order,
    before,
    merge,
  }: {
    readonly order: readonly Json[];
    readonly before: readonly Json[];
    readonly merge: ListMerge;
  },
): readonly Json[] {
  if (order.length === 0 || items.length === 0) return items;
  const identity = (item: Json): Json => identityOf(item, merge.mergeKey);
  const orderPlaces = placesOf(order.map(identity));
  const beforePlaces = placesOf(before.map(identity));
  const named: Json[] = [];
  const others: Json[] = [];
  for (const item of items) (orderPlaces.has(identity(item)) ? named : others).push(item);
  named.sort(byPlace(orderPlaces, identity));
  others.sort(byPlace(beforePlaces, identity));

  const result: Json[] = [];
  let next = 0;
  for (const item of named) {
    const place = beforePlaces.get(identity(item));
    for (; next < others.length; next += 1) {
      const other = others[next];
      const otherPlace = other === undefined ? undefined : beforePlaces.get(identity(other));
      if (other === undefined || place === undefined || otherPlace === undefined) break;
      if (otherPlace > place) break;
      result.push(other);
    }
    result.push(item);
  }
  return [...result, ...others.slice(next)];
}

/** What a `$setElementOrder` must be: it names everything that the patch's list has, in the same order. */
export function refuseWrongOrder(
  patch: readonly Json[],
  order: readonly Json[],
  { mergeKey, field }: ListMerge,
): void {
  if (order.length === 0 || patch.length === 0) return;
  const wanted = patch.filter((item) => !isJsonObject(item) || item[DIRECTIVE] === undefined);
  let index = 0;
  for (const item of order) {
    const current = wanted[index];
    if (current === undefined) return;
    if (identityOf(current, mergeKey) === identityOf(item, mergeKey)) index += 1;
  }
  if (index < wanted.length) {
    throw new PatchError(
      'failed',
      `The order in patch list doesn't match $setElementOrder/${field}`,
    );
  }
}

/** What lists are made of; they must agree, and lists of lists do not merge. */
export function elementsOf(lists: readonly (readonly Json[])[]): 'objects' | 'scalars' {
  let found: string | undefined;
  for (const item of lists.flat(1)) {
    const type = Array.isArray(item) ? 'lists' : isJsonObject(item) ? 'objects' : typeof item;
    if (found === undefined && type === 'lists') {
      throw new PatchError('inapplicable', 'lists of lists are not supported');
    }
    found ??= type;
    if (found !== type) throw new PatchError('failed', 'list element types are not identical');
  }
  return found === 'objects' ? 'objects' : 'scalars';
}

/** `$patch: delete` items take their match away; one `$patch: replace` item makes the patch the whole list. */
function withSpecialItems(
  before: readonly JsonObject[],
  patch: readonly JsonObject[],
  mergeKey: string,
): { readonly kept: readonly JsonObject[]; readonly changes: readonly JsonObject[] } {
  const deleted = new Set<Json>();
  let isReplaced = false;
  for (const item of patch) {
    const directive = item[DIRECTIVE];
    if (directive === undefined) continue;
    if (directive === 'delete') deleted.add(keyOf(item, mergeKey));
    else if (directive === 'replace') isReplaced = true;
    else throw new PatchError('failed', `unknown patch type: ${JSON.stringify(directive)}`);
  }
  const changes = patch.filter((item) => item[DIRECTIVE] === undefined);
  if (isReplaced) return { kept: changes, changes: [] };
  if (deleted.size === 0) return { kept: before, changes };
  const kept = before.filter((item) => {
    const key = item[mergeKey];
    return key === undefined || !deleted.has(key);
  });
  return { kept, changes };
}

function objectsOf(items: readonly Json[]): readonly JsonObject[] {
  return items.filter(isJsonObject);
}

function keyOf(item: JsonObject, mergeKey: string): Json {
  const key = item[mergeKey];
  if (key === undefined) {
    throw new PatchError('failed', `map does not contain declared merge key: ${mergeKey}`);
  }
  return key;
}

/** What an item is known by: its merge key, or itself. */
function identityOf(item: Json, mergeKey: string | undefined): Json {
  if (mergeKey === undefined) return item;
  if (!isJsonObject(item)) throw new PatchError('failed', 'expected a map in a merging list');
  return keyOf(item, mergeKey);
}

function placesOf(keys: readonly Json[]): ReadonlyMap<Json, number> {
  const places = new Map<Json, number>();
  for (const [index, key] of keys.entries()) {
    if (!places.has(key)) places.set(key, index);
  }
  return places;
}

/** Stable: what has no place stays where it is, relative to its neighbours, as far as a comparison can say. */
function byPlace(
  places: ReadonlyMap<Json, number>,
  identity: (item: Json) => Json,
): (left: Json, right: Json) => number {
  return (left, right) =>
    (places.get(identity(left)) ?? Number.MAX_SAFE_INTEGER) -
    (places.get(identity(right)) ?? Number.MAX_SAFE_INTEGER);
}
