/**
 * RoleBindings and ClusterRoleBindings: who has a role. The role never changes.
 *
 * Differs from Kubernetes: whoever may write bindings may bind any role (no `bind` check).
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import { defineResource } from '../shared/define-resource.ts';
import type { FieldError, Resource } from '../shared/resource.ts';
import { equalJson } from '../shared/equal-json.ts';
import { at, invalid, invalidText, notSupported, required } from '../shared/field-errors.ts';
import {
  editItemsAt,
  editObjectAt,
  listAt,
  objectAt,
  textAt,
  withDefaults,
} from '../shared/json-edit.ts';
import { validateMetadata, validateCoreMetadataUpdate } from '../shared/metadata-validation.ts';
import { checkPathSegment, checkSubdomain } from '../shared/names.ts';
import { RBAC_GROUP, rbacMetadataRules } from './names.ts';

const SUBJECT_KINDS = ['ServiceAccount', 'User', 'Group'];

/** rolebindings.rbac.authorization.k8s.io. */
export const ROLE_BINDINGS: Resource = defineBinding({
  plural: 'rolebindings',
  singular: 'rolebinding',
  kind: 'RoleBinding',
  isNamespaced: true,
});

/** clusterrolebindings.rbac.authorization.k8s.io. */
export const CLUSTER_ROLE_BINDINGS: Resource = defineBinding({
  plural: 'clusterrolebindings',
  singular: 'clusterrolebinding',
  kind: 'ClusterRoleBinding',
  isNamespaced: false,
});

function defineBinding(names: {
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly isNamespaced: boolean;
}): Resource {
  const { isNamespaced } = names;
  const validate = (object: ApiObject): readonly FieldError[] => [
    ...validateMetadata(object, rbacMetadataRules(isNamespaced)),
    ...validateRoleRef(objectAt(object, 'roleRef'), isNamespaced),
    ...listAt(object, 'subjects').flatMap((subject, index) =>
      validateSubject({ subject, isNamespaced, field: at('subjects', index) }),
    ),
  ];
  return defineResource({
    ...names,
    group: RBAC_GROUP,
    rules: {
      applyDefaults,
      validateCreate: validate,
      validateUpdate: (next, current) => [
        ...validate(next),
        ...validateCoreMetadataUpdate(next, current),
        ...(equalJson(next['roleRef'], current['roleRef'])
          ? []
          : [invalid('roleRef', next['roleRef'], 'cannot change roleRef')]),
      ],
    },
    allowsCreateOnUpdate: true,
  });
}

function applyDefaults(object: ApiObject): ApiObject {
  const group = { apiGroup: RBAC_GROUP };
  const withRole = editObjectAt(object, 'roleRef', (roleRef) =>
    textAt(roleRef, 'apiGroup') === '' ? { ...roleRef, ...group } : roleRef,
  );
  return editItemsAt(withRole, 'subjects', (subject) => {
    const kind = textAt(subject, 'kind');
    return kind === 'User' || kind === 'Group' ? withDefaults(subject, group) : subject;
  });
}

function validateRoleRef(roleRef: JsonObject, isNamespaced: boolean): readonly FieldError[] {
  const errors: FieldError[] = [];
  const kinds = isNamespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'];
  const [group, kind, name] = [
    textAt(roleRef, 'apiGroup'),
    textAt(roleRef, 'kind'),
    textAt(roleRef, 'name'),
  ];
  if (group !== RBAC_GROUP) errors.push(notSupported('roleRef.apiGroup', group, [RBAC_GROUP]));
  if (!kinds.includes(kind)) errors.push(notSupported('roleRef.kind', kind, kinds));
  if (name === '') errors.push(required('roleRef.name'));
  else errors.push(...invalidText('roleRef.name', name, checkPathSegment(name)));
  return errors;
}

function validateSubject(input: {
  readonly subject: JsonObject;
  readonly isNamespaced: boolean;
  readonly field: string;
}): readonly FieldError[] {
  const { subject, isNamespaced, field } = input;
  const errors: FieldError[] = [];
  const [group, kind, name] = [
    textAt(subject, 'apiGroup'),
    textAt(subject, 'kind'),
    textAt(subject, 'name'),
  ];
  if (name === '') errors.push(required(`${field}.name`));
  if (kind === 'ServiceAccount') {
    if (name !== '') errors.push(...invalidText(`${field}.name`, name, checkSubdomain(name)));
    if (group !== '') errors.push(notSupported(`${field}.apiGroup`, group, ['']));
    if (!isNamespaced && textAt(subject, 'namespace') === '') {
      errors.push(required(`${field}.namespace`));
    }
    return errors;
  }
  if (!SUBJECT_KINDS.includes(kind)) {
    errors.push(notSupported(`${field}.kind`, kind, SUBJECT_KINDS));
  } else if (group !== RBAC_GROUP) {
    errors.push(notSupported(`${field}.apiGroup`, group, [RBAC_GROUP]));
  }
  return errors;
}
