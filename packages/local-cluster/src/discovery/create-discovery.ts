/**
 * What clients ask before they ask for objects: resources, their types, the version, whether all is well.
 *
 * A part of the API handler; it answers GET on its paths and leaves every other path alone. Answers are made on the first
 * request after the resources changed. kubectl asks for groups and resources in one document (aggregated discovery), and
 * still for some in the older form, as `drain` does.
 *
 * Differs from Kubernetes: health means that the process answers; OpenAPI v2 is an empty document: kubectl 1.32 asks for it
 * about a kind that v3 does not have, and must learn no more than that; no hashes of storage versions.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import { answerStatus, answerWith } from '../api/request/answers.ts';
import type { ApiAnswer, ApiRequest, RequestAttributes } from '../api/request/api-request.ts';
import { methodNotAllowed } from '../api/request/statuses.ts';
import { memoized } from '../objects/memoized.ts';
import type { Resource } from '../resources/shared/resource.ts';
import { buildCatalog, groupVersionText, versionsByGroup } from './api-catalog.ts';
import type { CatalogGroup, CatalogResource } from './api-catalog.ts';
import {
  documentName,
  OPENAPI_V2,
  OPENAPI_V2_PROTOBUF,
  openApiDocuments,
  openApiIndex,
  openApiV2Protobuf,
  RELEASE,
} from './openapi.ts';

/** GET /version; the suffix keeps it from passing for the real thing. */
const SERVER_VERSION: JsonObject = {
  major: RELEASE.major,
  minor: RELEASE.minor,
  gitVersion: `v${RELEASE.major}.${RELEASE.minor}.${RELEASE.patch}+rollcall-local`,
  gitCommit: '',
  gitTreeState: '',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: `${process.platform}/${process.arch}`,
};

/** What it describes. */
export interface DiscoveryOptions {
  /** What is served now: the same list until it changes. */
  readonly resources: () => readonly Resource[];
}

/** An answer that depends on nothing but what the client accepts and whether it asks for details. */
type Page = (request: ApiRequest) => ApiAnswer;

const HEALTH_CHECKS = ['healthz', 'livez', 'readyz'];

/** A part of the API handler: undefined for paths that are not its own. */
export function createDiscovery(
  options: DiscoveryOptions,
): (request: ApiRequest, attributes: RequestAttributes) => ApiAnswer | undefined {
  const pagesOf = memoized(buildPages);
  return (request, attributes) => {
    if (attributes.resource !== '') return undefined;
    const page = pagesOf(options.resources())(withoutTrailingSlash(attributes.path));
    if (page === undefined) return undefined;
    return request.method === 'GET' ? page(request) : answerStatus(methodNotAllowed());
  };
}

function withoutTrailingSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

/** The pages by path. Those of OpenAPI, which are long, are made when one is asked for. */
function buildPages(resources: readonly Resource[]): (path: string) => Page | undefined {
  const catalog = buildCatalog(resources);
  const pages = new Map<string, Page>([
    ...discoveryPages(catalog),
    ['/openapi/v2', openApiV2Page],
    ['/version', objectPage(SERVER_VERSION)],
    ...HEALTH_CHECKS.map((name) => [`/${name}`, healthPage(name)] as const),
  ]);
  const openApiPaths = ['/openapi/v3', ...catalog.map(openApiPath)];
  pages.set('/', objectPage({ paths: [...pages.keys(), ...openApiPaths].toSorted() }));
  const openApi = memoized(openApiPages);
  return (path) => (path.startsWith('/openapi/v3') ? openApi(catalog).get(path) : pages.get(path));
}

function discoveryPages(catalog: readonly CatalogGroup[]): readonly (readonly [string, Page])[] {
  const core = catalog.filter(({ group }) => group === '');
  const named = catalog.filter(({ group }) => group !== '');
  return [
    ['/api', eitherPage(apiVersions(), apiGroupDiscoveryList(core))],
    ['/apis', eitherPage(apiGroupList(catalog), apiGroupDiscoveryList(named))],
    ...core.map((group) => [`/api/${group.version}`, objectPage(apiResourceList(group))] as const),
    ...versionsByGroup(named).map(
      (versions) => [`/apis/${versions[0].group}`, objectPage(apiGroup(versions))] as const,
    ),
    ...named.map(
      (group) => [`/apis/${groupVersionText(group)}`, objectPage(apiResourceList(group))] as const,
    ),
  ];
}

function openApiPages(catalog: readonly CatalogGroup[]): ReadonlyMap<string, Page> {
  const documents = openApiDocuments(catalog);
  return new Map([
    ['/openapi/v3', objectPage(openApiIndex(documents))],
    ...documents.map(
      ({ name, text }) => [`/openapi/v3/${name}`, textPage('application/json', text)] as const,
    ),
  ]);
}

function openApiPath(group: CatalogGroup): string {
  return `/openapi/v3/${documentName(group)}`;
}

/** As JSON, or as kubectl asks for it: in protobuf, of which a client needs three fields. */
function openApiV2Page(request: ApiRequest): ApiAnswer {
  const accepts = (request.accept ?? '').split(',').map((part) => part.trim());
  const { asked, answered } = OPENAPI_V2_PROTOBUF;
  if (!accepts.includes(asked) && !accepts.includes(answered)) return answerWith(OPENAPI_V2);
  return {
    kind: 'text',
    status: 200,
    contentType: answered,
    text: openApiV2Protobuf(),
  };
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

/** GET /api. Clients reach the server where they found it, so no other address is offered. */
function apiVersions(): JsonObject {
  return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] };
}

/** GET /apis. */
function apiGroupList(catalog: readonly CatalogGroup[]): JsonObject {
  const named = catalog.filter(({ group }) => group !== '');
  const groups = versionsByGroup(named).map(describeGroup);
  return { kind: 'APIGroupList', apiVersion: 'v1', groups };
}

/** GET /apis/GROUP, of its versions. */
function apiGroup(versions: readonly [CatalogGroup, ...CatalogGroup[]]): JsonObject {
  return { kind: 'APIGroup', apiVersion: 'v1', ...describeGroup(versions) };
}

/** GET /api/v1 or /apis/GROUP/VERSION. */
function apiResourceList(group: CatalogGroup): JsonObject {
  return {
    kind: 'APIResourceList',
    // The original leaves it out of the core group's list, and only there.
    ...(group.group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: groupVersionText(group),
    resources: group.resources.flatMap(listedResources),
  };
}

function describeGroup(versions: readonly [CatalogGroup, ...CatalogGroup[]]): JsonObject {
  const [preferred] = versions;
  return {
    name: preferred.group,
    versions: versions.map(describeVersion),
    preferredVersion: describeVersion(preferred),
  };
}

function describeVersion(group: CatalogGroup): JsonObject {
  return { groupVersion: groupVersionText(group), version: group.version };
}

function listedResources(resource: CatalogResource): readonly JsonObject[] {
  const { plural, singular, kind, isNamespaced, verbs, shortNames, categories } = resource;
  return [
    {
      name: plural,
      singularName: singular,
      namespaced: isNamespaced,
      kind,
      verbs,
      ...(shortNames.length === 0 ? {} : { shortNames }),
      ...(categories.length === 0 ? {} : { categories }),
    },
    ...resource.subresources.map((subresource) => ({
      name: `${plural}/${subresource.name}`,
      singularName: '',
      namespaced: isNamespaced,
      ...subresource.home,
      kind: subresource.kind,
      verbs: subresource.verbs,
    })),
  ];
}

/** The media type that clients recognise it by. */
const AGGREGATED_DISCOVERY_TYPE =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** Whether an Accept header asks for it. */
function acceptsAggregatedDiscovery(accept: string | undefined): boolean {
  return (accept ?? '').split(',').some((part) => {
    const parameters = part.split(';').map((text) => text.trim());
    return (
      parameters.includes('g=apidiscovery.k8s.io') &&
      parameters.includes('v=v2') &&
      parameters.includes('as=APIGroupDiscoveryList')
    );
  });
}

/** GET /api (the core group alone) or /apis (all the others). */
function apiGroupDiscoveryList(groups: readonly CatalogGroup[]): JsonObject {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: versionsByGroup(groups).map((versions) => ({
      metadata: versions[0].group === '' ? {} : { name: versions[0].group },
      versions: versions.map(({ version, resources }) => ({
        version,
        resources: resources.map(describeResource),
        freshness: 'Current',
      })),
    })),
  };
}

function describeResource(resource: CatalogResource): JsonObject {
  const { shortNames, categories, subresources } = resource;
  return {
    resource: resource.plural,
    responseKind: responseKind(resource.kind),
    scope: resource.isNamespaced ? 'Namespaced' : 'Cluster',
    singularResource: resource.singular,
    verbs: resource.verbs,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(subresources.length === 0
      ? {}
      : {
          subresources: subresources.map(({ name, kind, home, verbs }) => ({
            subresource: name,
            responseKind: responseKind(kind, home),
            verbs,
          })),
        }),
  };
}

/** Group and version are empty for a kind of the same group and version. */
function responseKind(
  kind: string,
  home: { readonly group: string; readonly version: string } = { group: '', version: '' },
): JsonObject {
  return { group: home.group, version: home.version, kind };
}
