/**
 * The sources of volumes that a simulated node can mount, and the plain ones besides.
 *
 * Differs from upstream: drivers' own volumes (CSI, disks of clouds, deprecated network disks) are taken as they are.
 */
import type { JsonObject } from '../../../../core/model/json.ts';
import { compareQuantities, ZERO_QUANTITY } from '../../objects/quantity.ts';
import type { FieldError } from '../resource.ts';
import {
  at,
  forbidden,
  invalid,
  NO_ERRORS,
  notSupported,
  required,
} from '../shared/field-errors.ts';
import { listAt, numberAt, optionalObjectAt, textAt } from '../shared/json-edit.ts';
import { quantityOf } from '../shared/resource-lists.ts';
import {
  FILE_PATHS,
  validateFieldReference,
  validateResourceReference,
} from './field-reference-validation.ts';
import { validateFilePath, validateNoBacksteps } from './path-validation.ts';
import { validateProjectedSources } from './projected-validation.ts';

const MODE_MAX = 0o777;
const HOST_PATH_TYPES = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];

/** A source of this kind at `field`. */
export function validateSource(
  kind: string,
  source: JsonObject,
  field: string,
): readonly FieldError[] {
  const validate = VALIDATIONS.get(kind);
  return validate === undefined ? NO_ERRORS : validate(source, field);
}

const VALIDATIONS: ReadonlyMap<
  string,
  (source: JsonObject, field: string) => readonly FieldError[]
> = new Map([
  ['emptyDir', validateEmptyDir],
  ['hostPath', validateHostPath],
  ['secret', (source, field) => validateFiles(source, field, 'secretName')],
  ['configMap', (source, field) => validateFiles(source, field, 'name')],
  ['downwardAPI', validateDownward],
  ['projected', validateProjected],
  ['persistentVolumeClaim', (source, field) => requireText(source, field, 'claimName')],
  ['nfs', validateNfs],
]);

function validateEmptyDir(source: JsonObject, field: string): readonly FieldError[] {
  const limit = quantityOf(textAt(source, 'sizeLimit'));
  if (compareQuantities(limit, ZERO_QUANTITY) >= 0) return NO_ERRORS;
  return [forbidden(`${field}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')];
}

function validateHostPath(source: JsonObject, field: string): readonly FieldError[] {
  const path = textAt(source, 'path');
  if (path === '') return [required(`${field}.path`)];
  const type = textAt(source, 'type');
  const errors = [...validateNoBacksteps(path, `${field}.path`)];
  if (!HOST_PATH_TYPES.includes(type)) {
    errors.push(notSupported(`${field}.type`, type, HOST_PATH_TYPES));
  }
  return errors;
}

function validateFiles(source: JsonObject, field: string, nameKey: string): readonly FieldError[] {
  return [
    ...requireText(source, field, nameKey),
    ...validateMode(source, `${field}.defaultMode`, 'defaultMode'),
    ...listAt(source, 'items').flatMap((item, index) =>
      validateKeyToPath(item, at(`${field}.items`, index)),
    ),
  ];
}

/** One file of a ConfigMap or Secret. */
export function validateKeyToPath(item: JsonObject, field: string): readonly FieldError[] {
  return [
    ...requireText(item, field, 'key'),
    ...requireText(item, field, 'path'),
    ...validateFilePath(textAt(item, 'path'), `${field}.path`),
    ...validateMode(item, `${field}.mode`, 'mode'),
  ];
}

function validateMode(holder: JsonObject, field: string, key: string): readonly FieldError[] {
  const mode = numberAt(holder, key);
  if (mode === undefined || (mode >= 0 && mode <= MODE_MAX)) return NO_ERRORS;
  return [invalid(field, mode, 'must be a number between 0 and 0777 (octal), both inclusive')];
}

function validateDownward(source: JsonObject, field: string): readonly FieldError[] {
  return [
    ...validateMode(source, `${field}.defaultMode`, 'defaultMode'),
    ...listAt(source, 'items').flatMap((file) => validateDownwardFile(file, field)),
  ];
}

/** One file of the downward API; its errors blame the volume, not the item. */
export function validateDownwardFile(file: JsonObject, field: string): readonly FieldError[] {
  const errors: FieldError[] = [
    ...requireText(file, field, 'path'),
    ...validateFilePath(textAt(file, 'path'), `${field}.path`),
  ];
  const reference = optionalObjectAt(file, 'fieldRef');
  const resource = optionalObjectAt(file, 'resourceFieldRef');
  if (reference !== undefined) {
    errors.push(...validateFieldReference(reference, `${field}.fieldRef`, FILE_PATHS));
    if (resource !== undefined) {
      errors.push(
        invalid(
          field,
          'resource',
          'fieldRef and resourceFieldRef can not be specified simultaneously',
        ),
      );
    }
  } else if (resource === undefined) {
    errors.push(required(field, 'one of fieldRef and resourceFieldRef is required'));
  } else {
    errors.push(...validateResourceReference(resource, `${field}.resourceFieldRef`, 'file'));
  }
  return [...errors, ...validateMode(file, `${field}.mode`, 'mode')];
}

function validateProjected(source: JsonObject, field: string): readonly FieldError[] {
  return [
    ...validateMode(source, `${field}.defaultMode`, 'defaultMode'),
    ...validateProjectedSources(listAt(source, 'sources'), field),
  ];
}

function validateNfs(source: JsonObject, field: string): readonly FieldError[] {
  const path = textAt(source, 'path');
  return [
    ...requireText(source, field, 'server'),
    ...requireText(source, field, 'path'),
    ...(path.startsWith('/') ? [] : [invalid(`${field}.path`, path, 'must be an absolute path')]),
  ];
}

/** A member that must not be empty. */
export function requireText(holder: JsonObject, field: string, key: string): readonly FieldError[] {
  return textAt(holder, key) === '' ? [required(`${field}.${key}`)] : NO_ERRORS;
}
