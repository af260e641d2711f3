/**
 * Server-side apply of DaemonSets for the simulated cluster: who owns which leaf, conflicts, force, what is left out (facts 6).
 *
 * Lists that an API server merges by key are, the others have one owner. Owners stand in managedFields as
 * `{ 'f:<path>': {} }`, flat, under the manager's name and operation. There is no defaulting and no validation: the local cluster
 * has them, and the conformance suite the real server's.
 */
import { canonicalJson, isJsonObject, type Json, type JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { FieldConflict } from '../../src/ports/cluster/manifest-access.ts';

/** An owner of leaves, as it stands in managedFields. */
interface Owner {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly time: string;
  readonly fieldsV1: Readonly<Record<string, object>>;
}

/** Who writes, and when. */
export interface Writer {
  readonly manager: string;
  readonly time: string;
}

export type Applied =
  | { readonly kind: 'applied'; readonly object: JsonObject }
  | { readonly kind: 'conflict'; readonly conflicts: readonly FieldConflict[] };

/** Merge keys of the lists that are merged. */
const LIST_KEYS: Readonly<Record<string, readonly string[]>> = {
  containers: ['name'],
  initContainers: ['name'],
  volumes: ['name'],
  env: ['name'],
  imagePullSecrets: ['name'],
  ports: ['containerPort', 'protocol'],
  volumeMounts: ['mountPath'],
  hostAliases: ['ip'],
};
/** Objects that have one owner. */
const ATOMIC = ['selector', 'nodeSelector'];

/** A leaf's path is its steps, each `.field` or `[key="value"]`. */
type Leaves = ReadonlyMap<string, Json>;

function keyOf(item: Json, keys: readonly string[]): string {
  const member = (key: string): Json => (isJsonObject(item) ? (item[key] ?? 'TCP') : item);
  return `[${keys.map((key) => `${key}=${JSON.stringify(member(key))}`).join(',')}]`;
}

function leavesOf(object: JsonObject): Leaves {
  const leaves = new Map<string, Json>();
  const walk = (path: string, field: string, value: Json): void => {
    const keys = LIST_KEYS[field];
    if (Array.isArray(value) && keys !== undefined) {
      for (const item of value as readonly Json[]) {
        const itemPath = path + keyOf(item, keys);
        leaves.set(itemPath, '');
        walk(itemPath, '', item);
      }
      return;
    }
    if (isJsonObject(value) && !ATOMIC.includes(field) && Object.keys(value).length > 0) {
      for (const [name, member] of Object.entries(value)) {
        if (member !== undefined) walk(`${path}.${name}`, name, member);
      }
      return;
    }
    leaves.set(path, value);
  };
  const { metadata, spec } = object;
  for (const [name, value] of Object.entries((metadata ?? {}) as JsonObject)) {
    const isOwned = name === 'labels' || name === 'annotations';
    if (isOwned && value !== undefined) walk(`.metadata.${name}`, name, value);
  }
  if (spec !== undefined) walk('.spec', 'spec', spec);
  return leaves;
}

function merge(field: string, live: Json | undefined, applied: Json): Json {
  const keys = LIST_KEYS[field];
  if (Array.isArray(applied) && keys !== undefined) {
    const items = new Map<string, Json>();
    for (const item of Array.isArray(live) ? (live as readonly Json[]) : []) {
      items.set(keyOf(item, keys), item);
    }
    for (const item of applied as readonly Json[]) {
      items.set(keyOf(item, keys), merge('', items.get(keyOf(item, keys)), item));
    }
    return [...items.values()];
  }
  if (!isJsonObject(applied) || !isJsonObject(live) || ATOMIC.includes(field)) return applied;
  const merged: Record<string, Json> = { ...(live as Record<string, Json>) };
  for (const [name, value] of Object.entries(applied)) {
    if (value !== undefined) merged[name] = merge(name, live[name], value);
  }
  return merged;
}

/** Takes leaves and items out; an object that is emptied stays. */
function prune(
  { path, field }: { readonly path: string; readonly field: string },
  value: Json,
  gone: ReadonlySet<string>,
): Json {
  const keys = LIST_KEYS[field];
  if (Array.isArray(value) && keys !== undefined) {
    return (value as readonly Json[]).flatMap((item) => {
      const itemPath = path + keyOf(item, keys);
      return gone.has(itemPath) ? [] : [prune({ path: itemPath, field: '' }, item, gone)];
    });
  }
  if (!isJsonObject(value) || ATOMIC.includes(field)) return value;
  const kept = Object.entries(value).flatMap(([name, member]): [string, Json][] => {
    const memberPath = `${path}.${name}`;
    if (member === undefined || gone.has(memberPath)) return [];
    return [[name, prune({ path: memberPath, field: name }, member, gone)]];
  });
  return Object.fromEntries(kept);
}

function ownersOf(object: JsonObject | KubernetesObject): readonly Owner[] {
  const { managedFields } = object['metadata'] as { readonly managedFields?: readonly Owner[] };
  return managedFields ?? [];
}

const owns = ({ fieldsV1 }: Owner, path: string): boolean => Object.hasOwn(fieldsV1, `f:${path}`);

function ownerOf(
  { manager, time }: Writer,
  operation: Owner['operation'],
  paths: Iterable<string>,
): Owner {
  const fieldsV1 = Object.fromEntries([...paths].map((path) => [`f:${path}`, {}]));
  return { manager, operation, time, fieldsV1 };
}

function without(owner: Owner, paths: ReadonlySet<string>): readonly Owner[] {
  const left = Object.entries(owner.fieldsV1).filter(([field]) => !paths.has(field.slice(2)));
  return left.length === 0 ? [] : [{ ...owner, fieldsV1: Object.fromEntries(left) }];
}

const differs = (left: Json | undefined, right: Json | undefined): boolean =>
  left === undefined || right === undefined || canonicalJson(left) !== canonicalJson(right);

export function applyManifest(
  former: JsonObject | undefined,
  manifest: JsonObject,
  { isForced, ...writer }: Writer & { readonly isForced: boolean },
): Applied {
  const mine = leavesOf(manifest);
  const live: Leaves = former === undefined ? new Map<string, Json>() : leavesOf(former);
  const known = former === undefined ? [] : ownersOf(former);
  const before: Writer = { manager: 'before-first-apply', time: writer.time };
  const owners =
    known.length > 0 || former === undefined ? known : [ownerOf(before, 'Update', live.keys())];
  const isMine = ({ manager, operation }: Owner): boolean =>
    manager === writer.manager && operation === 'Apply';
  const others = owners.filter((owner) => !isMine(owner));
  const changed = new Set(
    [...mine.keys()].filter((path) => differs(mine.get(path), live.get(path))),
  );
  const conflicts = others.flatMap((owner) =>
    [...changed]
      .filter((path) => owns(owner, path))
      .map((field) => ({ manager: owner.manager, field })),
  );
  if (conflicts.length > 0 && !isForced) return { kind: 'conflict', conflicts };
  const given = owners
    .filter(isMine)
    .flatMap((owner) => [...live.keys()].filter((path) => owns(owner, path)));
  const gone = new Set(
    given.filter((path) => !mine.has(path) && !others.some((owner) => owns(owner, path))),
  );
  const { status: _status, ...rest } = manifest;
  const merged = merge('', former ?? {}, rest) as JsonObject;
  const pruned = prune({ path: '', field: '' }, merged, gone) as JsonObject;
  const managedFields = [
    ownerOf(writer, 'Apply', mine.keys()),
    ...others.flatMap((owner) => without(owner, changed)),
  ] as unknown as Json; // plain JSON
  const metadata = { ...(pruned['metadata'] as JsonObject), managedFields };
  return { kind: 'applied', object: { ...pruned, metadata } };
}

/** An object that was written otherwise than by apply: what it changed is its writer's now. */
export function noteUpdate(
  former: KubernetesObject,
  edited: KubernetesObject,
  writer: Writer,
): KubernetesObject {
  const owners = ownersOf(former);
  if (owners.length === 0) return edited;
  const [before, after] = [former, edited].map((it) => leavesOf(it as unknown as JsonObject)); // raw JSON
  const paths = new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])]);
  const changed = new Set(
    [...paths].filter((path) => differs(before?.get(path), after?.get(path))),
  );
  if (changed.size === 0) return edited;
  const isTheirs = ({ manager, operation }: Owner): boolean =>
    manager === writer.manager && operation === 'Update';
  const kept = owners.filter(isTheirs).flatMap((owner) => Object.keys(owner.fieldsV1));
  const theirs = [...kept.map((field) => field.slice(2)), ...changed].filter((path) =>
    after?.has(path),
  );
  const managedFields = [
    ...owners.filter((owner) => !isTheirs(owner)).flatMap((owner) => without(owner, changed)),
    ownerOf(writer, 'Update', theirs),
  ];
  return {
    ...edited,
    metadata: { ...edited.metadata, managedFields } as KubernetesObject['metadata'],
  };
}
