/**
 * Constructors of the causes that validation reports, and the texts that several rules share.
 *
 * Type and field are what clients and the conformance suite compare; the detail follows the API server's words where
 * that is cheap, for people who read them.
 */
import type { Json } from '@rollcall/base/json.ts';
import type { FieldError } from './resource.ts';

/** Of a field that must be given. */
export function required(field: string, detail = ''): FieldError {
  return { field, type: 'FieldValueRequired', detail };
}

/** Of a value that breaks a rule. */
export function invalid(field: string, value: Json | undefined, detail: string): FieldError {
  return { field, type: 'FieldValueInvalid', detail, ...(value === undefined ? {} : { value }) };
}

/** Of a value outside a closed set. */
export function notSupported(
  field: string,
  value: Json | undefined,
  supported: readonly string[],
): FieldError {
  const detail = `supported values: ${supported.map((it) => JSON.stringify(it)).join(', ')}`;
  return {
    field,
    type: 'FieldValueNotSupported',
    detail,
    ...(value === undefined ? {} : { value }),
  };
}

/** Of a field that may not be given, or not be changed, here. */
export function forbidden(field: string, detail: string): FieldError {
  return { field, type: 'FieldValueForbidden', detail };
}

/** Of a value that occurs twice where it must be unique. */
export function duplicate(field: string, value: Json): FieldError {
  return { field, type: 'FieldValueDuplicate', detail: '', value };
}

/** Of something that is named and does not exist. */
export function notFound(field: string, value: Json): FieldError {
  return { field, type: 'FieldValueNotFound', detail: '', value };
}

/** Of a text or list of bytes beyond its limit. */
export function tooLong(field: string, bytesMax: number): FieldError {
  const detail = `may not be more than ${String(bytesMax)} bytes`;
  return { field, type: 'FieldValueTooLong', detail };
}

/** Of a number below zero. */
export function nonNegative(field: string, value: number | undefined): readonly FieldError[] {
  if (value === undefined || value >= 0) return [];
  return [invalid(field, value, 'must be greater than or equal to 0')];
}

/** A path with an index: `spec.containers[0]`. */
export function at(field: string, index: number | string): string {
  return `${field}[${String(index)}]`;
}

/** One cause for each problem of a text. */
export function invalidText(
  field: string,
  value: string,
  problems: readonly string[],
): readonly FieldError[] {
  return problems.length === 0 ? NO_ERRORS : problems.map((it) => invalid(field, value, it));
}

/** Nothing wrong. */
export const NO_ERRORS: readonly FieldError[] = Object.freeze([]);

/** A text that must be one of a closed set: required when empty. */
export function oneOf(
  field: string,
  value: string,
  supported: readonly string[],
): readonly FieldError[] {
  if (supported.includes(value)) return NO_ERRORS;
  return [value === '' ? required(field) : notSupported(field, value, supported)];
}

/** A number that must lie between two bounds. */
export function inRange(
  field: string,
  value: number | undefined,
  bounds: { readonly min: number; readonly max: number },
): readonly FieldError[] {
  const { min, max } = bounds;
  if (value === undefined || (value >= min && value <= max)) return NO_ERRORS;
  return [invalid(field, value, `must be between ${String(min)} and ${String(max)}, inclusive`)];
}
