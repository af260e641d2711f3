/**
 * Where objects of a kind live: what the garbage collector and the namespace controller need of discovery.
 *
 * It follows from the resources that the API server serves, so a new resource is collected and emptied by itself; a custom
 * kind comes and goes with its definition.
 */
import type { ApiObject, ObjectRef, ResourceName } from '../../objects/api-object.ts';
import {
  DEFINITIONS,
  groupOf,
  isNamespacedKind,
  namesOf,
  servedVersionsOf,
} from '../../objects/custom-definition.ts';
import { RESOURCES } from '../../resources/all.ts';
import type { Mirrors } from './mirrors.ts';

/** A kind that this API server serves. */
export interface KnownResource {
  readonly resource: ResourceName;
  readonly apiVersion: string;
  readonly kind: string;
  readonly isNamespaced: boolean;
}

/** The kinds that are served now. */
export interface KnownKinds {
  /** One for each resource. */
  readonly all: () => readonly KnownResource[];
  /** The resource of a kind; undefined for one that this API server does not serve. */
  readonly ofKind: (of: {
    readonly apiVersion: string;
    readonly kind: string;
  }) => KnownResource | undefined;
  /** Tells of each resource that is served, at once or when it comes. */
  readonly onServed: (listener: (known: KnownResource) => void) => void;
}

const BUILT_IN = RESOURCES.map(
  ({ resourceName, group, version, kind, isNamespaced }): KnownResource => ({
    resource: resourceName,
    apiVersion: group === '' ? version : `${group}/${version}`,
    kind,
    isNamespaced,
  }),
);

/** Makes them of the built-in kinds and of the definitions that the mirror shows; closes mirrors of kinds that go. */
export function createKnownKinds(mirrors: Mirrors): KnownKinds {
  const custom = new Map<string, readonly KnownResource[]>();
  const byKind = new Map(BUILT_IN.map((each) => [kindText(each), each]));
  const listeners: ((known: KnownResource) => void)[] = [];
  const all = (): readonly KnownResource[] => [
    ...BUILT_IN,
    ...[...custom.values()].flatMap((versions) => versions.slice(0, 1)),
  ];
  mirrors.of(DEFINITIONS).subscribe(({ type, object }) => {
    const { name } = object.metadata;
    const former = custom.get(name) ?? [];
    const now = type === 'DELETED' ? [] : knownVersions(object);
    for (const each of former) byKind.delete(kindText(each));
    for (const each of now) byKind.set(kindText(each), each);
    const [first] = now;
    if (first === undefined) {
      custom.delete(name);
      for (const { resource } of former.slice(0, 1)) mirrors.close(resource);
      return;
    }
    custom.set(name, now);
    if (former.length === 0) for (const listener of listeners) listener(first);
  });
  return {
    all,
    ofKind: (of) => byKind.get(kindText(of)),
    onServed: (listener) => {
      for (const known of all()) listener(known);
      listeners.push(listener);
    },
  };
}

function knownVersions(definition: ApiObject): readonly KnownResource[] {
  return servedVersionsOf(definition).map(({ version }) => ({
    resource: definition.metadata.name as ResourceName, // a definition is called as its resource
    apiVersion: `${groupOf(definition)}/${version}`,
    kind: namesOf(definition).kind,
    isNamespaced: isNamespacedKind(definition),
  }));
}

function kindText(of: { readonly apiVersion: string; readonly kind: string }): string {
  return `${of.apiVersion} ${of.kind}`;
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
