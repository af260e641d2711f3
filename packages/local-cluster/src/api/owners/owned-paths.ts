/**
 * The parts of an object that have owners, each by its path: what an owner set, and what two states differ in.
 *
 * A path is the list of its elements as fieldsV1 writes them (`f:spec`, `k:{"name":"x"}`), joined by line breaks. What the
 * server writes (identity, status) has no owner. Lists whose items lack their key, or have it twice, are faults.
 */
import { canonicalJson, isJsonObject } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { PatchSchema } from '@rollcall/base/patch/patch-types.ts';
import { itemElement, ownedMember } from './field-types.ts';
import type { OwnedType } from './field-types.ts';

/** Paths of an object's parts. */
export interface OwnedPaths {
  /** What has an owner by being set: leaves, items of lists, members of maps; with what stands there. */
  readonly leaves: ReadonlyMap<string, Json>;
  /** Members of structs and lists that hold others. */
  readonly inner: ReadonlySet<string>;
  /** The first fault, as the API server words it. */
  readonly fault?: string;
}

/** The types of an object. */
export interface OwnedTypes {
  readonly schema: PatchSchema;
  readonly struct: string;
}

/** Between elements of a path. */
const JOINT = '\n';
/** Of metadata; the rest is the server's. */
const OWNED_METADATA: readonly string[] = [
  'labels',
  'annotations',
  'finalizers',
  'ownerReferences',
];
const SERVER_MEMBERS: readonly string[] = ['apiVersion', 'kind', 'metadata', 'status'];

/** A path below another. */
export function pathBelow(path: string, element: string): string {
  return path === '' ? element : path + JOINT + element;
}

/** A path for people: `.spec.template.spec.containers[name="x"].image`. */
export function pathText(path: string): string {
  return path
    .split(JOINT)
    .map((element) => {
      const text = element.slice(2);
      if (element.startsWith('f:')) return `.${text}`;
      if (element.startsWith('v:')) return `[=${text}]`;
      const members = Object.entries(JSON.parse(text) as Record<string, Json>);
      return `[${members.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(',')}]`;
    })
    .join('');
}

/** The parts of an object that have owners; the rest of it, and null members, are left out. */
export function ownedPart(object: JsonObject): JsonObject {
  const { metadata } = object;
  const owned = Object.entries(object).filter(([name]) => !SERVER_MEMBERS.includes(name));
  const kept = isJsonObject(metadata)
    ? Object.entries(metadata).filter(([name]) => OWNED_METADATA.includes(name))
    : [];
  return Object.fromEntries([
    ...owned,
    ...(kept.length === 0 ? [] : [['metadata', Object.fromEntries(kept)] as const]),
  ]);
}

/** The paths of an object. */
export function ownedPaths(object: JsonObject, { schema, struct }: OwnedTypes): OwnedPaths {
  const leaves = new Map<string, Json>();
  const inner = new Set<string>();
  let fault: string | undefined;

  const walk = (path: string, value: Json, type: OwnedType): void => {
    switch (type.kind) {
      case 'struct':
      case 'map':
        if (isJsonObject(value)) walkMembers(path, value, type);
        // Only a custom kind has values of which no type says whether they have members.
        else leaves.set(path, value);
        return;
      case 'whole':
        leaves.set(path, value);
        return;
      case 'items':
      case 'set':
        if (Array.isArray(value)) walkItems(path, value as readonly Json[], type);
    }
  };
  const walkItems = (
    path: string,
    items: readonly Json[],
    type: Extract<OwnedType, { kind: 'items' | 'set' }>,
  ): void => {
    for (const item of items) {
      const isKeyed = type.kind === 'items';
      const element = isKeyed ? itemElement(item, type.keys) : `v:${JSON.stringify(item)}`;
      const itemPath = pathBelow(path, element ?? 'k:{}');
      if (element === undefined) fault ??= `${pathText(path)}: an item lacks its key`;
      if (leaves.has(itemPath)) {
        const key = pathText(itemPath).slice(pathText(path).length);
        fault ??= `${pathText(path)}: duplicate entries for key ${key}`;
      }
      leaves.set(itemPath, isKeyed ? '' : item);
      if (isKeyed) walk(itemPath, item, type.item);
    }
  };
  const walkMembers = (
    path: string,
    value: JsonObject,
    type: Extract<OwnedType, { kind: 'struct' | 'map' }>,
  ): void => {
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue;
      const memberPath = pathBelow(path, `f:${name}`);
      const memberType: OwnedType =
        type.kind === 'map' ? { kind: 'whole' } : ownedMember(schema, type.struct, name);
      const isEmpty = member === null || (isJsonObject(member) && Object.keys(member).length === 0);
      if (isEmpty) leaves.set(memberPath, member);
      else if (hasParts(member, memberType)) inner.add(memberPath);
      if (!isEmpty) walk(memberPath, member, memberType);
    }
  };
  walkMembers('', ownedPart(object), { kind: 'struct', struct });
  return { leaves, inner, ...(fault === undefined ? {} : { fault }) };
}

function hasParts(value: Json, { kind }: OwnedType): boolean {
  if (kind === 'struct' || kind === 'map') return isJsonObject(value);
  return kind !== 'whole';
}

/** In what two states differ. */
export interface Changes {
  /** Set anew or otherwise. */
  readonly written: ReadonlySet<string>;
  readonly removed: ReadonlySet<string>;
}

/** Compares two states; members that hold others count where they were not there before, as on the real server. */
export function changesBetween(before: OwnedPaths, after: OwnedPaths): Changes {
  const written = new Set<string>();
  for (const [path, value] of after.leaves) {
    const former = before.leaves.get(path);
    const isSame = former !== undefined && canonicalJson(former) === canonicalJson(value);
    if (!isSame && !(former === undefined && before.inner.has(path))) written.add(path);
  }
  for (const path of after.inner) {
    if (!before.inner.has(path) && !before.leaves.has(path)) written.add(path);
  }
  const removed = new Set<string>();
  for (const path of [...before.leaves.keys(), ...before.inner]) {
    if (!after.leaves.has(path) && !after.inner.has(path)) removed.add(path);
  }
  return { written, removed };
}
