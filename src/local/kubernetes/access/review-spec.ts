/**
 * The spec of an access review: its rules, and the request that it asks about.
 *
 * Pure. All kinds of reviews share one view of their specs; which fields count depends on the kind.
 */
import type { RequestAttributes, User } from '../api/api-request.ts';
import type { FieldError } from '../resources/resource.ts';

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
  const errors: FieldError[] = [];
  const { resourceAttributes, nonResourceAttributes } = spec;
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined) {
    errors.push({
      field: 'spec.nonResourceAttributes',
      type: 'FieldValueInvalid',
      detail: 'cannot be specified in combination with resourceAttributes',
      value: { ...nonResourceAttributes },
    });
  }
  if (resourceAttributes === undefined && nonResourceAttributes === undefined) {
    errors.push({
      field: 'spec.resourceAttributes',
      type: 'FieldValueInvalid',
      detail: 'exactly one of nonResourceAttributes or resourceAttributes must be specified',
      value: null,
    });
  }
  const asksForOthers = kind !== 'SelfSubjectAccessReview';
  if (asksForOthers && (spec.user ?? '') === '' && (spec.groups ?? []).length === 0) {
    errors.push({
      field: 'spec.user',
      type: 'FieldValueInvalid',
      detail: 'at least one of user or group must be specified',
      value: '',
    });
  }
  if (kind === 'LocalSubjectAccessReview' && resourceAttributes?.namespace !== namespace) {
    errors.push({
      field: 'spec.resourceAttributes.namespace',
      type: 'FieldValueInvalid',
      detail: 'must match metadata.namespace',
      value: resourceAttributes?.namespace ?? '',
    });
  }
  return errors;
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
