/**
 * Validation of metadata, the same for all kinds: names, labels, annotations, owners, finalizers, and what an update may
 * not change.
 *
 * Names and namespaces in URLs are the verbs' matter; here it is the object that is looked at, after its name was
 * generated and its system fields were filled in.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject, Metadata } from '../../objects/api-object.ts';
import type { FieldError } from './resource.ts';
import { equalJson } from './equal-json.ts';
import {
  at,
  forbidden,
  invalid,
  invalidText,
  nonNegative,
  required,
  tooLong,
} from './field-errors.ts';
import { isPresent, listAt, textAt, textEntriesAt, textsAt } from './json-edit.ts';
import {
  checkLabel,
  checkLabelValue,
  checkQualifiedName,
  checkSubdomain,
  prefixOf,
  type TextCheck,
} from './names.ts';

/** What a kind demands of metadata. */
export interface MetadataRules {
  readonly isNamespaced: boolean;
  readonly checkName: TextCheck;
  /** For generateName, where it is not `checkName` on the prefix without its dashes. */
  readonly checkPrefix?: TextCheck;
  /** Of the core rules: a finalizer without a domain must be one of Kubernetes' own. */
  readonly hasStandardFinalizers?: boolean;
}

/** What most core kinds demand: a DNS subdomain for a name, and no finalizers of Kubernetes' that do not exist. */
export const NAMESPACED_OBJECT: MetadataRules = {
  isNamespaced: true,
  checkName: checkSubdomain,
  hasStandardFinalizers: true,
};

/** The same for kinds that live outside of namespaces. */
export const CLUSTER_OBJECT: MetadataRules = { ...NAMESPACED_OBJECT, isNamespaced: false };

const ANNOTATION_BYTES_MAX = 256 * 1024;
const IMMUTABLE = 'field is immutable';
const STANDARD_FINALIZERS: ReadonlySet<string> = new Set([
  'kubernetes',
  'orphan',
  'foregroundDeletion',
]);

/** Metadata of a whole object. */
export function validateMetadata(object: ApiObject, rules: MetadataRules): readonly FieldError[] {
  const { metadata } = object;
  return [
    ...validateName(metadata, rules),
    ...validateNamespace(metadata, rules.isNamespaced),
    ...nonNegative('metadata.generation', metadata.generation),
    ...validateLabels(metadata, 'metadata.labels'),
    ...validateAnnotations(metadata, 'metadata.annotations'),
    ...validateOwners(metadata),
    ...validateFinalizers(metadata),
    ...(rules.hasStandardFinalizers === true ? validateStandardFinalizers(metadata) : []),
  ];
}

function validateName(metadata: Metadata, rules: MetadataRules): readonly FieldError[] {
  const errors: FieldError[] = [];
  const generateName = textAt(metadata, 'generateName');
  if (generateName !== '') {
    const problems =
      rules.checkPrefix === undefined
        ? rules.checkName(prefixOf(generateName))
        : rules.checkPrefix(generateName);
    errors.push(...invalidText('metadata.generateName', generateName, problems));
  }
  const name = textAt(metadata, 'name');
  if (name === '') errors.push(required('metadata.name', 'name or generateName is required'));
  else errors.push(...invalidText('metadata.name', name, rules.checkName(name)));
  return errors;
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

/** The labels of a metadata or template, with `field` as the place to blame. */
export function validateLabels(metadata: JsonObject, field: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const [key, value] of textEntriesAt(metadata, 'labels')) {
    errors.push(...invalidText(field, key, checkQualifiedName(key)));
    errors.push(...invalidText(field, value, checkLabelValue(value)));
  }
  return errors;
}

/** The annotations of a metadata or template: keys, and 256 KiB in all. */
export function validateAnnotations(metadata: JsonObject, field: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  let bytes = 0;
  for (const [key, value] of textEntriesAt(metadata, 'annotations')) {
    errors.push(...invalidText(field, key, checkQualifiedName(key.toLowerCase())));
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > ANNOTATION_BYTES_MAX) errors.push(tooLong(field, ANNOTATION_BYTES_MAX));
  return errors;
}

function validateOwners(metadata: Metadata): readonly FieldError[] {
  const field = 'metadata.ownerReferences';
  const errors: FieldError[] = [];
  let controllers = 0;
  for (const owner of listAt(metadata, 'ownerReferences')) {
    const problem = (key: string): void => {
      if (textAt(owner, key) === '') {
        errors.push(invalid(`${field}.${key}`, textAt(owner, key), 'must not be empty'));
      }
    };
    for (const key of ['apiVersion', 'kind', 'name', 'uid']) problem(key);
    if (textAt(owner, 'apiVersion') === 'v1' && textAt(owner, 'kind') === 'Event') {
      errors.push(invalid(field, owner, '/v1, Kind=Event is disallowed from being an owner'));
    }
    if (owner['controller'] !== true) continue;
    controllers += 1;
    if (controllers > 1) {
      errors.push(invalid(field, undefined, 'Only one reference can have Controller set to true'));
    }
  }
  return errors;
}

function validateFinalizers(metadata: Metadata): readonly FieldError[] {
  const field = 'metadata.finalizers';
  const finalizers = textsAt(metadata, 'finalizers');
  const errors: FieldError[] = [];
  for (const finalizer of finalizers) {
    errors.push(...invalidText(field, finalizer, checkQualifiedName(finalizer)));
  }
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    errors.push(invalid(field, finalizers, 'orphan and foregroundDeletion cannot be both set'));
  }
  return errors;
}

function validateStandardFinalizers(metadata: Metadata): readonly FieldError[] {
  return textsAt(metadata, 'finalizers').flatMap((finalizer, index) =>
    validateStandardFinalizer(finalizer, at('metadata.finalizers', index)),
  );
}

/** A finalizer without a domain that is not one of Kubernetes' own. */
export function validateStandardFinalizer(finalizer: string, field: string): readonly FieldError[] {
  if (finalizer.includes('/') || STANDARD_FINALIZERS.has(finalizer)) return [];
  const detail = 'name is neither a standard finalizer name nor is it fully qualified';
  return [invalid(field, finalizer, detail)];
}

/** What an update may not do to metadata. */
export function validateMetadataUpdate(next: ApiObject, current: ApiObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  const [after, before] = [next.metadata, current.metadata];
  if (isPresent(before, 'deletionTimestamp') && after.finalizers !== before.finalizers) {
    const known = new Set(textsAt(before, 'finalizers'));
    if (textsAt(after, 'finalizers').some((finalizer) => !known.has(finalizer))) {
      const detail = 'no new finalizers can be added if the object is being deleted';
      errors.push(forbidden('metadata.finalizers', detail));
    }
  }
  if (textAt(after, 'resourceVersion') === '') {
    errors.push(invalid('metadata.resourceVersion', '', 'must be specified for an update'));
  }
  if ((after.generation ?? 0) < (before.generation ?? 0)) {
    errors.push(invalid('metadata.generation', after.generation, 'must not be decremented'));
  }
  for (const key of IMMUTABLE_KEYS) {
    if (equalJson(after[key], before[key])) continue;
    errors.push(invalid(`metadata.${key}`, after[key], IMMUTABLE));
  }
  // The original looks at these on every update, whether they changed or not.
  errors.push(...validateLabels(after, 'metadata.labels'));
  errors.push(...validateAnnotations(after, 'metadata.annotations'));
  errors.push(...validateOwners(after));
  return errors;
}

/** As `validateMetadataUpdate`, with the finalizers' names as the rules of the core group look at them (not leases'). */
export function validateCoreMetadataUpdate(
  next: ApiObject,
  current: ApiObject,
): readonly FieldError[] {
  return [...validateMetadataUpdate(next, current), ...validateStandardFinalizers(next.metadata)];
}

const IMMUTABLE_KEYS = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const;
