/**
 * Strategic merge patch: a merge patch that knows the types, so that lists of named things merge item by item.
 *
 * Directives: `$patch: delete|replace` in an object or list item, `$deleteFromPrimitiveList/f`, `$setElementOrder/f`,
 * `$retainKeys`. The rules, and which violation is a 400, a 422 or a 500, are those of the real server. Inputs are never
 * changed; what a patch does not touch is shared with the result.
 */
import { isJsonObject } from '../json.ts';
import type { Json, JsonObject } from '../json.ts';
import { elementsOf, inElementOrder, mergeLists, refuseWrongOrder } from './merge-lists.ts';
import type { ListMerge } from './merge-lists.ts';
import { PatchError } from './patch-outcome.ts';
import type { PatchOutcome } from './patch-outcome.ts';
import { memberType } from './patch-types.ts';
import type { PatchSchema, PatchType } from './patch-types.ts';

const DIRECTIVE = '$patch';
const RETAIN_KEYS = '$retainKeys';
const DELETE_PREFIX = '$deleteFromPrimitiveList';
const ORDER_PREFIX = '$setElementOrder';

/** Applies a patch to an object of a struct of the schema. */
export function applyStrategicMergePatch(
  target: JsonObject,
  patch: Json,
  types: { readonly schema: PatchSchema; readonly struct: string | undefined },
): PatchOutcome {
  if (!isJsonObject(patch)) {
    return { kind: 'malformed', message: 'json: the patch is not an object' };
  }
  const { schema, struct } = types;
  const type: PatchType = struct === undefined ? { kind: 'unknown' } : { kind: 'struct', struct };
  try {
    return { kind: 'patched', value: new Merger(schema).objects(target, patch, type) };
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    return { kind: error.kind, message: error.message };
  }
}

/** An object under construction; nothing else refers to it yet. */
type Members = Record<string, Json | undefined>;

/** Defines an own member, whatever it is called: an assignment to `__proto__` would not. */
function setMember(members: Members, key: string, value: Json): void {
  if (key !== '__proto__') members[key] = value;
  else {
    Object.defineProperty(members, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
}

class Merger {
  readonly #schema: PatchSchema;

  constructor(schema: PatchSchema) {
    this.#schema = schema;
  }

  objects(original: JsonObject, patch: JsonObject, type: PatchType): JsonObject {
    const directive = patch[DIRECTIVE];
    if (directive !== undefined) return wholeObject(directive, patch);
    const members: Members = { ...retained(original, patch) };
    const handled = this.#orderedLists(members, patch, type);
    for (const key of Object.keys(patch)) {
      const value = patch[key];
      if (value === undefined || key === RETAIN_KEYS || handled?.has(key) === true) continue;
      if (key.startsWith(ORDER_PREFIX)) continue;
      if (key.startsWith(DELETE_PREFIX)) {
        this.#deleteItems(members, fieldOf(key, DELETE_PREFIX), value);
      } else this.#member(members, { key, value, type });
    }
    return members;
  }

  #member(
    members: Members,
    { key, value, type }: { readonly key: string; readonly value: Json; readonly type: PatchType },
  ): void {
    if (value === null) {
      delete members[key];
      return;
    }
    const before = members[key];
    if (isJsonObject(before) && isJsonObject(value)) {
      const member = memberType(this.#schema, type, key);
      setMember(members, key, member.isReplaced ? value : this.objects(before, value, member.type));
    } else if (isList(before) && isList(value)) {
      setMember(members, key, this.#lists(before, value, { key, type }));
    } else {
      const added = withoutDirectives(value);
      if (added === undefined) delete members[key];
      else setMember(members, key, added);
    }
  }

  #lists(
    before: readonly Json[],
    patch: readonly Json[],
    { key, type }: { readonly key: string; readonly type: PatchType },
  ): readonly Json[] {
    const member = memberType(this.#schema, type, key);
    if (!member.isMergedList) return patch;
    return mergeLists(before, patch, this.#listMerge(key, member.mergeKey, member.type));
  }

  #listMerge(field: string, mergeKey: string | undefined, type: PatchType): ListMerge {
    return {
      field,
      ...(mergeKey === undefined ? {} : { mergeKey }),
      mergeItems: (before, patch) => this.objects(before, patch, type),
    };
  }

  #deleteItems(members: Members, key: string, value: Json): void {
    const before = members[key];
    if (!isList(before) || !isList(value)) return;
    elementsOf([before, value]);
    const gone = new Set(value);
    setMember(
      members,
      key,
      before.filter((item) => !gone.has(item)),
    );
  }

  /** Lists with a `$setElementOrder`: merged and ordered here; returns the keys of the patch that are thereby done. */
  #orderedLists(
    members: Members,
    patch: JsonObject,
    type: PatchType,
  ): ReadonlySet<string> | undefined {
    let handled: Set<string> | undefined;
    for (const directive of Object.keys(patch)) {
      if (!directive.startsWith(ORDER_PREFIX)) continue;
      const key = fieldOf(directive, ORDER_PREFIX);
      const ordered = this.#orderedList(members[key], patch[key], {
        key,
        order: patch[directive],
        type,
      });
      if (ordered === undefined) continue;
      setMember(members, key, ordered);
      (handled ??= new Set()).add(key);
    }
    return handled;
  }

  /** One list, merged and in order; undefined when neither side has it. */
  #orderedList(
    before: Json | undefined,
    change: Json | undefined,
    {
      key,
      order,
      type,
    }: { readonly key: string; readonly order: Json | undefined; readonly type: PatchType },
  ): readonly Json[] | undefined {
    if (!isList(order)) throw new PatchError('failed', `the order of ${key} is not a list`);
    if (before === undefined && change === undefined) return undefined;
    const old = listOrNothing(before, key);
    const next = listOrNothing(change, key);
    const member = memberType(this.#schema, type, key);
    const merge = this.#listMerge(key, member.mergeKey, member.type);
    refuseWrongOrder(next ?? [], order, merge);
    const merged = mergedOf(old, next, (left, right) =>
      member.isMergedList ? mergeLists(left, right, merge) : right,
    );
    return inElementOrder(merged, { order, before: old ?? [], merge });
  }
}

function listOrNothing(value: Json | undefined, key: string): readonly Json[] | undefined {
  if (value === undefined || isList(value)) return value;
  throw new PatchError('failed', `${key} is not a list`);
}

/** `$setElementOrder/finalizers` is about `finalizers`. */
function fieldOf(directive: string, prefix: string): string {
  if (!directive.startsWith(`${prefix}/`)) {
    throw new PatchError('malformed', `invalid patch format of ${prefix.slice(1)} list`);
  }
  return directive.slice(prefix.length + 1);
}

function mergedOf(
  before: readonly Json[] | undefined,
  change: readonly Json[] | undefined,
  merge: (before: readonly Json[], change: readonly Json[]) => readonly Json[],
): readonly Json[] {
  if (change === undefined) return before ?? [];
  if (before !== undefined) return merge(before, change);
  const added = withoutDirectives(change);
  return isList(added) ? added : [];
}

function wholeObject(directive: Json, patch: JsonObject): JsonObject {
  if (directive === 'delete') return {};
  if (directive !== 'replace') {
    throw new PatchError('failed', `unknown patch type: ${JSON.stringify(directive)}`);
  }
  const { [DIRECTIVE]: _directive, ...rest } = patch;
  return rest;
}

/** `$retainKeys`: everything in the patch must be listed; what is not listed goes. */
function retained(original: JsonObject, patch: JsonObject): JsonObject {
  const keys = patch[RETAIN_KEYS];
  if (keys === undefined) return original;
  if (!isList(keys)) throw new PatchError('malformed', 'invalid patch format of retainKeys');
  const kept = new Set(keys);
  for (const [key, value] of Object.entries(patch)) {
    const isDirective =
      key === RETAIN_KEYS || key.startsWith(DELETE_PREFIX) || key.startsWith(ORDER_PREFIX);
    if (value === null || value === undefined || isDirective || kept.has(key)) continue;
    throw new PatchError('malformed', 'invalid patch format of retainKeys');
  }
  return Object.fromEntries(Object.entries(original).filter(([key]) => kept.has(key)));
}

/** A value that is added whole: without nulls, and without what was a directive; undefined when it was one itself. */
function withoutDirectives(value: Json): Json | undefined {
  if (isList(value)) {
    return value.flatMap((item) => {
      const kept = withoutDirectives(item);
      return kept === undefined ? [] : [kept];
    });
  }
  if (!isJsonObject(value)) return value;
  if (value[DIRECTIVE] !== undefined) return undefined;
  const entries: [string, Json][] = [];
  for (const [key, member] of Object.entries(value)) {
    if (member === null || member === undefined) continue;
    const kept = withoutDirectives(member);
    if (kept !== undefined) entries.push([key, kept]);
  }
  return Object.fromEntries(entries);
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}
