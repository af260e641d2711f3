/**
 * Cuts discovery answers down to the published resources, in one shape for the three kinds of documents.
 *
 * The real API server serves many groups and resources beside ours, so lists of groups and resources are filtered;
 * everything said about a published resource is kept.
 */
import { isJsonObject, type Json, type JsonObject } from '@rollcall/base/json.ts';
import { COLLECTIONS } from './surface.ts';

const GROUPS = new Set(COLLECTIONS.map((one) => one.group));
const SUBRESOURCES = ['status', 'binding', 'eviction', 'finalize'];
const PLURALS = new Set(COLLECTIONS.map((one) => one.plural));

/** APIVersions, APIGroupList, APIGroup, APIResourceList and APIGroupDiscoveryList without the rest. */
export function maskDiscovery(body: JsonObject): Json {
  switch (body['kind']) {
    case 'APIVersions':
      return { kind: 'APIVersions', versions: body['versions'] };
    case 'APIGroupList':
      return {
        ...body,
        groups: byName(filter(body['groups'], (group) => GROUPS.has(nameOf(group)))),
      };
    case 'APIResourceList':
      return {
        ...body,
        resources: byName(filter(body['resources'], isPublished).map(withoutStorageHash)),
      };
    case 'APIGroupDiscoveryList':
      return { ...body, items: byName(filter(body['items'], isPublishedGroup).map(maskGroup)) };
    default:
      return body;
  }
}

function filter(list: Json | undefined, isKept: (item: JsonObject) => boolean): JsonObject[] {
  const items = Array.isArray(list) ? (list as readonly Json[]) : [];
  return items.filter(isJsonObject).filter(isKept);
}

/** The order is the server's: by how the group is known to it. */
function byName(items: readonly JsonObject[]): readonly JsonObject[] {
  return items.toSorted((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1));
}

/** Of a group, a resource, a subresource, or a group of aggregated discovery. */
function nameOf(item: JsonObject): string {
  const { metadata, name, resource } = item;
  const named = isJsonObject(metadata) ? metadata['name'] : (name ?? resource);
  return typeof named === 'string' ? named : '';
}

/** A resource, or one of the compared subresources of it. */
function isPublished(resource: JsonObject): boolean {
  const [plural = '', subresource = 'status'] = nameOf(resource).split('/');
  return PLURALS.has(plural) && SUBRESOURCES.includes(subresource);
}

function withoutStorageHash({ storageVersionHash: _, ...resource }: JsonObject): JsonObject {
  return resource;
}

function isPublishedGroup(group: JsonObject): boolean {
  return GROUPS.has(nameOf(group));
}

function maskGroup(group: JsonObject): JsonObject {
  const versions = filter(group['versions'], (version) => version['version'] === 'v1').map(
    (version) => ({
      ...version,
      resources: byName(filter(version['resources'], isPublished).map(maskResource)),
    }),
  );
  return { metadata: { name: nameOf(group) }, versions };
}

function maskResource(resource: JsonObject): JsonObject {
  const { subresources, ...rest } = resource;
  const kept = filter(subresources, (one) =>
    SUBRESOURCES.some((name) => name === one['subresource']),
  );
  return { ...rest, subresources: kept };
}
