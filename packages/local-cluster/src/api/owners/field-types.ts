/**
 * How many owners a field can have, for server-side apply: one for the whole of it, or one for each part.
 *
 * Structs and maps have owners by member, lists by item where Kubernetes marks them as maps or sets; the rest has one
 * owner. The types are those of strategic merges, which say nearly the same; where the API's markers (x-kubernetes-list-type,
 * x-kubernetes-map-type of 1.36) say otherwise, it stands in the tables here: test/conformance/emulator compares all fields.
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
  'admissionregistration.v1.MatchResources',
  'admissionregistration.v1.ParamKind',
  'admissionregistration.v1.ParamRef',
  'apiextensions.v1.CustomResourceSubresourceStatus',
  'meta.v1.LabelSelector',
  'core.v1.ConfigMapKeySelector',
  'core.v1.FileKeySelector',
  'core.v1.LocalObjectReference',
  'core.v1.NodeSelector',
  'core.v1.NodeSelectorTerm',
  'core.v1.ObjectFieldSelector',
  'core.v1.ResourceFieldSelector',
  'core.v1.ScopeSelector',
  'core.v1.SecretKeySelector',
  'core.v1.SecretReference',
  'core.v1.TypedLocalObjectReference',
  'networking.v1.ServiceBackendPort',
  'rbac.v1.RoleRef',
]);
const WHOLE_FIELDS: ReadonlySet<string> = new Set([
  'core.v1.Binding target',
  'core.v1.EndpointAddress targetRef',
  'core.v1.Event involvedObject',
  'core.v1.Event related',
  'core.v1.PodSpec nodeSelector',
  'core.v1.ReplicationControllerSpec selector',
  'core.v1.ServiceSpec selector',
  'core.v1.StorageOSPersistentVolumeSource secretRef',
  'discovery.v1.Endpoint targetRef',
  'node.v1.Scheduling nodeSelector',
]);
/** Lists of scalars that merge item by item, though no patch strategy says so. */
const SETS: ReadonlySet<string> = new Set([
  'admissionregistration.v1.ValidatingAdmissionPolicyBindingSpec validationActions',
  'batch.v1.PodFailurePolicyOnExitCodesRequirement values',
  'core.v1.ContainerRestartRuleOnExitCodes values',
  'discovery.v1.Endpoint addresses',
  'flowcontrol.v1.NonResourcePolicyRule nonResourceURLs',
  'flowcontrol.v1.NonResourcePolicyRule verbs',
  'flowcontrol.v1.ResourcePolicyRule apiGroups',
  'flowcontrol.v1.ResourcePolicyRule namespaces',
  'flowcontrol.v1.ResourcePolicyRule resources',
  'flowcontrol.v1.ResourcePolicyRule verbs',
  'storage.v1.CSIDriverSpec volumeLifecycleModes',
]);
/** Keys of items where the merge key of patches is not all of it, or where there is none. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  'core.v1.Container ports': ['containerPort', 'protocol'],
  'core.v1.EphemeralContainer ports': ['containerPort', 'protocol'],
  'core.v1.PodSpec topologySpreadConstraints': ['topologyKey', 'whenUnsatisfiable'],
  'core.v1.ResourceRequirements claims': ['name'],
  'core.v1.ServiceSpec ports': ['port', 'protocol'],
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
      return SETS.has(place) ? { kind: 'set' } : listType(field, KEYS[place]);
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
