/**
 * Questions about access: SelfSubjectAccessReview, SubjectAccessReview, LocalSubjectAccessReview,
 * SelfSubjectRulesReview and SelfSubjectReview (`kubectl auth can-i`, `kubectl auth whoami`).
 *
 * They are created and answered, never stored. Whether the asker may ask at all has been decided before.
 * Differs from Kubernetes: metadata.managedFields are not written, and users have no uid.
 */
import { isJsonObject } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { answerStatus, answerWith } from '../api/request/answers.ts';
import type {
  ApiAnswer,
  ApiRequest,
  Authorizer,
  RequestAttributes,
  Status,
  User,
} from '../api/request/api-request.ts';
import {
  badRequest,
  failure,
  invalid,
  methodNotAllowed,
  noSuchResource,
} from '../api/request/statuses.ts';
import { formatTime } from '../objects/timestamps.ts';
import { createSchema } from '../schema/create-schema.ts';
import type { RbacAuthorizer } from './rbac.ts';
import { attributesOf, validateSpec } from './review-spec.ts';
import type { ReviewSpec } from './review-spec.ts';

/** A review that this server answers, as discovery lists it. */
export interface ReviewResource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly isNamespaced: boolean;
}

const AUTHORIZATION = 'authorization.k8s.io';

/** The reviews. */
export const REVIEW_RESOURCES: readonly ReviewResource[] = [
  review('authentication.k8s.io', 'SelfSubjectReview'),
  { ...review(AUTHORIZATION, 'LocalSubjectAccessReview'), isNamespaced: true },
  review(AUTHORIZATION, 'SelfSubjectAccessReview'),
  review(AUTHORIZATION, 'SelfSubjectRulesReview'),
  review(AUTHORIZATION, 'SubjectAccessReview'),
];

/** What answers them. */
export interface AccessReviewOptions {
  readonly authorizer: RbacAuthorizer;
  /** For the creation time of a SelfSubjectReview; without it there is none. */
  readonly clock?: Pick<Clock, 'nowMs'>;
}

/** A part of the API handler: answers reviews, undefined for every other request. */
export function createAccessReviews(
  options: AccessReviewOptions,
): (request: ApiRequest, attributes: RequestAttributes) => ApiAnswer | undefined {
  return (request, attributes) => {
    const resource = REVIEW_RESOURCES.find(
      ({ group, plural }) => plural === attributes.resource && group === attributes.group,
    );
    if (resource === undefined || !isOfVersion(attributes.path, resource)) return undefined;
    if (attributes.name !== undefined) return answerStatus(noSuchResource());
    if (request.method !== 'POST') return answerStatus(methodNotAllowed());
    const object = decode(request.body, resource);
    if ('refusal' in object) return answerStatus(object.refusal);
    return answer({ ...options, resource, attributes }, object.object);
  };
}

function review(group: string, kind: string): ReviewResource {
  return { group, version: 'v1', plural: `${kind.toLowerCase()}s`, kind, isNamespaced: false };
}

function isOfVersion(path: string, { group, version }: ReviewResource): boolean {
  return path.startsWith(`/apis/${group}/${version}/`);
}

const schema = createSchema();

function decode(
  body: Json | undefined,
  resource: ReviewResource,
): { readonly object: JsonObject } | { readonly refusal: Status } {
  if (!isJsonObject(body)) {
    const message = `the object provided is unrecognized (must be of type ${resource.kind}): couldn't get version/kind`;
    return { refusal: badRequest(message) };
  }
  const { apiVersion = '', kind = '' } = body;
  const expected = `${resource.group}/${resource.version}`;
  if ((kind !== '' && kind !== resource.kind) || (apiVersion !== '' && apiVersion !== expected)) {
    const message = `${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)} cannot be handled as a ${resource.kind}`;
    return { refusal: badRequest(message) };
  }
  const outcome = schema.decode(resource, body);
  return outcome.kind === 'malformed'
    ? { refusal: badRequest(outcome.message) }
    : { object: outcome.object };
}

interface ReviewContext extends AccessReviewOptions {
  readonly resource: ReviewResource;
  readonly attributes: RequestAttributes;
}

function answer(context: ReviewContext, object: JsonObject): ApiAnswer {
  const { user } = context.attributes;
  const spec = (object['spec'] ?? {}) as ReviewSpec;
  switch (context.resource.kind) {
    case 'SelfSubjectReview':
      return created({
        ...object,
        metadata: createdNow(context),
        status: { userInfo: { username: user.name, groups: user.groups } },
      });
    case 'SelfSubjectRulesReview':
      return answerRules(context, object, spec);
    case 'SelfSubjectAccessReview':
      return answerAccess(context, { object, spec, user });
    default:
      return answerAccess(context, {
        object,
        spec,
        user: { name: spec.user ?? '', groups: spec.groups ?? [] },
      });
  }
}

function createdNow({ clock }: ReviewContext): JsonObject {
  return clock === undefined ? {} : { creationTimestamp: formatTime(clock.nowMs()) };
}

function answerAccess(
  { authorizer, resource, attributes }: ReviewContext,
  question: { readonly object: JsonObject; readonly spec: ReviewSpec; readonly user: User },
): ApiAnswer {
  const { object, spec, user } = question;
  const errors = validateSpec(resource, spec, attributes.namespace);
  if (errors.length > 0) {
    // Its own kind is not in the Status: the original forgets to say it.
    return answerStatus(invalid({ group: AUTHORIZATION, kind: '' }, errors));
  }
  return created({ ...object, status: decisionStatus(authorizer, attributesOf(spec, user)) });
}

function decisionStatus(authorizer: Authorizer, attributes: RequestAttributes): JsonObject {
  const { allowed, reason } = authorizer.authorize(attributes);
  return { allowed, ...(reason === '' ? {} : { reason }) };
}

function answerRules(
  { authorizer, attributes }: ReviewContext,
  object: JsonObject,
  { namespace = '' }: ReviewSpec,
): ApiAnswer {
  if (namespace === '') {
    return answerStatus(
      failure({ code: 400, reason: 'BadRequest', message: 'no namespace on request' }),
    );
  }
  const rules = authorizer.rulesFor(attributes.user, namespace);
  const resourceRules = rules.filter(({ resources = [] }) => resources.length > 0);
  const nonResourceRules = rules.filter(({ nonResourceURLs = [] }) => nonResourceURLs.length > 0);
  return created({
    ...object,
    // The question is not repeated in the answer.
    spec: {},
    status: {
      resourceRules: resourceRules.map(({ nonResourceURLs: _, ...rule }) => rule),
      nonResourceRules: nonResourceRules.map(({ verbs, nonResourceURLs = [] }) => ({
        verbs,
        nonResourceURLs,
      })),
      incomplete: false,
    },
  });
}

function created(body: JsonObject): ApiAnswer {
  return answerWith(body, { status: 201 });
}
