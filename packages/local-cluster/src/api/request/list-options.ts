/**
 * The options of list and watch, read from the query and checked as the real server checks them: 400 for what cannot be
 * read, 422 for combinations that are forbidden.
 *
 * `limit` and `timeoutSeconds` below zero count as absent. Selectors are read elsewhere (selectors/object-selector.ts).
 */
import type { FieldError } from '../../resources/shared/resource.ts';
import type { Status } from './api-request.ts';
import { isTrue } from './parse-target.ts';
import { badRequest, internal, invalidOptions } from './statuses.ts';

/** Options of list and watch. */
export interface ListOptions {
  /** 0: no limit. */
  readonly limit: number;
  readonly continueText: string;
  /** undefined: unset; 0n is "any". */
  readonly version?: bigint;
  readonly match: '' | 'Exact' | 'NotOlderThan';
  readonly timeoutSeconds?: number;
  readonly allowsBookmarks: boolean;
  readonly sendsInitialEvents?: boolean;
}

const INTEGER = /^[+-]?\d+$/;

/** Reads the options of a list, or of a watch. */
export function parseListOptions(
  query: URLSearchParams,
  purpose: 'list' | 'watch',
): ListOptions | Status {
  const limit = integerOf(query, 'limit');
  if (typeof limit === 'object') return limit;
  const timeoutSeconds = integerOf(query, 'timeoutSeconds');
  if (typeof timeoutSeconds === 'object') return timeoutSeconds;
  const errors = purpose === 'list' ? listErrors(query) : watchErrors(query);
  if (errors.length > 0) return invalidOptions('ListOptions', errors);
  const version = parseResourceVersion(textOf(query, 'resourceVersion'), purpose);
  if (typeof version === 'object') return version;
  const match = textOf(query, 'resourceVersionMatch');
  const sendsInitialEvents = query.get('sendInitialEvents');
  return {
    limit: Math.max(0, limit ?? 0),
    continueText: textOf(query, 'continue'),
    ...(version === undefined ? {} : { version }),
    match: match === 'Exact' || match === 'NotOlderThan' ? match : '',
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
    allowsBookmarks: isTrue(query.get('allowWatchBookmarks')),
    ...(sendsInitialEvents === null ? {} : { sendsInitialEvents: isTrue(sendsInitialEvents) }),
  };
}

function textOf(query: URLSearchParams, name: string): string {
  return query.get(name) ?? '';
}

/** A resourceVersion of a query; a malformed one is a 400 of list, and a 500 without a reason elsewhere. */
export function parseResourceVersion(
  text: string,
  purpose: 'list' | 'watch' | 'get',
): bigint | undefined | Status {
  if (text === '') return undefined;
  if (/^\d{1,19}$/.test(text)) return BigInt(text);
  const message = `resourceVersion: Invalid value: "${text}": strconv.ParseUint: parsing "${text}": invalid syntax`;
  return purpose === 'list'
    ? badRequest(`invalid resource version: ${message}`)
    : internal(message);
}

/** An integer of a query; undefined when absent, 400 when it is none. */
export function integerOf(query: URLSearchParams, name: string): number | undefined | Status {
  const text = query.get(name);
  if (text === null) return undefined;
  if (!INTEGER.test(text)) {
    return badRequest(`strconv.ParseInt: parsing "${text}": invalid syntax`);
  }
  return Number(text);
}

function listErrors(query: URLSearchParams): readonly FieldError[] {
  const errors: FieldError[] = [];
  const match = textOf(query, 'resourceVersionMatch');
  const version = textOf(query, 'resourceVersion');
  if (match !== '') {
    const field = 'resourceVersionMatch';
    if (version === '') {
      errors.push(
        forbiddenField(
          field,
          'resourceVersionMatch is forbidden unless resourceVersion is provided',
        ),
      );
    }
    if (textOf(query, 'continue') !== '') errors.push(continueError());
    if (match !== 'Exact' && match !== 'NotOlderThan') {
      errors.push(unsupported(field, match, '"Exact", "NotOlderThan", ""'));
    }
    if (match === 'Exact' && version === '0') {
      errors.push(
        forbiddenField(field, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'),
      );
    }
  }
  if (query.has('sendInitialEvents')) {
    errors.push(forbiddenField('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  }
  return errors;
}

function watchErrors(query: URLSearchParams): readonly FieldError[] {
  const errors: FieldError[] = [];
  const field = 'resourceVersionMatch';
  const match = textOf(query, field);
  const hasInitial = query.has('sendInitialEvents');
  if (hasInitial && match !== 'NotOlderThan') {
    errors.push(
      forbiddenField(
        field,
        'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
      ),
    );
  }
  if (match === '') return errors;
  if (!hasInitial) {
    errors.push(
      forbiddenField(
        field,
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      ),
    );
  }
  if (match !== 'NotOlderThan') errors.push(unsupported(field, match, '"NotOlderThan"'));
  if (textOf(query, 'continue') !== '') errors.push(continueError());
  return errors;
}

function continueError(): FieldError {
  return forbiddenField(
    'resourceVersionMatch',
    'resourceVersionMatch is forbidden when continue is provided',
  );
}

function forbiddenField(field: string, detail: string): FieldError {
  return { field, type: 'FieldValueForbidden', detail };
}

function unsupported(field: string, value: string, supported: string): FieldError {
  return {
    field,
    type: 'FieldValueNotSupported',
    value,
    detail: `supported values: ${supported}`,
  };
}
