/**
 * What a server-side apply makes of an object: merged with what is there, without what its owner no longer lists, or in conflict.
 *
 * As structured-merge-diff does it (merge/update.go of 6.3, which 1.36 has): the configuration is merged into the live object; what
 * the owner listed before and that has no owner any more is taken out, with all that is below it; if others own what would change,
 * it is a conflict unless it is forced. Pure; nothing is decoded or defaulted here.
 */
import { isJsonObject } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import { itemElement, ownedMember } from './field-types.ts';
import type { OwnedType } from './field-types.ts';
import { isSameOwner, managedFieldsOf, ownersAfter, ownersOf } from './managed-fields.ts';
import type { Owner, Writer } from './managed-fields.ts';
import { changesBetween, ownedPart, ownedPaths, pathBelow, pathText } from './owned-paths.ts';
import type { OwnedTypes } from './owned-paths.ts';

/** A field that another manager owns. */
export interface OwnerConflict {
  readonly owner: Owner;
  /** As people read it. */
  readonly field: string;
}

/** What came of it. */
export type AppliedConfiguration =
  | {
      readonly kind: 'applied';
      /** Not decoded: as the configuration wrote it. */
      readonly object: JsonObject;
      readonly managedFields: Json | undefined;
    }
  | { readonly kind: 'faulty'; readonly fault: string }
  | { readonly kind: 'conflict'; readonly conflicts: readonly OwnerConflict[] };

/** An apply. */
export interface Configuration {
  readonly writer: Writer;
  readonly isForced: boolean;
  readonly types: OwnedTypes;
}

/** Applies a configuration to an object, or to nothing. */
export function applyConfiguration(
  live: ApiObject | undefined,
  configuration: JsonObject,
  { writer, isForced, types }: Configuration,
): AppliedConfiguration {
  const asked = ownedPaths(configuration, types);
  if (asked.fault !== undefined) return { kind: 'faulty', fault: asked.fault };
  const own = new Set(asked.leaves.keys());
  if (live === undefined) {
    const managedFields = managedFieldsOf([{ ...writer, paths: own }]);
    return { kind: 'applied', object: configuration, managedFields };
  }
  const owners = ownersBefore(live, types);
  const others = owners.filter((owner) => !isSameOwner(owner, writer));
  const former = owners.find((owner) => isSameOwner(owner, writer));
  const root: OwnedType = { kind: 'struct', struct: types.struct };
  const merged = merge(ownedPart(live), ownedPart(configuration), { type: root, types });
  const owned = [own, ...others.map(({ paths }) => paths)].map((paths) => named(paths, types));
  const gone = owned.reduce(
    (left, paths) => left.difference(paths),
    named(former?.paths ?? new Set<string>(), types),
  );
  const pruned = prune('', merged, { type: root, types, gone }) as JsonObject;
  const changes = changesBetween(ownedPaths(live, types), ownedPaths(pruned, types));
  const conflicts = others.flatMap((owner) =>
    [...owner.paths.intersection(changes.written)]
      .sort()
      .map((path) => ({ owner, field: pathText(path) })),
  );
  if (conflicts.length > 0 && !isForced) return { kind: 'conflict', conflicts };
  const lost = changes.written.union(changes.removed);
  return {
    kind: 'applied',
    object: withServerPart(live, pruned),
    managedFields: managedFieldsOf(ownersAfter(owners, { writer, own, lost })),
  };
}

/** A field without a known owner was written before the first apply. */
function ownersBefore(live: ApiObject, types: OwnedTypes): readonly Owner[] {
  const owners = ownersOf(live);
  if (owners.length > 0 || live.metadata['managedFields'] !== undefined) return owners;
  const { apiVersion } = live;
  const paths = new Set(ownedPaths(live, types).leaves.keys());
  return [{ manager: 'before-first-apply', operation: 'Update', apiVersion, paths }];
}

/** With the members of structs that the paths are in: a struct goes with the last of what was listed in it. */
function named(paths: ReadonlySet<string>, { schema, struct }: OwnedTypes): ReadonlySet<string> {
  const all = new Set(paths);
  for (const path of paths) {
    let type: OwnedType = { kind: 'struct', struct };
    let above = '';
    for (const element of path.split('\n')) {
      const isNamed = type.kind === 'struct' && element.startsWith('f:');
      above = pathBelow(above, element);
      if (isNamed) all.add(above);
      type = typeBelow(type, element, schema);
    }
  }
  return all;
}

function typeBelow(type: OwnedType, element: string, schema: OwnedTypes['schema']): OwnedType {
  if (type.kind === 'struct') return ownedMember(schema, type.struct, element.slice(2));
  return type.kind === 'items' ? type.item : { kind: 'whole' };
}

interface Place {
  readonly type: OwnedType;
  readonly types: OwnedTypes;
}

function merge(live: Json | undefined, asked: Json, { type, types }: Place): Json {
  switch (type.kind) {
    case 'whole':
      return asked;
    case 'struct':
    case 'map': {
      if (!isJsonObject(live) || !isJsonObject(asked)) return asked;
      const merged = new Map<string, Json | undefined>(Object.entries(live));
      for (const [name, value] of Object.entries(asked)) {
        if (value === undefined) continue;
        const below = typeBelow(type, `f:${name}`, types.schema);
        merged.set(name, merge(live[name], value, { type: below, types }));
      }
      return Object.fromEntries(merged);
    }
    case 'set':
    case 'items':
      return Array.isArray(live) && Array.isArray(asked)
        ? mergeLists(live as readonly Json[], asked as readonly Json[], { type, types })
        : asked;
  }
}

/**
 * In the order of the configuration as far as it says one; what is only in the live list keeps its place before or after what it
 * stood beside. The steps are those of typed/merge.go, since the order of containers is part of a template.
 */
function mergeLists(
  live: readonly Json[],
  asked: readonly Json[],
  { type, types }: Place,
): readonly Json[] {
  const before = live.map((item) => ({ item, element: elementIn(type, item) }));
  const after = asked.map((item) => ({ item, element: elementIn(type, item) }));
  const known = new Map(before.map(({ element, item }) => [element, item]));
  const wanted = new Set(after.map(({ element }) => element));
  const shared = after.map(({ element }) => element).filter((element) => known.has(element));
  const inner = typeBelow(type, '', types.schema);
  const merged: Json[] = [];
  const done = new Set<string>();
  const take = ({ element, item }: (typeof after)[number]): void => {
    done.add(element);
    if (shared[0] === element) shared.shift();
    merged.push(
      type.kind === 'set' ? item : merge(known.get(element), item, { type: inner, types }),
    );
  };
  let [left, right] = [0, 0];
  while (left < before.length || right < after.length) {
    const [ours, theirs] = [before[left], after[right]];
    const step = stepOf(ours?.element, theirs?.element, { wanted, done, turn: shared[0] });
    if (step.keeps && ours !== undefined) merged.push(ours.item);
    if (step.takes && theirs !== undefined) take(theirs);
    if (step.passes) left += 1;
    if (step.takes) right += 1;
  }
  return merged;
}

interface Step {
  /** The live item stands in the result. */
  readonly keeps: boolean;
  /** The asked item does, merged with its live one. */
  readonly takes: boolean;
  /** The live item is done with. */
  readonly passes: boolean;
}

/** Of a live and an asked item: both are one, the live one stays or comes later, or the asked one is next. */
function stepOf(
  ours: string | undefined,
  theirs: string | undefined,
  order: {
    readonly wanted: ReadonlySet<string>;
    readonly done: ReadonlySet<string>;
    readonly turn: string | undefined;
  },
): Step {
  if (ours === undefined) return { keeps: false, takes: true, passes: false };
  if (ours === theirs) return { keeps: false, takes: true, passes: true };
  if (!order.wanted.has(ours)) return { keeps: true, takes: false, passes: true };
  const isLater = theirs !== undefined && order.turn !== undefined && order.turn !== ours;
  if (isLater) return { keeps: false, takes: false, passes: true };
  return { keeps: false, takes: theirs !== undefined, passes: order.done.has(ours) };
}

function elementIn(type: OwnedType, item: Json): string {
  const element = type.kind === 'items' ? itemElement(item, type.keys) : undefined;
  return element ?? `v:${JSON.stringify(item)}`;
}

/** Takes paths out, with all that is below them; what is emptied by it becomes null, as typed/remove.go leaves it. */
function prune(
  path: string,
  value: Json,
  { gone, ...place }: Place & { readonly gone: ReadonlySet<string> },
): Json {
  const { type, types } = place;
  const below = (element: string, member: Json): readonly Json[] => {
    const memberPath = pathBelow(path, element);
    if (gone.has(memberPath)) return [];
    return [
      prune(memberPath, member, { type: typeBelow(type, element, types.schema), types, gone }),
    ];
  };
  if ((type.kind === 'struct' || type.kind === 'map') && isJsonObject(value)) {
    const kept = Object.entries(value).flatMap(([name, member]): (readonly [string, Json])[] =>
      member === undefined ? [] : below(`f:${name}`, member).map((left) => [name, left] as const),
    );
    const isEmptied = kept.length === 0 && Object.keys(value).length > 0;
    return isEmptied ? null : Object.fromEntries(kept);
  }
  if ((type.kind === 'items' || type.kind === 'set') && Array.isArray(value)) {
    const items = value as readonly Json[];
    const kept = items.flatMap((item) => below(elementIn(type, item), item));
    return kept.length === 0 && items.length > 0 ? null : kept;
  }
  return value;
}

/** What has owners, in the place of what had them. */
function withServerPart(live: ApiObject, owned: JsonObject): JsonObject {
  const {
    labels: _labels,
    annotations: _annotations,
    finalizers: _finalizers,
    ownerReferences: _owners,
    ...server
  } = live.metadata;
  const { metadata, ...rest } = owned;
  const { apiVersion, kind, status } = live;
  return {
    apiVersion,
    kind,
    ...rest,
    ...(status === undefined ? {} : { status }),
    metadata: { ...server, ...(isJsonObject(metadata) ? metadata : {}) },
  };
}
