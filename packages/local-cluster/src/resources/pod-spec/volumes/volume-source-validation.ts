/**
 * The sources of volumes that a simulated node can mount, and the plain ones besides.
 *
 * Differs from Kubernetes: drivers' own volumes (CSI, disks of clouds, deprecated network disks) are taken as they are.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import { compareQuantities, ZERO_QUANTITY } from '../../../objects/quantity.ts';
import type { FieldError } from '../../shared/resource.ts';
import {
  at,
  forbidden,
  invalid,
  NO_ERRORS,
  notSupported,
  required,
} from '../../shared/field-errors.ts';
import { listAt, textAt } from '../../shared/json-edit.ts';
import { quantityOf } from '../../shared/resource-lists.ts';
import { validateNoBacksteps } from '../references/path-validation.ts';
import { validateProjectedSources } from './projected-validation.ts';
import {
  requireText,
  validateDownwardFile,
  validateKeyToPath,
  validateMode,
} from './volume-file-validation.ts';

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

function validateDownward(source: JsonObject, field: string): readonly FieldError[] {
  return [
    ...validateMode(source, `${field}.defaultMode`, 'defaultMode'),
    ...listAt(source, 'items').flatMap((file) => validateDownwardFile(file, field)),
  ];
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
