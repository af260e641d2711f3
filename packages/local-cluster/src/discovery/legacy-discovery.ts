/**
 * Discovery as old clients read it: APIVersions, APIGroupList, APIGroup, APIResourceList.
 *
 * One request for each group and version; kubectl still asks some of them, as `drain` does. Pure.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import { groupVersionText, versionsByGroup } from './api-catalog.ts';
import type { CatalogGroup, CatalogResource } from './api-catalog.ts';

/** GET /api. Clients reach the server where they found it, so no other address is offered. */
export function apiVersions(): JsonObject {
  return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] };
}

/** GET /apis. */
export function apiGroupList(catalog: readonly CatalogGroup[]): JsonObject {
  const named = catalog.filter(({ group }) => group !== '');
  const groups = versionsByGroup(named).map(describeGroup);
  return { kind: 'APIGroupList', apiVersion: 'v1', groups };
}

/** GET /apis/GROUP, of its versions. */
export function apiGroup(versions: readonly [CatalogGroup, ...CatalogGroup[]]): JsonObject {
  return { kind: 'APIGroup', apiVersion: 'v1', ...describeGroup(versions) };
}

/** GET /api/v1 or /apis/GROUP/VERSION. */
export function apiResourceList(group: CatalogGroup): JsonObject {
  return {
    kind: 'APIResourceList',
    // The original leaves it out of the core group's list, and only there.
    ...(group.group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: groupVersionText(group),
    resources: group.resources.flatMap(describeResource),
  };
}

function describeGroup(versions: readonly [CatalogGroup, ...CatalogGroup[]]): JsonObject {
  const [preferred] = versions;
  return {
    name: preferred.group,
    versions: versions.map(describeVersion),
    preferredVersion: describeVersion(preferred),
  };
}

function describeVersion(group: CatalogGroup): JsonObject {
  return { groupVersion: groupVersionText(group), version: group.version };
}

function describeResource(resource: CatalogResource): readonly JsonObject[] {
  const { plural, singular, kind, isNamespaced, verbs, shortNames, categories } = resource;
  const { storageVersionHash } = resource;
  return [
    {
      name: plural,
      singularName: singular,
      namespaced: isNamespaced,
      kind,
      verbs,
      ...(shortNames.length === 0 ? {} : { shortNames }),
      ...(categories.length === 0 ? {} : { categories }),
      ...(storageVersionHash === undefined ? {} : { storageVersionHash }),
    },
    ...resource.subresources.map((subresource) => ({
      name: `${plural}/${subresource.name}`,
      singularName: '',
      namespaced: isNamespaced,
      ...subresource.home,
      kind: subresource.kind,
      verbs: subresource.verbs,
    })),
  ];
}
