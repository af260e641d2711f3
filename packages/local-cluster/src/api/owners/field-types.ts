/**
 * How many owners a field can have, for server-side apply: one for the whole of it, or one for each part.
 *
 * Structs and maps have owners by member, lists by item where Kubernetes marks them as maps or sets; the rest has one
 * owner. The types are those of strategic merges, which say nearly the same; where the API's markers (x-kubernetes-list-type,
 * x-kubernetes-map-type of 1.36) say otherwise for DaemonSets, it stands in the tables here.
 */
import { isJsonObject } from '@rollcall/base/json.ts';
import type { Json } from '@rollcall/base/json.ts';
import type { PatchField, PatchSchema } from '@rollcall/base/patch/patch-types.ts';

/** What a value is to its owners. */
export type OwnedType =
  | { readonly kind: 'whole' }
  | { readonly kind: 'struct'; readonly struct: string }
  | { readonly kind: 'map' }
  /** `item`: what each is in itself. */
  | { readonly kind: 'items'; readonly keys: readonly string[]; readonly item: OwnedType }
  | { readonly kind: 'set' };

const WHOLE: OwnedType = { kind: 'whole' };

const WHOLE_STRUCTS: ReadonlySet<string> = new Set([
  'meta.v1.LabelSelector',
  'core.v1.ConfigMapKeySelector',
  'core.v1.FileKeySelector',
  'core.v1.LocalObjectReference',
  'core.v1.NodeSelector',
  'core.v1.NodeSelectorTerm',
  'core.v1.ObjectFieldSelector',
  'core.v1.ResourceFieldSelector',
  'core.v1.SecretKeySelector',
  'core.v1.SecretReference',
  'core.v1.TypedLocalObjectReference',
]);
const WHOLE_FIELDS: ReadonlySet<string> = new Set(['core.v1.PodSpec nodeSelector']);
/** Keys of items where the merge key of patches is not all of it, or where there is none. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  'core.v1.Container ports': ['containerPort', 'protocol'],
  'core.v1.EphemeralContainer ports': ['containerPort', 'protocol'],
  'core.v1.PodSpec topologySpreadConstraints': ['topologyKey', 'whenUnsatisfiable'],
  'core.v1.ResourceRequirements claims': ['name'],
};
/** Of members that stand in a key and may be left out. */
const KEY_DEFAULTS: Readonly<Record<string, Json>> = { protocol: 'TCP' };

/** What a member of a struct is. */
export function ownedMember(schema: PatchSchema, struct: string, name: string): OwnedType {
  const field = schema.field(struct, name);
  const place = `${struct} ${name}`;
  if (field === undefined || WHOLE_FIELDS.has(place)) return WHOLE;
  switch (field.shape) {
    case 'object':
      return structType(field.struct);
    case 'map':
      return { kind: 'map' };
    case 'list':
      return listType(field, KEYS[place]);
    case 'scalar':
    case 'raw':
      return WHOLE;
  }
}

function listType(
  { struct, patchStrategies, patchMergeKey }: PatchField,
  known: readonly string[] | undefined,
): OwnedType {
  const keys = known ?? (patchMergeKey === undefined ? undefined : [patchMergeKey]);
  if (struct !== undefined && keys !== undefined) {
    return { kind: 'items', keys, item: structType(struct) };
  }
  return struct === undefined && patchStrategies.includes('merge') ? { kind: 'set' } : WHOLE;
}

function structType(struct: string | undefined): OwnedType {
  return struct === undefined || WHOLE_STRUCTS.has(struct) ? WHOLE : { kind: 'struct', struct };
}

/** The path element of an item, as fieldsV1 writes it; undefined when it lacks its key. */
export function itemElement(item: Json, keys: readonly string[]): string | undefined {
  if (!isJsonObject(item)) return undefined;
  const members = keys.toSorted().map((key) => [key, item[key] ?? KEY_DEFAULTS[key]] as const);
  if (members.some(([, value]) => value === undefined)) return undefined;
  return `k:${JSON.stringify(Object.fromEntries(members))}`;
}
