/**
 * The options of create, update and patch, from the query: dryRun, fieldValidation, and what belongs to apply alone.
 *
 * A value that does not exist is a 422 that names the kind of the options. fieldManager is not looked at.
 */
import type { FieldError } from '../../resources/shared/resource.ts';
import type { Status } from './api-request.ts';
import { invalidOptions } from './statuses.ts';

/** Options of writes. */
export interface WriteOptions {
  readonly isDryRun: boolean;
  /** What to do about unknown fields. */
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict';
}

const PLAIN: WriteOptions = { isDryRun: false, fieldValidation: 'Warn' };
const FIELD_VALIDATIONS = '"", "Ignore", "Strict", "Warn"';

/** Reads them; 422 for values that do not exist. `kind` is that of the options: CreateOptions, … */
export function parseWriteOptions(
  query: URLSearchParams,
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
): WriteOptions | Status {
  if (query.size === 0) return PLAIN;
  const errors: FieldError[] = [];
  const dryRun = query.getAll('dryRun');
  errors.push(...dryRunErrors(dryRun));
  const validation = query.get('fieldValidation') ?? '';
  const fieldValidation = validation === '' ? 'Warn' : validation;
  if (fieldValidation !== 'Warn' && fieldValidation !== 'Strict' && fieldValidation !== 'Ignore') {
    errors.push({
      field: 'fieldValidation',
      type: 'FieldValueNotSupported',
      value: validation,
      detail: `supported values: ${FIELD_VALIDATIONS}`,
    });
    return invalidOptions(kind, errors);
  }
  if (kind === 'PatchOptions' && query.has('force')) {
    errors.push({
      field: 'force',
      type: 'FieldValueForbidden',
      detail: 'may not be specified for non-apply patch',
    });
  }
  if (errors.length > 0) return invalidOptions(kind, errors);
  return { isDryRun: dryRun.length > 0, fieldValidation };
}

/** dryRun may be `All` alone. */
export function dryRunErrors(values: readonly string[]): readonly FieldError[] {
  if (values.every((value) => value === 'All')) return [];
  return [
    {
      field: 'dryRun',
      type: 'FieldValueNotSupported',
      value: values,
      detail: 'supported values: "All"',
    },
  ];
}
