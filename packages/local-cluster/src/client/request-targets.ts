/**
 * Paths and queries of the requests that in-process clients make.
 *
 * All resources here are of version v1. Whether one is namespaced is the caller's to know: a namespace in, a namespace out.
 */
import type { ObjectRef, ResourceName } from '../objects/api-object.ts';
import type { Selection } from './local-client.ts';

/** The path of a collection, in one namespace or across all. */
export function collectionTarget(collection: {
  readonly resource: ResourceName;
  readonly namespace?: string;
}): string {
  const { resource, namespace } = collection;
  const dot = resource.indexOf('.');
  const plural = dot < 0 ? resource : resource.slice(0, dot);
  const root = dot < 0 ? '/api/v1' : `/apis/${resource.slice(dot + 1)}/v1`;
  if (namespace === undefined) return `${root}/${plural}`;
  return `${root}/namespaces/${segment(namespace)}/${plural}`;
}

/** The path of one object or of its subresource. */
export function objectTarget(ref: ObjectRef, subresource?: string): string {
  const path = `${collectionTarget(ref)}/${segment(ref.name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

/** Path and query of a list. */
export function selectionTarget(selection: Selection): string {
  return withQuery(collectionTarget(selection), selectors(selection));
}

/** A day: the end of a watch costs a new one, and nothing more. */
const WATCH_SECONDS = 86_400;

/** Path and query of a watch after a resourceVersion. */
export function watchTarget(selection: Selection, resourceVersion: string): string {
  return withQuery(collectionTarget(selection), [
    'watch=true',
    'allowWatchBookmarks=true',
    `timeoutSeconds=${WATCH_SECONDS}`,
    `resourceVersion=${encodeURIComponent(resourceVersion)}`,
    ...selectors(selection),
  ]);
}

function selectors({ labelSelector, fieldSelector }: Selection): readonly string[] {
  return [
    ...(labelSelector === undefined ? [] : [`labelSelector=${encodeURIComponent(labelSelector)}`]),
    ...(fieldSelector === undefined ? [] : [`fieldSelector=${encodeURIComponent(fieldSelector)}`]),
  ];
}

function withQuery(path: string, parameters: readonly string[]): string {
  return parameters.length === 0 ? path : `${path}?${parameters.join('&')}`;
}

/** Most names need no escape; looking is cheaper than escaping. */
function segment(text: string): string {
  return /^[\w.-]+$/.test(text) ? text : encodeURIComponent(text);
}
