/**
 * Paths and queries of the requests that in-process clients make.
 *
 * Whether a resource is namespaced is the caller's to know: a namespace in, a namespace out.
 */
import type { ObjectRef, ResourceName } from '../objects/api-object.ts';
import type { Selection } from './local-client.ts';

/** A collection, in one namespace or across all. */
interface CollectionRef {
  readonly resource: ResourceName;
  readonly namespace?: string;
}

/** The version in which a resource is asked for. */
export type VersionOf = (resource: ResourceName) => string;

/** Makes targets. */
export interface RequestTargets {
  /** The path of a collection. */
  collection(collection: CollectionRef): string;
  /** The path of one object or of its subresource. */
  object(ref: ObjectRef, subresource?: string): string;
  /** Path and query of a list. */
  selection(selection: Selection): string;
  /** Path and query of a watch after a resourceVersion. */
  watch(selection: Selection, resourceVersion: string): string;
}

/** What makes them. */
export function createRequestTargets(versionOf: VersionOf): RequestTargets {
  const collection = (of: CollectionRef): string => collectionTarget(of, versionOf(of.resource));
  return {
    collection,
    object: (ref, subresource) => {
      const path = `${collection(ref)}/${segment(ref.name)}`;
      return subresource === undefined ? path : `${path}/${subresource}`;
    },
    selection: (selection) => withQuery(collection(selection), selectors(selection)),
    watch: (selection, resourceVersion) =>
      withQuery(collection(selection), [
        'watch=true',
        'allowWatchBookmarks=true',
        `timeoutSeconds=${WATCH_SECONDS}`,
        `resourceVersion=${encodeURIComponent(resourceVersion)}`,
        ...selectors(selection),
      ]),
  };
}

function collectionTarget({ resource, namespace }: CollectionRef, version: string): string {
  const dot = resource.indexOf('.');
  const plural = dot < 0 ? resource : resource.slice(0, dot);
  const root = dot < 0 ? `/api/${version}` : `/apis/${resource.slice(dot + 1)}/${version}`;
  if (namespace === undefined) return `${root}/${plural}`;
  return `${root}/namespaces/${segment(namespace)}/${plural}`;
}

/** A day: the end of a watch costs a new one, and nothing more. */
const WATCH_SECONDS = 86_400;

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
