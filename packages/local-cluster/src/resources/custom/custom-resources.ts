/**
 * The kinds that a CustomResourceDefinition asks for, as resources: one for each version that it serves, once it is
 * established. They are stored and inert. Pure.
 *
 * Differs from Kubernetes: a schema prunes what it does not name; nothing is validated or defaulted by it. No scale
 * subresource, no conversion but of apiVersion.
 */
import { isJsonObject, jsonItems, jsonMember } from '@rollcall/base/json.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import {
  groupOf,
  isNamespacedKind,
  namesOf,
  servedVersionsOf,
} from '../../objects/custom-definition.ts';
import type { ServedVersion } from '../../objects/custom-definition.ts';
import type { Resource } from '../shared/resource.ts';
import { defineStored } from '../stored/define-stored.ts';

/** What every schema that says nothing allows. */
const ANYTHING: JsonObject = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** The resources of a definition, those of the preferred version first; none before it is established. */
export function customResources(definition: ApiObject): readonly Resource[] {
  return servedVersionsOf(definition).map((version) => customResource(definition, version));
}

function customResource(definition: ApiObject, { version, said }: ServedVersion): Resource {
  const { plural, singular, kind, shortNames, categories } = namesOf(definition);
  const resource = defineStored({
    group: groupOf(definition),
    version,
    kind,
    plural,
    singular,
    isNamespaced: isNamespacedKind(definition),
    shortNames,
    categories,
    hasStatus: jsonMember(said['subresources'], 'status') !== undefined,
    countsGenerations: true,
    allowsUnconditionalUpdate: false,
  });
  const schema = jsonMember(said['schema'], 'openAPIV3Schema');
  const custom = {
    schema: isJsonObject(schema) ? schema : ANYTHING,
    columns: jsonItems(said['additionalPrinterColumns']).filter(isJsonObject),
  };
  if (definition.metadata.deletionTimestamp === undefined) return { ...resource, custom };
  const message = 'create not allowed while custom resource definition is terminating';
  const refuse = (): { code: number; reason: string; message: string } => ({
    code: 405,
    reason: 'MethodNotAllowed',
    message,
  });
  return { ...resource, custom, rules: { ...resource.rules, refuse } };
}
