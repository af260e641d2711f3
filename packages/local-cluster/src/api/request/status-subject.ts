/**
 * Whom a status is about, in the words of the API server: group, kind or resource, and name; and what is wrong with a field.
 *
 * Only texts and details; which status it becomes, statuses.ts says.
 */
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { FieldError, Resource } from '../../resources/shared/resource.ts';

/** Which object a Status is about. */
export interface Subject {
  readonly group: string;
  /** Plural of the resource, or for validation its kind. */
  readonly kind: string;
  readonly name?: string;
}

/** The subject of most refusals: the plural. */
export function resourceSubject(resource: Resource, name?: string): Subject {
  return {
    group: resource.group,
    kind: resource.plural,
    ...(name === undefined ? {} : { name }),
  };
}

/** The subject of validation errors and of failed preconditions of deletions: the kind. */
export function kindSubject(resource: Resource, name?: string): Subject {
  return { group: resource.group, kind: resource.kind, ...(name === undefined ? {} : { name }) };
}

/** `details` of a status: group, kind and name, as far as they are known. */
export function detailsOf({ group, kind, name }: Subject): JsonObject {
  return {
    ...(name === undefined || name === '' ? {} : { name }),
    ...(group === '' ? {} : { group }),
    ...(kind === '' ? {} : { kind }),
  };
}

/** The kind with its group, as messages name it: `daemonsets.apps`. */
export function qualified({ group, kind }: Subject): string {
  return group === '' ? kind : `${kind}.${group}`;
}

const PREFIXES: Readonly<Record<FieldError['type'], string>> = {
  FieldValueRequired: 'Required value',
  FieldValueInvalid: 'Invalid value',
  FieldValueNotSupported: 'Unsupported value',
  FieldValueForbidden: 'Forbidden',
  FieldValueDuplicate: 'Duplicate value',
  FieldValueNotFound: 'Not found',
};

/** What is wrong with a field, without the field: `Invalid value: 0: must be positive`. */
export function errorBody({ type, value, detail }: FieldError): string {
  const shown = value === undefined ? '' : `: ${JSON.stringify(value satisfies Json)}`;
  return `${PREFIXES[type]}${shown}${detail === '' ? '' : `: ${detail}`}`;
}
