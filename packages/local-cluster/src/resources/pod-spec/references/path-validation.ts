/** Paths inside volumes: relative, and never upwards. */
import type { FieldError } from '../../shared/resource.ts';
import { invalid } from '../../shared/field-errors.ts';

/** No `..` in a path. */
export function validateNoBacksteps(path: string, field: string): readonly FieldError[] {
  return path.split('/').includes('..') ? [invalid(field, path, "must not contain '..'")] : [];
}

/** Relative, and without `..`. */
export function validateDescendingPath(path: string, field: string): readonly FieldError[] {
  const absolute = path.startsWith('/') ? [invalid(field, path, 'must be a relative path')] : [];
  return [...absolute, ...validateNoBacksteps(path, field)];
}

/** Relative, and not beginning with `..`, which the kubelet keeps for itself. */
export function validateFilePath(path: string, field: string): readonly FieldError[] {
  const errors = [...validateDescendingPath(path, field)];
  if (/^\.\.(?!\/)/.test(path) && path !== '..') {
    errors.push(invalid(field, path, "must not start with '..'"));
  }
  return errors;
}
