/**
 * The options of list and watch, read from the query: 400 for what cannot be read.
 *
 * `limit` and `timeoutSeconds` below zero count as absent. Selectors are read elsewhere (selectors/object-selector.ts).
 * Differs from Kubernetes: resourceVersionMatch is taken as it is; a version that is not exact is at least that.
 */
import type { Status } from './api-request.ts';
import { isTrue } from './parse-target.ts';
import { badRequest, isStatus } from './statuses.ts';

/** Options of list and watch. */
export interface ListOptions {
  /** 0: no limit. */
  readonly limit: number;
  readonly continueText: string;
  /** undefined: unset; 0n is "any". */
  readonly version?: bigint;
  readonly isExact: boolean;
  readonly timeoutSeconds?: number;
  readonly allowsBookmarks: boolean;
  readonly sendsInitialEvents?: boolean;
}

/** Reads the options. */
export function parseListOptions(query: URLSearchParams): ListOptions | Status {
  const limit = integerOf(query, 'limit');
  if (typeof limit === 'object') return limit;
  const timeoutSeconds = integerOf(query, 'timeoutSeconds');
  if (typeof timeoutSeconds === 'object') return timeoutSeconds;
  const version = parseResourceVersion(query);
  if (typeof version === 'object' && isStatus(version)) return version;
  const sendsInitialEvents = query.get('sendInitialEvents');
  return {
    limit: Math.max(0, limit ?? 0),
    continueText: query.get('continue') ?? '',
    ...(version === undefined ? {} : { version }),
    isExact: query.get('resourceVersionMatch') === 'Exact',
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
    allowsBookmarks: isTrue(query.get('allowWatchBookmarks')),
    ...(sendsInitialEvents === null ? {} : { sendsInitialEvents: isTrue(sendsInitialEvents) }),
  };
}

/** The resourceVersion of a query; undefined when absent, 400 when it is none. */
export function parseResourceVersion(query: URLSearchParams): bigint | undefined | Status {
  const text = query.get('resourceVersion') ?? '';
  if (text === '') return undefined;
  if (/^\d{1,19}$/.test(text)) return BigInt(text);
  return badRequest(`invalid resource version: "${text}": invalid syntax`);
}

/** An integer of a query; undefined when absent, 400 when it is none. */
function integerOf(query: URLSearchParams, name: string): number | undefined | Status {
  const text = query.get(name);
  if (text === null) return undefined;
  if (!/^[+-]?\d+$/.test(text)) {
    return badRequest(`strconv.ParseInt: parsing "${text}": invalid syntax`);
  }
  return Number(text);
}
