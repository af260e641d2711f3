/**
 * Makes a Resource of what is particular to it.
 *
 * Adds the look at metadata before the kind's own validation, the usual verbs, and that no client chooses a generation.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject, Metadata, ResourceName } from '../../objects/api-object.ts';
import type { Resource, ResourceRules, Subresource, Verb } from './resource.ts';
import { validateMetadata, validateMetadataUpdate } from './metadata-validation.ts';
import { checkSubdomain } from './names.ts';
import type { TextCheck } from './names.ts';

/** What a resource has of its own. */
export interface ResourceDefinition {
  /** '' for core. */
  readonly group: string;
  /** Default v1. */
  readonly version?: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly isNamespaced: boolean;
  readonly verbs?: readonly Verb[];
  /** What its objects may be called; default: a DNS subdomain. */
  readonly checkName?: TextCheck;
  /** Its own; validation of metadata is added. */
  readonly rules?: Partial<ResourceRules>;
  readonly subresources?: readonly Subresource[];
  readonly selectableFields?: (object: ApiObject) => Readonly<Record<string, string>>;
  /** PUT without a resourceVersion is taken; default true. */
  readonly allowsUnconditionalUpdate?: boolean;
  /** PUT of an object that does not exist creates it; default false. */
  readonly allowsCreateOnUpdate?: boolean;
  /** Its fields have owners, and it takes server-side apply; default true. */
  readonly keepsOwners?: boolean;
}

const ALL_VERBS: readonly Verb[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];

const NO_FIELDS: Readonly<Record<string, string>> = {};

/** The resource. */
export function defineResource(definition: ResourceDefinition): Resource {
  const { group, plural, isNamespaced } = definition;
  // The resources with rules of their own are exactly the names in LivingName; a test compares them.
  const resourceName = (group === '' ? plural : `${plural}.${group}`) as ResourceName;
  return {
    resourceName,
    group,
    version: definition.version ?? 'v1',
    plural,
    singular: definition.singular,
    kind: definition.kind,
    shortNames: definition.shortNames ?? [],
    categories: definition.categories ?? [],
    isNamespaced,
    keepsOwners: definition.keepsOwners ?? true,
    verbs: definition.verbs ?? ALL_VERBS,
    rules: completeRules(definition),
    subresources: (definition.subresources ?? []).map(completeView),
    selectableFields: definition.selectableFields ?? (() => NO_FIELDS),
    allowsUnconditionalUpdate: definition.allowsUnconditionalUpdate ?? true,
    allowsCreateOnUpdate: definition.allowsCreateOnUpdate ?? false,
  };
}

function completeRules(definition: ResourceDefinition): ResourceRules {
  const { isNamespaced, checkName = checkSubdomain, rules: own = {} } = definition;
  return {
    applyDefaults: (object) => object,
    prepareForCreate: (object) => object,
    ...own,
    prepareForUpdate: keepGenerationFirst(own.prepareForUpdate),
    validateCreate: (object) => [
      ...validateMetadata(object, { isNamespaced, checkName }),
      ...(own.validateCreate?.(object) ?? []),
    ],
    validateUpdate: (next, current) => [
      ...validateMetadataUpdate(next, current),
      ...(own.validateUpdate?.(next, current) ?? []),
    ],
  };
}

function completeView(subresource: Subresource): Subresource {
  if (subresource.kind !== 'view') return subresource;
  return {
    ...subresource,
    prepareForUpdate: keepGenerationFirst(subresource.prepareForUpdate),
    validateUpdate: (next, current) => [
      ...validateMetadataUpdate(next, current),
      ...subresource.validateUpdate(next, current),
    ],
  };
}

/** No client chooses a generation in an update; rules that count it start from the current one. */
function keepGenerationFirst(
  own: ResourceRules['prepareForUpdate'] | undefined,
): ResourceRules['prepareForUpdate'] {
  return (next, current) => {
    const kept = withGeneration(next, current.metadata.generation);
    return own === undefined ? kept : own(kept, current);
  };
}

/** An object with another status; the same object when it is the one it has. */
export function withStatus(object: ApiObject, status: JsonObject | undefined): ApiObject {
  if (object['status'] === status) return object;
  if (status !== undefined) return { ...object, status };
  const { status: _dropped, ...rest } = object;
  return rest;
}

/** An object with the status of another: what writes outside the status view keep. */
export function keepStatus(next: ApiObject, current: ApiObject): ApiObject {
  // Statuses are objects in every kind.
  return withStatus(next, current['status'] as JsonObject | undefined);
}

/** An object with the spec of another: what writes to the status view keep. */
export function keepSpec(next: ApiObject, current: ApiObject): ApiObject {
  return next['spec'] === current['spec'] ? next : { ...next, spec: current['spec'] };
}

/** A view that writes the status alone, and metadata; validates nothing of its own by default. */
export function statusView(own: Partial<Extract<Subresource, { kind: 'view' }>> = {}): Subresource {
  return {
    kind: 'view',
    name: 'status',
    prepareForUpdate: keepSpec,
    validateUpdate: () => [],
    ...own,
  };
}

/** An object with this generation, or without one. */
export function withGeneration(object: ApiObject, generation: number | undefined): ApiObject {
  if (object.metadata.generation === generation) return object;
  const { generation: _dropped, ...rest } = object.metadata;
  // Everything but the generation is as it was.
  const metadata = rest as Metadata;
  return { ...object, metadata: generation === undefined ? metadata : { ...metadata, generation } };
}
