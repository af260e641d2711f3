/**
 * Questions about access: SelfSubjectAccessReview and SubjectAccessReview, as `rollcall cluster doctor` asks them.
 *
 * They are created and answered, never stored. Whether the asker may ask at all has been decided before.
 * Differs from Kubernetes: no managedFields; the other kinds of reviews are not served.
 */
import { isJsonObject } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import { answerStatus, answerWith } from '../api/request/answers.ts';
import type {
  ApiAnswer,
  ApiRequest,
  Authorizer,
  RequestAttributes,
  Status,
  User,
} from '../api/request/api-request.ts';
import { badRequest, invalid, methodNotAllowed, noSuchResource } from '../api/request/statuses.ts';
import type { FieldError } from '../resources/shared/resource.ts';
import { createSchema } from '../schema/create-schema.ts';

const GROUP = 'authorization.k8s.io';
const VERSION = 'v1';
const SELF = 'SelfSubjectAccessReview';

/** The reviews, as discovery lists them. */
export const REVIEW_RESOURCES = [SELF, 'SubjectAccessReview'].map((kind) => ({
  group: GROUP,
  version: VERSION,
  plural: `${kind.toLowerCase()}s`,
  kind,
}));
type ReviewResource = (typeof REVIEW_RESOURCES)[number];

/** The spec of either; `user` and `groups` are of a SubjectAccessReview. */
interface ReviewSpec {
  readonly resourceAttributes?: {
    readonly namespace?: string;
    readonly verb?: string;
    readonly group?: string;
    readonly resource?: string;
    readonly subresource?: string;
    readonly name?: string;
  };
  readonly nonResourceAttributes?: { readonly path?: string; readonly verb?: string };
  readonly user?: string;
  readonly groups?: readonly string[];
}

/** A part of the API handler: answers reviews, undefined for every other request. */
export function createAccessReviews(
  authorizer: Authorizer,
): (request: ApiRequest, attributes: RequestAttributes) => ApiAnswer | undefined {
  return (request, { group, resource: plural, path, name, user }) => {
    const resource = REVIEW_RESOURCES.find((one) => one.plural === plural && one.group === group);
    if (resource === undefined || !path.startsWith(`/apis/${GROUP}/${VERSION}/`)) return undefined;
    if (name !== undefined) return answerStatus(noSuchResource());
    if (request.method !== 'POST') return answerStatus(methodNotAllowed());
    const decoded = decode(request.body, resource);
    if ('refusal' in decoded) return answerStatus(decoded.refusal);
    const { object } = decoded;
    const spec = (object['spec'] ?? {}) as ReviewSpec; // decoded: of its type
    const errors = specErrors(resource, spec);
    if (errors.length > 0) {
      // Its own kind is not in the Status: the original forgets to say it.
      return answerStatus(invalid({ group: GROUP, kind: '' }, errors));
    }
    const asked =
      resource.kind === SELF ? user : { name: spec.user ?? '', groups: spec.groups ?? [] };
    const { allowed, reason } = authorizer.authorize(attributesOf(spec, asked));
    const status = { allowed, ...(reason === '' ? {} : { reason }) };
    return answerWith({ ...object, status }, { status: 201 });
  };
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
  const isOther = apiVersion !== '' && apiVersion !== `${GROUP}/${VERSION}`;
  if (isOther || (kind !== '' && kind !== resource.kind)) {
    const message = `${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)} cannot be handled as a ${resource.kind}`;
    return { refusal: badRequest(message) };
  }
  const outcome = schema.decode(resource, body);
  return outcome.kind === 'malformed'
    ? { refusal: badRequest(outcome.message) }
    : { object: outcome.object };
}

/** A review asks about a resource or about a path, not about both and not about neither. */
function specErrors({ kind }: ReviewResource, spec: ReviewSpec): readonly FieldError[] {
  const { resourceAttributes, nonResourceAttributes, user = '', groups = [] } = spec;
  const errors: FieldError[] = [];
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined) {
    const detail = 'cannot be specified in combination with resourceAttributes';
    errors.push(invalidField('spec.nonResourceAttributes', { ...nonResourceAttributes }, detail));
  }
  if (resourceAttributes === undefined && nonResourceAttributes === undefined) {
    const detail = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    errors.push(invalidField('spec.resourceAttributes', null, detail));
  }
  if (kind !== SELF && user === '' && groups.length === 0) {
    errors.push(invalidField('spec.user', '', 'at least one of user or group must be specified'));
  }
  return errors;
}

function invalidField(field: string, value: Json, detail: string): FieldError {
  return { field, type: 'FieldValueInvalid', detail, value };
}

/** The request that a valid spec asks about. */
function attributesOf(spec: ReviewSpec, user: User): RequestAttributes {
  const { resourceAttributes: asked, nonResourceAttributes } = spec;
  if (asked === undefined) {
    const { verb = '', path = '' } = nonResourceAttributes ?? {};
    return { user, verb, group: '', resource: '', path };
  }
  const { verb = '', group = '', resource = '', namespace, subresource, name } = asked;
  return {
    user,
    verb,
    group,
    resource,
    path: '',
    ...(namespace === undefined ? {} : { namespace }),
    ...(subresource === undefined ? {} : { subresource }),
    ...(name === undefined ? {} : { name }),
  };
}
