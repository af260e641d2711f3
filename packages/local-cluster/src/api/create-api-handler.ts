/**
 * The API server without its network: understands a request, authorises it, and lets its verb answer.
 *
 * Each request is one synchronous step, so it is atomic against the store. Order, as on the real server: attributes of the
 * path → authorisation → what exists → form of the answer → verb. What is no resource here (discovery, health, access
 * reviews) is `extra`'s. A request that the rules refuse gets a Status; an exception is a bug and passes through.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import type { ApiObject } from '../objects/api-object.ts';
import type { Resource } from '../resources/shared/resource.ts';
import type { Schema } from '../schema/schema.ts';
import type { Store } from '../store/store.ts';
import { answerStatus } from './request/answers.ts';
import type {
  ApiAnswer,
  ApiHandler,
  ApiRequest,
  Authorizer,
  RequestAttributes,
  RequestObserver,
} from './request/api-request.ts';
import { parseOutputForm } from './request/output-form.ts';
import { parseTarget } from './request/parse-target.ts';
import type { ParsedTarget } from './request/parse-target.ts';
import type { ApiServices, ResourceCall } from './steps/resource-call.ts';
import {
  forbiddenRequest,
  isStatus,
  methodNotAllowed,
  noSuchResource,
} from './request/statuses.ts';
import { answerCollection, answerObject } from './dispatch.ts';

/** Answers what is no resource of the store; undefined: not mine. */
export type ExtraPaths = (
  request: ApiRequest,
  attributes: RequestAttributes,
) => ApiAnswer | undefined;

/** What the handler is made of. */
export interface ApiHandlerOptions {
  readonly store: Store;
  /** What is served now: the same list until it changes. */
  readonly resources: () => readonly Resource[];
  readonly schema: Schema;
  readonly authorizer: Authorizer;
  readonly extra: ExtraPaths;
  readonly clock: Clock;
  readonly random: Random;
  readonly onRequest?: RequestObserver;
}

/** Makes the handler. */
export function createApiHandler(options: ApiHandlerOptions): ApiHandler {
  const { store, schema, clock, random, onRequest } = options;
  const services: ApiServices = { store, schema, clock, random };
  let served = options.resources();
  let index = createResourceIndex(served);
  return {
    handle: (request) => {
      const target = parseTarget(request);
      if (served !== options.resources()) {
        served = options.resources();
        index = createResourceIndex(served);
      }
      const answer = answerRequest({ options, services, index, request, target });
      if (onRequest !== undefined) observeAnswer({ onRequest, request, target, answer });
      return answer;
    },
  };
}

interface Handling {
  readonly options: ApiHandlerOptions;
  readonly services: ApiServices;
  readonly index: ResourceIndex;
  readonly request: ApiRequest;
  readonly target: ParsedTarget;
}

function answerRequest(handling: Handling): ApiAnswer {
  const { options, request, target, index } = handling;
  const { attributes } = target;
  const { allowed, reason } = options.authorizer.authorize(attributes);
  if (!allowed) return answerStatus(forbiddenRequest(attributes, reason));
  if (attributes.resource !== '' && !target.hasMore) {
    const resource = index.find(attributes, target.version);
    if (resource !== undefined) return answerResource(handling, resource);
  }
  const extra = options.extra(request, attributes);
  if (extra !== undefined) return extra;
  return index.hasGroup(groupOf(attributes))
    ? answerStatus(noSuchResource())
    : { kind: 'text', status: 404, contentType: 'text/plain', text: '404 page not found\n' };
}

/** The group that a path is in: `/apis/apps/v2` is in a group that exists, whatever its version. */
function groupOf({ resource, group, path }: RequestAttributes): string | undefined {
  if (resource !== '') return group;
  const [, root, first, second] = path.split('/');
  if (root === 'api' && first !== undefined && first !== '') return '';
  return root === 'apis' && second !== undefined ? first : undefined;
}

function answerResource(handling: Handling, resource: Resource): ApiAnswer {
  const { request, target, services, options } = handling;
  const { attributes, query } = target;
  const { namespace, name, subresource, verb } = attributes;
  const output = parseOutputForm(request.accept);
  if (isStatus(output)) return answerStatus(output);
  const call: ResourceCall = {
    services,
    request,
    query,
    resource,
    ...(namespace === undefined || !resource.isNamespaced ? {} : { namespace }),
    output,
  };
  const isCollection = verb === 'list' || verb === 'watch' || verb === 'deletecollection';
  if (isCollection || name === undefined) {
    if (verb !== 'create' && !isCollection) return answerStatus(methodNotAllowed());
    return answerCollection(call, verb);
  }
  return answerObject(
    { ...call, name },
    {
      attributes,
      authorizer: options.authorizer,
      ...(subresource === undefined ? {} : { subresource }),
    },
  );
}

/** Resources by group, version and plural. */
interface ResourceIndex {
  /** Undefined when it does not exist, or not under such a path (with or without a namespace). */
  find(attributes: RequestAttributes, version: string): Resource | undefined;
  /** Whether any resource is in the group: an unknown group is a plain 404, not a Status. */
  hasGroup(group: string | undefined): boolean;
}

/** Indexes the resources. */
function createResourceIndex(resources: readonly Resource[]): ResourceIndex {
  const groups = new Set(resources.map((resource) => resource.group));
  const byKey = new Map(
    resources.map((resource) => [
      `${resource.group} ${resource.version} ${resource.plural}`,
      resource,
    ]),
  );
  return {
    find: (attributes, version) => {
      const resource = byKey.get(`${attributes.group} ${version} ${attributes.resource}`);
      return resource !== undefined && isInPlace(resource, attributes) ? resource : undefined;
    },
    hasGroup: (group) => group !== undefined && groups.has(group),
  };
}

/** Namespaced objects are named within a namespace; cluster-scoped ones never are. */
function isInPlace(
  resource: Resource,
  { namespace, verb, path, name }: RequestAttributes,
): boolean {
  if (resource.resourceName === 'namespaces') return true;
  if (!resource.isNamespaced) return namespace === undefined;
  if (namespace !== undefined) return true;
  const isCollection = verb === 'list' || verb === 'watch' || verb === 'deletecollection';
  return name === undefined || (isCollection && path !== '');
}

/** Calls the observer once; watches count as 200 when they are accepted. */
function observeAnswer({
  onRequest,
  request,
  target,
  answer,
}: {
  readonly onRequest: RequestObserver;
  readonly request: ApiRequest;
  readonly target: ParsedTarget;
  readonly answer: ApiAnswer;
}): void {
  const { userAgent } = request;
  const object = answer.kind === 'object' ? objectOf(answer.body) : undefined;
  onRequest({
    attributes: target.attributes,
    status: answer.kind === 'watch' ? 200 : answer.status,
    ...(userAgent === undefined ? {} : { userAgent }),
    ...(object === undefined ? {} : { object }),
  });
}

/** Lists and Statuses are no objects: they have no UID. */
function objectOf(body: Readonly<Record<string, unknown>>): ApiObject | undefined {
  const metadata = body.metadata as { readonly uid?: unknown } | undefined;
  return typeof metadata?.uid === 'string' ? (body as unknown as ApiObject) : undefined; // only objects have a UID
}
