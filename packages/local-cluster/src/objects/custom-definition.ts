/**
 * What a CustomResourceDefinition says of its kind: names, group, versions, whether it is served.
 *
 * For the API server, which serves the kind, and for the controllers, which follow it. Pure; a definition that says nonsense
 * has empty names.
 */
import { isJsonObject, jsonItems, jsonMember } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject, ResourceName } from './api-object.ts';
import { compareVersions } from './version-order.ts';

/** Where definitions are stored. */
export const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io' as ResourceName; // a stored kind of kinds.json

/** The names of a kind, as its definition gives them. */
export interface CustomNames {
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}

/** The names that a definition asks for, with the defaults of the API server. */
export function namesOf(definition: ApiObject): CustomNames {
  const names = jsonMember(definition['spec'], 'names');
  const kind = textOf(jsonMember(names, 'kind'));
  return {
    plural: textOf(jsonMember(names, 'plural')),
    singular: textOf(jsonMember(names, 'singular')) || kind.toLowerCase(),
    kind,
    listKind: textOf(jsonMember(names, 'listKind')) || `${kind}List`,
    shortNames: textsOf(jsonMember(names, 'shortNames')),
    categories: textsOf(jsonMember(names, 'categories')),
  };
}

/** The group of the kind. */
export function groupOf(definition: ApiObject): string {
  return textOf(jsonMember(definition['spec'], 'group'));
}

/** The version in which its objects are stored, if the definition names one. */
export function storageVersionOf(definition: ApiObject): string | undefined {
  const stored = versionsOf(definition).find((version) => version['storage'] === true);
  return stored === undefined ? undefined : textOf(stored['name']);
}

/** Whether its kind is served. */
export function isEstablished(definition: ApiObject): boolean {
  return jsonItems(jsonMember(definition['status'], 'conditions')).some(
    (one) => jsonMember(one, 'type') === 'Established' && jsonMember(one, 'status') === 'True',
  );
}

/** Whether it is called as the resource that it defines. */
export function isWellNamed(definition: ApiObject): boolean {
  return definition.metadata.name === `${namesOf(definition).plural}.${groupOf(definition)}`;
}

/** Whether its kind is there once in the whole cluster, or in each namespace. */
export function isNamespacedKind(definition: ApiObject): boolean {
  return jsonMember(definition['spec'], 'scope') === 'Namespaced';
}

/** A version that is served. */
export interface ServedVersion {
  readonly version: string;
  /** As the definition has it. */
  readonly said: JsonObject;
}

/** The versions that are served, the preferred one first; none before the kind is established. */
export function servedVersionsOf(definition: ApiObject): readonly ServedVersion[] {
  if (!isEstablished(definition) || !isWellNamed(definition)) return [];
  return versionsOf(definition)
    .filter((version) => version['served'] === true)
    .map((said) => ({ version: textOf(said['name']), said }))
    .toSorted((left, right) => compareVersions(left.version, right.version));
}

/** Its versions, served or not. */
function versionsOf(definition: ApiObject): readonly JsonObject[] {
  return jsonItems(jsonMember(definition['spec'], 'versions')).filter(isJsonObject);
}

function textsOf(value: Json | undefined): readonly string[] {
  return jsonItems(value).filter((item) => typeof item === 'string');
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
