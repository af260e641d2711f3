/**
 * Files that volumes show: a key of a ConfigMap or Secret, a file of the downward API, and their modes.
 *
 * Needed wherever a volume lists its files, by itself or as one source of a projected volume. Paths are relative and do not
 * leave the volume; the same path twice is the projected volume's matter. Whether a key exists, the node agent finds out
 * (spec node-agent 4g).
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { FieldError } from '../../shared/resource.ts';
import { invalid, NO_ERRORS, required } from '../../shared/field-errors.ts';
import { numberAt, optionalObjectAt, textAt } from '../../shared/json-edit.ts';
import {
  FILE_PATHS,
  validateFieldReference,
  validateResourceReference,
} from '../references/field-reference-validation.ts';
import { validateFilePath } from '../references/path-validation.ts';

const MODE_MAX = 0o777;

/** One file of a ConfigMap or Secret. */
export function validateKeyToPath(item: JsonObject, field: string): readonly FieldError[] {
  return [
    ...requireText(item, field, 'key'),
    ...requireText(item, field, 'path'),
    ...validateFilePath(textAt(item, 'path'), `${field}.path`),
    ...validateMode(item, `${field}.mode`, 'mode'),
  ];
}

/** `defaultMode` or `mode`, at `field`; absent is fine. */
export function validateMode(
  holder: JsonObject,
  field: string,
  key: string,
): readonly FieldError[] {
  const mode = numberAt(holder, key);
  if (mode === undefined || (mode >= 0 && mode <= MODE_MAX)) return NO_ERRORS;
  return [invalid(field, mode, 'must be a number between 0 and 0777 (octal), both inclusive')];
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

/** A member that must not be empty. */
export function requireText(holder: JsonObject, field: string, key: string): readonly FieldError[] {
  return textAt(holder, key) === '' ? [required(`${field}.${key}`)] : NO_ERRORS;
}
