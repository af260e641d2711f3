/**
 * Validation of metadata, the same for all kinds: names, labels, annotations, owners, finalizers, and what an update may not
 * change.
 *
 * Names and namespaces in URLs are the verbs' matter; here it is the object that is looked at, its name generated.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject, Metadata } from '../../objects/api-object.ts';
import type { FieldError } from './resource.ts';
import { equalJson } from './equal-json.ts';
import { forbidden, invalid, invalidText, required } from './field-errors.ts';
import { isPresent, listAt, textAt, textEntriesAt, textsAt } from './json-edit.ts';
import { checkLabel, checkLabelValue, checkQualifiedName, prefixOf } from './names.ts';
import type { TextCheck } from './names.ts';

/** What a kind demands of metadata. */
interface MetadataRules {
  readonly isNamespaced: boolean;
  readonly checkName: TextCheck;
}

/** Metadata of a new object. */
export function validateMetadata(object: ApiObject, rules: MetadataRules): readonly FieldError[] {
  const { metadata } = object;
  return [
    ...validateName(metadata, rules),
    ...validateNamespace(metadata, rules.isNamespaced),
    ...validateMembers(metadata),
  ];
}

function validateName(metadata: Metadata, { checkName }: MetadataRules): readonly FieldError[] {
  const generateName = textAt(metadata, 'generateName');
  const name = textAt(metadata, 'name');
  return [
    ...(generateName === ''
      ? []
      : invalidText('metadata.generateName', generateName, checkName(prefixOf(generateName)))),
    ...(name === ''
      ? [required('metadata.name', 'name or generateName is required')]
      : invalidText('metadata.name', name, checkName(name))),
  ];
}

function validateNamespace(metadata: Metadata, isNamespaced: boolean): readonly FieldError[] {
  const namespace = textAt(metadata, 'namespace');
  if (!isNamespaced) {
    if (namespace === '') return [];
    return [forbidden('metadata.namespace', 'not allowed on this type')];
  }
  if (namespace === '') return [required('metadata.namespace')];
  return invalidText('metadata.namespace', namespace, checkLabel(namespace));
}

function validateMembers(metadata: Metadata): readonly FieldError[] {
  return [
    ...validateLabels(metadata, 'metadata.labels'),
    ...textEntriesAt(metadata, 'annotations').flatMap(([key]) =>
      invalidText('metadata.annotations', key, checkQualifiedName(key.toLowerCase())),
    ),
    ...validateOwners(metadata),
    ...textsAt(metadata, 'finalizers').flatMap((finalizer) =>
      invalidText('metadata.finalizers', finalizer, checkQualifiedName(finalizer)),
    ),
  ];
}

/** The labels of a metadata or template, with `field` as the place to blame. */
export function validateLabels(metadata: JsonObject, field: string): readonly FieldError[] {
  return textEntriesAt(metadata, 'labels').flatMap(([key, value]) => [
    ...invalidText(field, key, checkQualifiedName(key)),
    ...invalidText(field, value, checkLabelValue(value)),
  ]);
}

function validateOwners(metadata: Metadata): readonly FieldError[] {
  const field = 'metadata.ownerReferences';
  const owners = listAt(metadata, 'ownerReferences');
  const errors: FieldError[] = owners.flatMap((owner) =>
    ['apiVersion', 'kind', 'name', 'uid']
      .filter((key) => textAt(owner, key) === '')
      .map((key) => invalid(`${field}.${key}`, '', 'must not be empty')),
  );
  if (owners.filter(({ controller }) => controller === true).length > 1) {
    errors.push(invalid(field, undefined, 'Only one reference can have Controller set to true'));
  }
  return errors;
}

const IMMUTABLE_KEYS = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const;

/** Metadata of a changed object. */
export function validateMetadataUpdate(next: ApiObject, current: ApiObject): readonly FieldError[] {
  const [after, before] = [next.metadata, current.metadata];
  const errors: FieldError[] = [...validateMembers(after)];
  if (isPresent(before, 'deletionTimestamp')) {
    const known = new Set(textsAt(before, 'finalizers'));
    if (textsAt(after, 'finalizers').some((finalizer) => !known.has(finalizer))) {
      const detail = 'no new finalizers can be added if the object is being deleted';
      errors.push(forbidden('metadata.finalizers', detail));
    }
  }
  if (textAt(after, 'resourceVersion') === '') {
    errors.push(invalid('metadata.resourceVersion', '', 'must be specified for an update'));
  }
  for (const key of IMMUTABLE_KEYS) {
    if (equalJson(after[key], before[key])) continue;
    errors.push(invalid(`metadata.${key}`, after[key], 'field is immutable'));
  }
  return errors;
}
