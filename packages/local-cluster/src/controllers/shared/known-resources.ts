/**
 * Where objects of a kind live: what the garbage collector and the namespace controller need of discovery.
 *
 * It follows from the resources that the API server serves, so a new resource is collected and emptied by itself.
 */
import type { ObjectRef, ResourceName } from '../../objects/api-object.ts';
import { RESOURCES } from '../../resources/all.ts';

/** A kind that this API server serves. */
export interface KnownResource {
  readonly resource: ResourceName;
  readonly apiVersion: string;
  readonly kind: string;
  readonly isNamespaced: boolean;
}

/** All of them. */
export const KNOWN_RESOURCES: readonly KnownResource[] = RESOURCES.map((each) => ({
  resource: each.resourceName,
  apiVersion: each.group === '' ? each.version : `${each.group}/${each.version}`,
  kind: each.kind,
  isNamespaced: each.isNamespaced,
}));

const BY_KIND = new Map(
  KNOWN_RESOURCES.map((each) => [`${each.apiVersion} ${each.kind}`, each] as const),
);

/** The resource of a kind; undefined for one that this API server does not serve. */
export function resourceOfKind(of: {
  readonly apiVersion: string;
  readonly kind: string;
}): KnownResource | undefined {
  return BY_KIND.get(`${of.apiVersion} ${of.kind}`);
}

/** Names an object of a known resource; the namespace is left out where there is none. */
export function refOf(
  known: KnownResource,
  at: { readonly name: string; readonly namespace?: string | undefined },
): ObjectRef {
  if (!known.isNamespaced || at.namespace === undefined) {
    return { resource: known.resource, name: at.name };
  }
  return { resource: known.resource, namespace: at.namespace, name: at.name };
}
