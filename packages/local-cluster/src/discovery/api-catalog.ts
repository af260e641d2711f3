/**
 * What the API server serves, by group and version.
 *
 * It is the one list behind legacy discovery, aggregated discovery and the OpenAPI documents, so these cannot disagree.
 * Built once from the resources and the access reviews; pure.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import { REVIEW_RESOURCES } from '../access/access-reviews.ts';
import type { Resource, Subresource } from '../resources/shared/resource.ts';

/** A subresource as discovery lists it. */
export interface CatalogSubresource {
  readonly name: string;
  /** Of what it takes and gives. */
  readonly kind: string;
  /** Where that kind lives, if not with the resource. */
  readonly home?: { readonly group: string; readonly version: string };
  readonly verbs: readonly string[];
}

/** A resource as discovery lists it. */
export interface CatalogResource {
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly isNamespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly CatalogSubresource[];
  /** Of a custom kind: the schema of its objects. */
  readonly customSchema?: JsonObject;
}

/** A group in one of its versions, resources in order of their names. */
export interface CatalogGroup {
  /** '' for core. */
  readonly group: string;
  readonly version: string;
  readonly resources: readonly CatalogResource[];
}

/** Lists groups in the order in which their first resources come, the core group first. */
export function buildCatalog(resources: readonly Resource[]): readonly CatalogGroup[] {
  const groups = new Map<
    string,
    { group: string; version: string; resources: CatalogResource[] }
  >();
  const add = (at: { group: string; version: string }, resource: CatalogResource): void => {
    const key = groupVersionText(at);
    const group = groups.get(key) ?? { group: at.group, version: at.version, resources: [] };
    group.resources.push(resource);
    groups.set(key, group);
  };
  for (const resource of resources) add(resource, catalogResource(resource));
  for (const review of REVIEW_RESOURCES) {
    add(review, {
      plural: review.plural,
      singular: review.kind.toLowerCase(),
      kind: review.kind,
      isNamespaced: false,
      verbs: ['create'],
      shortNames: [],
      categories: [],
      subresources: [],
    });
  }
  return [...groups.values()].map(({ group, version, resources: members }) => ({
    group,
    version,
    resources: members.toSorted((left, right) => compareTexts(left.plural, right.plural)),
  }));
}

/** The versions of each group, the preferred one first. */
export function versionsByGroup(
  catalog: readonly CatalogGroup[],
): readonly (readonly [CatalogGroup, ...CatalogGroup[]])[] {
  const groups = new Map<string, [CatalogGroup, ...CatalogGroup[]]>();
  for (const each of catalog) {
    const known = groups.get(each.group);
    if (known === undefined) groups.set(each.group, [each]);
    else known.push(each);
  }
  return [...groups.values()];
}

/** `v1`, `apps/v1`. */
export function groupVersionText({
  group,
  version,
}: Pick<CatalogGroup, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`;
}

function catalogResource(resource: Resource): CatalogResource {
  const { plural, singular, kind, isNamespaced, verbs, shortNames, categories } = resource;
  return {
    plural,
    singular,
    kind,
    isNamespaced,
    verbs: verbs.toSorted(),
    shortNames,
    categories,
    subresources: resource.subresources
      .map((subresource) => catalogSubresource(resource, subresource))
      .toSorted((left, right) => compareTexts(left.name, right.name)),
    ...(resource.custom === undefined ? {} : { customSchema: resource.custom.schema }),
  };
}

function catalogSubresource(resource: Resource, subresource: Subresource): CatalogSubresource {
  const { name } = subresource;
  if (subresource.kind === 'view') {
    // A namespace is finalized by PUT alone.
    const verbs = name === 'finalize' ? ['update'] : ['get', 'patch', 'update'];
    return { name, kind: resource.kind, verbs };
  }
  const { group, version, kind } = subresource.bodyKind;
  const isAtHome = group === resource.group && version === resource.version;
  return { name, kind, verbs: ['create'], ...(isAtHome ? {} : { home: { group, version } }) };
}

function compareTexts(left: string, right: string): number {
  return left === right ? 0 : left < right ? -1 : 1;
}
