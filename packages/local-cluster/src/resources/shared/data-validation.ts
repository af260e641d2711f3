/**
 * What ConfigMaps and Secrets have in common: keys, sizes, immutability.
 */
import type { ApiObject } from '../../objects/api-object.ts';
import type { FieldError } from './resource.ts';
import { equalJson } from './equal-json.ts';
import { forbidden, invalidText } from './field-errors.ts';
import { objectAt } from './json-edit.ts';
import { checkDataKey } from './names.ts';

const IMMUTABLE = 'field is immutable when `immutable` is set';

/** Keys that are not made of letters, digits, `-`, `_` and `.`. */
export function validateDataKeys(field: string, keys: readonly string[]): readonly FieldError[] {
  return keys.flatMap((key) => invalidText(`${field}[${key}]`, key, checkDataKey(key)));
}

/** Bytes that a base64 text stands for. */
export function decodedLength(base64: string): number {
  return Math.floor((base64.replace(/=+$/, '').length * 3) / 4);
}

/** An object that once said `immutable: true` keeps that and its data. */
export function validateImmutableData(input: {
  readonly next: ApiObject;
  readonly current: ApiObject;
  readonly keys: readonly string[];
}): readonly FieldError[] {
  const { next, current, keys } = input;
  if (current['immutable'] !== true) return [];
  const errors: FieldError[] = [];
  if (next['immutable'] !== true) errors.push(forbidden('immutable', IMMUTABLE));
  for (const key of keys) {
    if (!equalJson(objectAt(next, key), objectAt(current, key)))
      errors.push(forbidden(key, IMMUTABLE));
  }
  return errors;
}
