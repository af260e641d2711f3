/**
 * Constructors of the causes that validation reports.
 *
 * Type and field are what clients compare; the detail follows the API server's words, for people who read them.
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
  value: string,
  supported: readonly string[],
): FieldError {
  const detail = `supported values: ${supported.map((it) => JSON.stringify(it)).join(', ')}`;
  return { field, type: 'FieldValueNotSupported', detail, value };
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

/** A path with an index: `spec.containers[0]`. */
export function at(field: string, index: number): string {
  return `${field}[${String(index)}]`;
}

/** One cause for each problem of a text. */
export function invalidText(
  field: string,
  value: string,
  problems: readonly string[],
): readonly FieldError[] {
  return problems.map((it) => invalid(field, value, it));
}
