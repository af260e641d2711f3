/**
 * Finds the resource that a path means, or that there is none of that name in that place.
 *
 * Namespaced objects are addressed through their namespace, cluster-scoped ones never are.
 */
import type { Resource } from '../resources/shared/resource.ts';
import type { RequestAttributes } from './request/api-request.ts';

/** Resources by group, version and plural. */
export interface ResourceIndex {
  /** Undefined when it does not exist, or not under such a path (with or without a namespace). */
  find(attributes: RequestAttributes, version: string): Resource | undefined;
  /** Whether any resource is in the group: an unknown group is a plain 404, not a Status. */
  hasGroup(group: string | undefined): boolean;
}

/** Indexes the resources. */
export function createResourceIndex(resources: readonly Resource[]): ResourceIndex {
  const groups = new Set(resources.map((resource) => resource.group));
  const byKey = new Map(
    resources.map((resource) => [
      `${resource.group} ${resource.version} ${resource.plural}`,
      resource,
    ]),
  );
  return {
    find: (attributes, version) => {
      const resource = byKey.get(`${attributes.group} ${version} ${attributes.resource}`);
      return resource !== undefined && isInPlace(resource, attributes) ? resource : undefined;
    },
    hasGroup: (group) => group !== undefined && groups.has(group),
  };
}

/** Namespaced objects are named within a namespace; cluster-scoped ones never are. */
function isInPlace(
  resource: Resource,
  { namespace, verb, path, name }: RequestAttributes,
): boolean {
  if (resource.resourceName === 'namespaces') return true;
  if (!resource.isNamespaced) return namespace === undefined;
  if (namespace !== undefined) return true;
  const isCollection = verb === 'list' || verb === 'watch' || verb === 'deletecollection';
  return name === undefined || (isCollection && path !== '');
}
