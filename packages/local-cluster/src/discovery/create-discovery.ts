/**
 * What clients ask before they ask for objects: resources, their types, the version, whether all is well.
 *
 * A part of the API handler; it answers GET on its paths and leaves every other path alone. Answers are made once, on
 * the first request, and do not change. Differs from Kubernetes: health means that the process answers, and there are
 * no protobuf documents and no OpenAPI v2 (404), for which kubectl has fallbacks.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import { answerStatus, answerWith } from '../api/request/answers.ts';
import type { ApiAnswer, ApiRequest, RequestAttributes } from '../api/request/api-request.ts';
import { methodNotAllowed } from '../api/request/statuses.ts';
import type { Resource } from '../resources/shared/resource.ts';
import {
  acceptsAggregatedDiscovery,
  AGGREGATED_DISCOVERY_TYPE,
  apiGroupDiscoveryList,
} from './aggregated-discovery.ts';
import { buildCatalog, groupVersionText } from './api-catalog.ts';
import type { CatalogGroup } from './api-catalog.ts';
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from './legacy-discovery.ts';
import { openApiDocuments, openApiIndex } from './openapi-document.ts';
import { SERVER_VERSION } from './server-version.ts';

/** What it describes. */
export interface DiscoveryOptions {
  readonly resources: readonly Resource[];
}

/** An answer that depends on nothing but what the client accepts and whether it asks for details. */
type Page = (request: ApiRequest) => ApiAnswer;

const HEALTH_CHECKS = ['healthz', 'livez', 'readyz'];

/** A part of the API handler: undefined for paths that are not its own. */
export function createDiscovery(
  options: DiscoveryOptions,
): (request: ApiRequest, attributes: RequestAttributes) => ApiAnswer | undefined {
  let pages: ReadonlyMap<string, Page> | undefined;
  return (request, attributes) => {
    if (attributes.resource !== '') return undefined;
    pages ??= buildPages(options.resources);
    const page = pages.get(withoutTrailingSlash(attributes.path));
    if (page === undefined) return undefined;
    return request.method === 'GET' ? page(request) : answerStatus(methodNotAllowed());
  };
}

function withoutTrailingSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

function buildPages(resources: readonly Resource[]): ReadonlyMap<string, Page> {
  const catalog = buildCatalog(resources);
  const pages = new Map<string, Page>([
    ...discoveryPages(catalog),
    ...openApiPages(catalog),
    ['/version', objectPage(SERVER_VERSION)],
    ...HEALTH_CHECKS.map((name) => [`/${name}`, healthPage(name)] as const),
  ]);
  pages.set('/', objectPage({ paths: [...pages.keys()].toSorted() }));
  return pages;
}

function discoveryPages(catalog: readonly CatalogGroup[]): readonly (readonly [string, Page])[] {
  const core = catalog.filter(({ group }) => group === '');
  const named = catalog.filter(({ group }) => group !== '');
  return [
    ['/api', eitherPage(apiVersions(), apiGroupDiscoveryList(core))],
    ['/apis', eitherPage(apiGroupList(catalog), apiGroupDiscoveryList(named))],
    ...core.map((group) => [`/api/${group.version}`, objectPage(apiResourceList(group))] as const),
    ...named.map((group) => [`/apis/${group.group}`, objectPage(apiGroup(group))] as const),
    ...named.map(
      (group) => [`/apis/${groupVersionText(group)}`, objectPage(apiResourceList(group))] as const,
    ),
  ];
}

function openApiPages(catalog: readonly CatalogGroup[]): readonly (readonly [string, Page])[] {
  const documents = openApiDocuments(catalog);
  return [
    ['/openapi/v3', objectPage(openApiIndex(documents))],
    ...documents.map(
      ({ name, text }) => [`/openapi/v3/${name}`, textPage('application/json', text)] as const,
    ),
  ];
}

function objectPage(body: JsonObject): Page {
  const answer = answerWith(body);
  return () => answer;
}

function textPage(contentType: string, text: string): Page {
  const answer: ApiAnswer = { kind: 'text', status: 200, contentType, text };
  return () => answer;
}

/** Clients know aggregated discovery by its media type, so it travels as text. */
function eitherPage(legacy: JsonObject, aggregated: JsonObject): Page {
  const legacyPage = objectPage(legacy);
  const aggregatedPage = textPage(AGGREGATED_DISCOVERY_TYPE, JSON.stringify(aggregated));
  return (request) =>
    acceptsAggregatedDiscovery(request.accept) ? aggregatedPage(request) : legacyPage(request);
}

function healthPage(name: string): Page {
  const plain = textPage('text/plain; charset=utf-8', 'ok');
  const verbose = textPage('text/plain; charset=utf-8', `[+]ping ok\n${name} check passed\n`);
  return (request) =>
    /[?&]verbose(?:[=&]|$)/.test(request.target) ? verbose(request) : plain(request);
}
