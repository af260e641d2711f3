/**
 * Reads a request line: which resource, namespace, object and subresource are meant, and with which verb.
 *
 * The rules are those of the real server's request info: they need no knowledge of what exists, so that authorisation
 * comes before "no such resource". A namespace's own path names the namespace too. Nothing here refuses anything.
 */
import type { ApiRequest, RequestAttributes } from './api-request.ts';

/** A request line, understood. */
export interface ParsedTarget {
  readonly attributes: RequestAttributes;
  /** API version of a resource path; '' otherwise. */
  readonly version: string;
  /** Path segments beyond the subresource: no resource here has any. */
  readonly hasMore: boolean;
  readonly query: URLSearchParams;
}

const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize']);
const VERBS: Readonly<Record<ApiRequest['method'], string>> = {
  GET: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};
const NO_QUERY = new URLSearchParams();

/** Reads a request line; total: what it does not understand becomes a non-resource path. */
export function parseTarget(request: ApiRequest): ParsedTarget {
  const { target } = request;
  const queryStart = target.indexOf('?');
  const path = queryStart === -1 ? target : target.slice(0, queryStart);
  const query = queryStart === -1 ? NO_QUERY : new URLSearchParams(target.slice(queryStart + 1));
  const parts = segmentsOf(path);
  const place = placeOf(parts);
  if (place === undefined) {
    return {
      attributes: {
        user: request.user,
        verb: request.method.toLowerCase(),
        group: '',
        resource: '',
        path,
      },
      version: '',
      hasMore: false,
      query,
    };
  }
  const { group, version, namespace, resource, subresource, hasMore } = place;
  const verb = verbOf(request.method, place.name !== undefined, query);
  const name = place.name ?? (isCollectionVerb(verb) ? nameInSelector(query) : undefined);
  return {
    attributes: {
      user: request.user,
      verb,
      group,
      resource,
      ...(subresource === undefined ? {} : { subresource }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(name === undefined ? {} : { name }),
      path,
    },
    version,
    hasMore,
    query,
  };
}

/** Booleans in queries are true unless empty of meaning: absent, `false` or `0`. */
export function isTrue(text: string | null): boolean {
  return text !== null && text !== '0' && text.toLowerCase() !== 'false';
}

interface Place {
  readonly group: string;
  readonly version: string;
  readonly namespace?: string;
  readonly resource: string;
  readonly name?: string;
  readonly subresource?: string;
  readonly hasMore: boolean;
}

function segmentsOf(path: string): readonly string[] {
  const parts = path.split('/').filter((part) => part !== '');
  return path.includes('%') ? parts.map(decoded) : parts;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    if (error instanceof URIError) return part; // a stray % is taken literally: no object has such a name
    throw error;
  }
}

function placeOf(parts: readonly string[]): Place | undefined {
  const isCore = parts[0] === 'api';
  if (!isCore && parts[0] !== 'apis') return undefined;
  const versionIndex = isCore ? 1 : 2;
  const version = parts[versionIndex];
  let index = versionIndex + 1;
  if (version === undefined || parts[index] === undefined) return undefined;
  let namespace: string | undefined;
  if (parts[index] === 'namespaces' && parts[index + 1] !== undefined) {
    namespace = parts[index + 1];
    const next = parts[index + 2];
    if (next !== undefined && !NAMESPACE_SUBRESOURCES.has(next)) index += 2;
  }
  const name = parts[index + 1];
  const subresource = parts[index + 2];
  return {
    group: isCore ? '' : (parts[1] ?? ''),
    version,
    ...(namespace === undefined ? {} : { namespace }),
    resource: parts[index] ?? '',
    ...(name === undefined ? {} : { name }),
    ...(subresource === undefined ? {} : { subresource }),
    hasMore: parts.length > index + 3,
  };
}

function verbOf(method: ApiRequest['method'], hasName: boolean, query: URLSearchParams): string {
  if (hasName) return VERBS[method];
  if (method === 'GET') return isTrue(query.get('watch')) ? 'watch' : 'list';
  return method === 'DELETE' ? 'deletecollection' : VERBS[method];
}

function isCollectionVerb(verb: string): boolean {
  return verb === 'list' || verb === 'watch' || verb === 'deletecollection';
}

const NAME_TERM = /(?:^|,)metadata\.name==?([^,=!\\]+)(?:,|$)/;

/** `metadata.name=x` in a field selector is a name for authorisation (a role may allow it by resourceNames). */
function nameInSelector(query: URLSearchParams): string | undefined {
  const selector = query.get('fieldSelector');
  return selector === null ? undefined : NAME_TERM.exec(selector)?.[1];
}
