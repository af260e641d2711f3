/**
 * Roles and ClusterRoles: what may be done. Their names are whatever a path can hold.
 *
 * Differs from Kubernetes: nobody is kept from granting more than they may do themselves (no escalation check); a local
 * cluster's users are its owner and its own parts. Aggregated ClusterRoles are kept as written and not filled in.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import { defineResource } from '../shared/define-resource.ts';
import type { FieldError, Resource } from '../shared/resource.ts';
import { at, invalid, required } from '../shared/field-errors.ts';
import { listAt, optionalObjectAt, textsAt } from '../shared/json-edit.ts';
import { validateLabelSelector } from '../shared/label-selector-validation.ts';
import { validateMetadata, validateCoreMetadataUpdate } from '../shared/metadata-validation.ts';
import { RBAC_GROUP, rbacMetadataRules } from './names.ts';

/** roles.rbac.authorization.k8s.io. */
export const ROLES: Resource = defineRole({
  plural: 'roles',
  singular: 'role',
  kind: 'Role',
  isNamespaced: true,
});

/** clusterroles.rbac.authorization.k8s.io. */
export const CLUSTER_ROLES: Resource = defineRole({
  plural: 'clusterroles',
  singular: 'clusterrole',
  kind: 'ClusterRole',
  isNamespaced: false,
});

function defineRole(names: {
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly isNamespaced: boolean;
}): Resource {
  const { isNamespaced } = names;
  const validate = (object: ApiObject): readonly FieldError[] => [
    ...validateMetadata(object, rbacMetadataRules(isNamespaced)),
    ...listAt(object, 'rules').flatMap((rule, index) =>
      validateRule({ rule, isNamespaced, field: at('rules', index) }),
    ),
    ...(isNamespaced ? [] : validateAggregation(object)),
  ];
  return defineResource({
    ...names,
    group: RBAC_GROUP,
    rules: {
      validateCreate: validate,
      validateUpdate: (next, current) => [
        ...validate(next),
        ...validateCoreMetadataUpdate(next, current),
      ],
    },
    allowsCreateOnUpdate: true,
  });
}

function validateRule(input: {
  readonly rule: JsonObject;
  readonly isNamespaced: boolean;
  readonly field: string;
}): readonly FieldError[] {
  const { rule, isNamespaced, field } = input;
  const has = (key: string): boolean => textsAt(rule, key).length > 0;
  const errors: FieldError[] = [];
  if (!has('verbs')) {
    errors.push(required(`${field}.verbs`, 'verbs must contain at least one value'));
  }
  if (has('nonResourceURLs')) {
    const blame = (detail: string): void => {
      errors.push(invalid(`${field}.nonResourceURLs`, textsAt(rule, 'nonResourceURLs'), detail));
    };
    if (isNamespaced) blame('namespaced rules cannot apply to non-resource URLs');
    if (has('apiGroups') || has('resources') || has('resourceNames')) {
      blame('rules cannot apply to both regular resources and non-resource URLs');
    }
    return errors;
  }
  if (!has('apiGroups')) {
    errors.push(
      required(`${field}.apiGroups`, 'resource rules must supply at least one api group'),
    );
  }
  if (!has('resources')) {
    errors.push(required(`${field}.resources`, 'resource rules must supply at least one resource'));
  }
  return errors;
}

function validateAggregation(object: ApiObject): readonly FieldError[] {
  const aggregation = optionalObjectAt(object, 'aggregationRule');
  if (aggregation === undefined) return [];
  const field = 'aggregationRule.clusterRoleSelectors';
  const selectors = listAt(aggregation, 'clusterRoleSelectors');
  if (selectors.length === 0) return [required(field, 'at least one clusterRoleSelector required')];
  return selectors.flatMap((selector, index) => {
    const errors = validateLabelSelector(selector, at(field, index));
    if (errors.length === 0) return [];
    return [...errors, invalid(at(field, index), selector, 'invalid label selector.')];
  });
}
