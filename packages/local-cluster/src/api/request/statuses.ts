/**
 * Status objects: the API server's word for every refusal, and for a deletion that left nothing to show.
 *
 * Code, reason, details and causes are those of the real server; texts follow it closely, but nothing may depend on
 * them. A function of the API returns either what was asked for or a Status; `isStatus` tells them apart. Retry-After
 * comes from `details.retryAfterSeconds`.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { FieldError, Refusal, Resource } from '../../resources/shared/resource.ts';
import type { RequestAttributes, Status } from './api-request.ts';
import { resourceSubject, detailsOf, qualified, errorBody } from './status-subject.ts';
import type { Subject } from './status-subject.ts';

interface Failure {
  readonly code: number;
  readonly reason?: string;
  readonly message: string;
  readonly details?: JsonObject;
}

/** Whether an answer is a refusal (or a bare success) instead of an object. */
export function isStatus(value: object): value is Status {
  return (
    (value as { readonly kind?: unknown }).kind === 'Status' &&
    (value as { readonly apiVersion?: unknown }).apiVersion === 'v1'
  );
}

/** Any failure: the constructors below are its uses. */
export function failure({ code, reason, message, details }: Failure): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    ...(reason === undefined ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
    code,
  };
}

/** 400: the request cannot be understood. */
export function badRequest(message: string): Status {
  return failure({ code: 400, reason: 'BadRequest', message });
}

/** 404 of an object. */
export function notFound(resource: Resource, name: string): Status {
  return failure({
    code: 404,
    reason: 'NotFound',
    message: `${resource.resourceName} "${name}" not found`,
    details: detailsOf(resourceSubject(resource, name)),
  });
}

/** 404 of a path under a known group: no such resource or subresource. */
export function noSuchResource(): Status {
  return failure({
    code: 404,
    reason: 'NotFound',
    message: 'the server could not find the requested resource',
    details: {},
  });
}

/** 501: what would need a real container: logs, a shell, a port. */
export function simulatedContainers(subresource: string): Status {
  return failure({
    code: 501,
    message: `pods of a local cluster are simulated: nothing runs in them for ${subresource} to reach; kubectl describe and get events tell what they do`,
  });
}

/** 405: the path exists, the verb does not. */
export function methodNotAllowed(): Status {
  return failure({
    code: 405,
    reason: 'MethodNotAllowed',
    message: 'the server does not allow this method on the requested resource',
    details: {},
  });
}

/** 409: a create of something that is there; `isDeleting` changes the text alone. */
export function alreadyExists(
  resource: Resource,
  name: string,
  { isDeleting, isGenerated }: { readonly isDeleting: boolean; readonly isGenerated: boolean },
): Status {
  const text = `${resource.resourceName} "${name}" already exists`;
  return failure({
    code: 409,
    reason: 'AlreadyExists',
    message:
      (isDeleting ? 'object is being deleted: ' : '') +
      text +
      (isGenerated ? ', the server was not able to generate a unique name for the object' : ''),
    details: {
      ...detailsOf(resourceSubject(resource, name)),
      ...(isGenerated ? { retryAfterSeconds: 1 } : {}),
    },
  });
}

/** 409: a precondition does not hold. Deletions name the kind where updates name the resource, as the real server. */
export function conflict(subject: Subject, why: string): Status {
  return failure({
    code: 409,
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on ${qualified(subject)} "${subject.name ?? ''}": ${why}`,
    details: detailsOf(subject),
  });
}

/** 409: the resourceVersion of an update is not the newest. */
export function modifiedMeanwhile(resource: Resource, name: string): Status {
  return conflict(
    resourceSubject(resource, name),
    'the object has been modified; please apply your changes to the latest version and try again',
  );
}

/** 422: fields are wrong; each error becomes a cause. */
export function invalid(subject: Subject, errors: readonly FieldError[]): Status {
  const texts = errors.map((error) => `${error.field}: ${errorBody(error)}`);
  const list = texts.length === 1 ? (texts[0] ?? '') : `[${[...new Set(texts)].join(', ')}]`;
  return failure({
    code: 422,
    reason: 'Invalid',
    message: `${qualified(subject)} "${subject.name ?? ''}" is invalid: ${list}`,
    details: {
      ...detailsOf(subject),
      causes: errors.map((error) => ({
        reason: error.type,
        message: errorBody(error),
        field: error.field,
      })),
    },
  });
}

/** 422: the options in the query or body of a request are wrong. */
export function invalidOptions(kind: string, errors: readonly FieldError[]): Status {
  return invalid({ group: 'meta.k8s.io', kind }, errors);
}

/** 422: a patch cannot be applied to the object. */
export function unprocessable(message: string): Status {
  return failure({
    code: 422,
    reason: 'Invalid',
    message: `the server rejected our request due to an error in our request: ${message}`,
    details: {},
  });
}

/** 403 of the authorizer. */
export function forbiddenRequest(attributes: RequestAttributes, reason: string): Status {
  const { user, verb, resource, subresource, group, namespace, name } = attributes;
  const tail = reason === '' ? '' : `: ${reason}`;
  if (resource === '') {
    return failure({
      code: 403,
      reason: 'Forbidden',
      message: `forbidden: User "${user.name}" cannot ${verb} path "${attributes.path}"${tail}`,
      details: {},
    });
  }
  const scope =
    namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const fullResource = subresource === undefined ? resource : `${resource}/${subresource}`;
  return forbidden(
    { group, kind: resource, ...(name === undefined ? {} : { name }) },
    `User "${user.name}" cannot ${verb} resource "${fullResource}" in API group "${group}" ${scope}${tail}`,
  );
}

/** 403 of an admission rule. */
export function forbidden(
  subject: Subject,
  why: string,
  causes?: readonly { readonly reason: string; readonly message: string; readonly field: string }[],
): Status {
  const name = subject.name === undefined || subject.name === '' ? '' : ` "${subject.name}"`;
  return failure({
    code: 403,
    reason: 'Forbidden',
    message: `${qualified(subject)}${name} is forbidden: ${why}`,
    details: { ...detailsOf(subject), ...(causes === undefined ? {} : { causes }) },
  });
}

/** 406: no representation that the client accepts; details only where no media type was known at all. */
export function notAcceptable(why: 'mediaType' | 'form'): Status {
  return failure({
    code: 406,
    reason: 'NotAcceptable',
    message: 'only the following media types are accepted: application/json',
    ...(why === 'mediaType' ? { details: {} } : {}),
  });
}

/** 415: a patch in a format that is not taken. */
export function unsupportedPatchType(accepted: readonly string[], advice = ''): Status {
  return failure({
    code: 415,
    reason: 'UnsupportedMediaType',
    message: `415: Unsupported Media Type; accepted media types include: ${accepted.join(', ')}${advice}`,
    details: {},
  });
}

/** 415: a body in a format that is not taken. */
export function unsupportedMediaType(accepted: readonly string[]): Status {
  return failure({
    code: 415,
    reason: 'UnsupportedMediaType',
    message: `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  });
}

/** 410: what is asked for is older than the history. */
export function expired(message: string): Status {
  return failure({ code: 410, reason: 'Expired', message });
}

/** 504: a resourceVersion that the server has not reached. */
export function tooLargeResourceVersion(asked: string, current: bigint): Status {
  return failure({
    code: 504,
    reason: 'Timeout',
    message: `Timeout: Too large resource version: ${asked}, current: ${String(current)}`,
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  });
}

/** 500 without a reason, as the real server answers what its storage refuses as malformed. */
export function internal(message: string): Status {
  return failure({ code: 500, message });
}

/** A Success with details and, where the real server writes one, a code. */
export function success(members: JsonObject): Status {
  const status: JsonObject = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    ...members,
  };
  return status as Status; // the real server's success of a DELETE has no code in its body
}

/** What a resource's rule refused. A bad request is about no object; everything else says which. */
export function refusalStatus(refusal: Refusal, subject: Subject): Status {
  const { code, reason, message } = refusal;
  const isBare = reason === 'BadRequest' && refusal.details === undefined;
  const details = refusal.details ?? detailsOf(subject);
  return failure({ code, reason, message, ...(isBare ? {} : { details }) });
}
