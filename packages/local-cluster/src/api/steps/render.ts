/**
 * Renders objects, lists and watch frames in the form that was asked for.
 *
 * A whole object is the stored one itself. Items of a list carry no kind and apiVersion over HTTP, as Go's typed lists
 * do not; callers in the same process get the stored objects.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject, Metadata } from '../../objects/api-object.ts';
import type { Resource } from '../../resources/shared/resource.ts';
import { customTable } from '../../tables/custom-table.ts';
import { tableOf } from '../../tables/kinds.ts';
import type { TableShape } from '../../tables/table.ts';
import { inVersionOf } from './resource-call.ts';
import type { ResourceCall } from './resource-call.ts';
import { badRequest, failure } from '../request/statuses.ts';
import type { Status } from '../request/api-request.ts';

/** metadata of a list. */
export interface ListMetadata {
  readonly resourceVersion: string;
  readonly continueToken?: string;
  readonly remainingItemCount?: number;
}

/** Renders one object. */
export function renderObject(call: ResourceCall, object: ApiObject): JsonObject {
  switch (call.output.as) {
    case 'object':
      return inVersionOf(call.resource, object);
    case 'metadata':
      return partialMetadata(object, call.output.version);
    case 'metadataList':
      return wrongForm('PartialObjectMetadataList', 'is not a list');
    case 'table':
      return renderTable(call, [object], { resourceVersion: object.metadata.resourceVersion });
  }
}

/** Renders a collection. */
export function renderList(
  call: ResourceCall,
  items: readonly ApiObject[],
  metadata: ListMetadata,
): JsonObject {
  const { resource, output } = call;
  switch (output.as) {
    case 'table':
      return renderTable(call, items, metadata);
    case 'metadata':
      return wrongForm('PartialObjectMetadata', 'is a list');
    case 'metadataList':
      return {
        kind: 'PartialObjectMetadataList',
        apiVersion: `meta.k8s.io/${output.version}`,
        metadata: listMetadata(metadata),
        // Go writes the empty list of a kind that it made itself as null.
        items:
          items.length === 0 ? null : items.map((item) => partialMetadata(item, output.version)),
      };
    case 'object':
      return {
        kind: `${resource.kind}List`,
        apiVersion: apiVersionOf(resource),
        metadata: listMetadata(metadata),
        items: output.isInProcess ? items : items.map(withoutType),
      };
  }
}

/** Makes the renderer of one watch: a table's columns are in its first frame alone. */
export function frameRenderer(call: ResourceCall): (object: ApiObject) => JsonObject {
  if (call.output.as === 'object') return (object) => inVersionOf(call.resource, object);
  if (call.output.as !== 'table') {
    return (object) => partialMetadata(object, call.output.version);
  }
  let isFirst = true;
  return (object) => {
    const table = renderTable(call, [object], { resourceVersion: object.metadata.resourceVersion });
    if (isFirst) {
      isFirst = false;
      return table;
    }
    return { ...table, columnDefinitions: null };
  };
}

/** `v1`, `apps/v1`. */
export function apiVersionOf({
  group,
  version,
}: {
  readonly group: string;
  readonly version: string;
}): string {
  return group === '' ? version : `${group}/${version}`;
}

function withoutType(object: ApiObject): JsonObject {
  const { apiVersion: _apiVersion, kind: _kind, ...rest } = object;
  return rest;
}

function listMetadata({
  resourceVersion,
  continueToken,
  remainingItemCount,
}: ListMetadata): JsonObject {
  return {
    resourceVersion,
    ...(continueToken === undefined ? {} : { continue: continueToken }),
    ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
  };
}

function partialMetadata(object: ApiObject, version: string): JsonObject {
  return {
    kind: 'PartialObjectMetadata',
    apiVersion: `meta.k8s.io/${version}`,
    metadata:
      object.kind === 'DaemonSet' ? withoutTemplateGeneration(object.metadata) : object.metadata,
  };
}

function wrongForm(form: string, why: string): Status {
  return failure({
    code: 406,
    reason: 'NotAcceptable',
    message: `you requested ${form}, but the requested object ${why}`,
  });
}

function renderTable(
  { services, query, resource, output }: ResourceCall,
  items: readonly ApiObject[],
  metadata: ListMetadata,
): JsonObject {
  const include = query.get('includeObject') ?? '';
  if (include !== '' && include !== 'Metadata' && include !== 'Object' && include !== 'None') {
    return badRequest(
      `Unable to convert to Table as requested: includeObject: Invalid value: "${include}"`,
    );
  }
  const { custom, resourceName } = resource;
  const shape = custom === undefined ? tableOf(resourceName) : customTable(custom.columns);
  const nowMs = services.clock.nowMs();
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${output.version}`,
    metadata: listMetadata(metadata),
    columnDefinitions: shape.columns.map(({ name, type, format, description, priority }) => ({
      name,
      type,
      format: format ?? '',
      description,
      priority,
    })),
    rows: items.map((item) => ({
      cells: shape.cells(item, nowMs),
      ...rowConditions(shape, item),
      object:
        include === 'None'
          ? null
          : include === 'Object'
            ? item
            : partialMetadata(item, output.version),
    })),
  };
}

function rowConditions(shape: TableShape, item: ApiObject): JsonObject {
  const conditions = shape.rowConditions?.(item);
  return conditions === undefined ? {} : { conditions };
}

/**
 * The annotation that the real server puts on every DaemonSet when it writes one out whole, and nowhere else: tables and bare
 * metadata do not show it, and bookmarks, which are empty DaemonSets, do.
 */
const ANNOTATION = 'deprecated.daemonset.template.generation';

/** Metadata without the annotation, for what is not a whole object. */
function withoutTemplateGeneration(metadata: Metadata): Metadata {
  const { annotations } = metadata;
  if (annotations?.[ANNOTATION] === undefined) return metadata;
  const { [ANNOTATION]: _generation, ...others } = annotations;
  const { annotations: _annotations, ...rest } = metadata;
  return Object.keys(others).length === 0 ? rest : { ...metadata, annotations: others };
}

/** Annotations of a bookmark of a resource. */
export function bookmarkAnnotations({ resourceName }: Resource): Readonly<Record<string, string>> {
  return resourceName === 'daemonsets.apps' ? { [ANNOTATION]: '0' } : {};
}
