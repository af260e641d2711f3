/**
 * Aggregated discovery (apidiscovery.k8s.io/v2): one document for the core group, one for all others.
 *
 * kubectl asks for it since 1.26 and falls back to legacy discovery. Pure.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import { versionsByGroup } from './api-catalog.ts';
import type { CatalogGroup, CatalogResource } from './api-catalog.ts';

/** The media type that clients recognise it by. */
export const AGGREGATED_DISCOVERY_TYPE =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** Whether an Accept header asks for it. */
export function acceptsAggregatedDiscovery(accept: string | undefined): boolean {
  return (accept ?? '').split(',').some((part) => {
    const parameters = part.split(';').map((text) => text.trim());
    return (
      parameters.includes('g=apidiscovery.k8s.io') &&
      parameters.includes('v=v2') &&
      parameters.includes('as=APIGroupDiscoveryList')
    );
  });
}

/** GET /api (the core group alone) or /apis (all the others). */
export function apiGroupDiscoveryList(groups: readonly CatalogGroup[]): JsonObject {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: versionsByGroup(groups).map((versions) => ({
      metadata: versions[0].group === '' ? {} : { name: versions[0].group },
      versions: versions.map(({ version, resources }) => ({
        version,
        resources: resources.map(describeResource),
        freshness: 'Current',
      })),
    })),
  };
}

function describeResource(resource: CatalogResource): JsonObject {
  const { shortNames, categories, subresources } = resource;
  return {
    resource: resource.plural,
    responseKind: responseKind(resource.kind),
    scope: resource.isNamespaced ? 'Namespaced' : 'Cluster',
    singularResource: resource.singular,
    verbs: resource.verbs,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(subresources.length === 0
      ? {}
      : {
          subresources: subresources.map(({ name, kind, home, verbs }) => ({
            subresource: name,
            responseKind: responseKind(kind, home),
            verbs,
          })),
        }),
  };
}

/** Group and version are empty for a kind of the same group and version. */
function responseKind(
  kind: string,
  home: { readonly group: string; readonly version: string } = { group: '', version: '' },
): JsonObject {
  return { group: home.group, version: home.version, kind };
}
