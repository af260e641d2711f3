/**
 * The spec of an access review: its rules, and the request that it asks about.
 *
 * Pure. All kinds of reviews share one view of their specs; which fields count depends on the kind.
 */
import type { Json } from '@rollcall/base/json.ts';
import type { RequestAttributes, User } from '../api/request/api-request.ts';
import type { FieldError } from '../resources/shared/resource.ts';

/** The spec of any of the reviews. */
export interface ReviewSpec {
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
  /** Of a SelfSubjectRulesReview. */
  readonly namespace?: string;
}

/** What is wrong with a spec; `namespace` is the path's, for a LocalSubjectAccessReview. */
export function validateSpec(
  { kind }: { readonly kind: string },
  spec: ReviewSpec,
  namespace: string | undefined,
): readonly FieldError[] {
  const errors = attributeErrors(spec);
  const asksForOthers = kind !== 'SelfSubjectAccessReview';
  if (asksForOthers && (spec.user ?? '') === '' && (spec.groups ?? []).length === 0) {
    errors.push(invalidField('spec.user', '', 'at least one of user or group must be specified'));
  }
  const given = spec.resourceAttributes?.namespace;
  if (kind === 'LocalSubjectAccessReview' && given !== namespace) {
    const field = 'spec.resourceAttributes.namespace';
    errors.push(invalidField(field, given ?? '', 'must match metadata.namespace'));
  }
  return errors;
}

/** A review asks about a resource or about a path, not about both and not about neither. */
function attributeErrors({ resourceAttributes, nonResourceAttributes }: ReviewSpec): FieldError[] {
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined) {
    const detail = 'cannot be specified in combination with resourceAttributes';
    return [invalidField('spec.nonResourceAttributes', { ...nonResourceAttributes }, detail)];
  }
  if (resourceAttributes === undefined && nonResourceAttributes === undefined) {
    const detail = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    return [invalidField('spec.resourceAttributes', null, detail)];
  }
  return [];
}

function invalidField(field: string, value: Json, detail: string): FieldError {
  return { field, type: 'FieldValueInvalid', detail, value };
}

/** The request that a valid spec asks about. */
export function attributesOf(spec: ReviewSpec, user: User): RequestAttributes {
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
