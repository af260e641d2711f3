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
  const [group, version, ...rest] = parts[0] === 'api' ? ['', ...parts.slice(1)] : apisPath(parts);
  if (group === undefined || version === undefined || rest.length === 0) return undefined;
  const namespace = rest[0] === 'namespaces' ? rest[1] : undefined;
  const isInside = namespace !== undefined && isCollectionName(rest[2]);
  const [resource = '', name, subresource, ...more] = isInside ? rest.slice(2) : rest;
  return {
    group,
    version,
    ...(namespace === undefined ? {} : { namespace }),
    resource,
    ...(name === undefined ? {} : { name }),
    ...(subresource === undefined ? {} : { subresource }),
    hasMore: more.length > 0,
  };
}

function apisPath(parts: readonly string[]): readonly string[] {
  return parts[0] === 'apis' ? parts.slice(1) : [];
}

/** What follows a namespace's name is a collection within it, unless it is a subresource of the namespace. */
function isCollectionName(part: string | undefined): boolean {
  return part !== undefined && !NAMESPACE_SUBRESOURCES.has(part);
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
