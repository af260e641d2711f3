/**
 * Calls the verb that a request for a resource means; 405 where the resource does not have it.
 *
 * Authorised already, but for one thing: a PUT or an apply that would create asks for the right to create as well.
 */
import type { Resource, Subresource, Verb } from '../resources/shared/resource.ts';
import { answerStatus } from './request/answers.ts';
import type { ApiAnswer, Authorizer, RequestAttributes, Status } from './request/api-request.ts';
import type { ObjectCall, ResourceCall } from './steps/resource-call.ts';
import {
  forbiddenRequest,
  methodNotAllowed,
  noSuchResource,
  simulatedContainers,
} from './request/statuses.ts';
import { mediaTypeOf } from './steps/decode-body.ts';
import { applyObject } from './verbs/apply.ts';
import { createInCollection } from './verbs/create.ts';
import { deleteCollection, deleteOne } from './verbs/delete.ts';
import { patchObject } from './verbs/patch.ts';
import { getObject, listObjects } from './verbs/read.ts';
import { runAction } from './verbs/subresource.ts';
import { putObject } from './verbs/update.ts';
import { watchObjects } from './verbs/watch.ts';

/** What a request for one object brings besides the call. */
export interface ObjectRequest {
  readonly attributes: RequestAttributes;
  readonly authorizer: Authorizer;
  readonly subresource?: string;
}

/** The finalize view of a namespace is PUT alone; other views are read and patched too. */
const PUT_ONLY_VIEWS = new Set(['finalize']);

/** Subresources of pods that lead into a container. Differs from Kubernetes: they are refused, as there is none. */
const IN_CONTAINER = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

/** Answers a request for a collection. */
export function answerCollection(call: ResourceCall, verb: string): ApiAnswer {
  const { resource } = call;
  if (!has(resource, verb)) return answerStatus(methodNotAllowed());
  const isEverywhere = resource.isNamespaced && call.namespace === undefined;
  switch (verb) {
    case 'list':
      return listObjects(call);
    case 'watch':
      return watchObjects(call);
    case 'create':
      return isEverywhere ? answerStatus(methodNotAllowed()) : createInCollection(call);
    case 'deletecollection':
      return isEverywhere ? answerStatus(methodNotAllowed()) : deleteCollection(call);
    default:
      return answerStatus(methodNotAllowed());
  }
}

/** Answers a request for one object, or for something under it. */
export function answerObject(call: ObjectCall, request: ObjectRequest): ApiAnswer {
  const { subresource } = request;
  if (subresource !== undefined) {
    const found = call.resource.subresources.find(({ name }) => name === subresource);
    if (found !== undefined) {
      return answerSubresource(call, { found, verb: request.attributes.verb });
    }
    const isInContainer = call.resource.plural === 'pods' && IN_CONTAINER.has(subresource);
    return answerStatus(isInContainer ? simulatedContainers(subresource) : noSuchResource());
  }
  const { verb } = request.attributes;
  if (!has(call.resource, verb)) return answerStatus(methodNotAllowed());
  const { rules, allowsCreateOnUpdate } = call.resource;
  switch (verb) {
    case 'get':
      return getObject(call);
    case 'update':
      return putObject(call, {
        rules,
        mayCreate: allowsCreateOnUpdate,
        createRefusal: () => createRefusal(request),
      });
    case 'patch':
      return isApply(call)
        ? applyObject(call, { createRefusal: () => createRefusal(request) })
        : patchObject(call, rules);
    case 'delete':
      return deleteOne(call);
    default:
      return answerStatus(methodNotAllowed());
  }
}

/** Differs from Kubernetes: pods, nodes, leases and events, whose fields have no owners here, do not take it, nor do views. */
function isApply({ resource, request }: ObjectCall): boolean {
  return (
    resource.keepsOwners && mediaTypeOf(request.contentType) === 'application/apply-patch+yaml'
  );
}

function answerSubresource(
  call: ObjectCall,
  { found, verb }: { readonly found: Subresource; readonly verb: string },
): ApiAnswer {
  if (found.kind === 'action') {
    return verb === 'create' ? runAction(call, found) : answerStatus(methodNotAllowed());
  }
  if (verb === 'update') {
    return putObject(call, { rules: found, mayCreate: false, createRefusal: () => undefined });
  }
  if (PUT_ONLY_VIEWS.has(found.name)) return answerStatus(methodNotAllowed());
  if (verb === 'get') return getObject(call);
  return verb === 'patch' ? patchObject(call, found) : answerStatus(methodNotAllowed());
}

function has(resource: Resource, verb: string): verb is Verb {
  const verbs: readonly string[] = resource.verbs;
  return verbs.includes(verb);
}

/** A PUT or an apply that would create asks for the right to create as well. */
function createRefusal({ attributes, authorizer }: ObjectRequest): Status | undefined {
  const create = { ...attributes, verb: 'create' };
  const { allowed, reason } = authorizer.authorize(create);
  return allowed ? undefined : forbiddenRequest(create, reason);
}
