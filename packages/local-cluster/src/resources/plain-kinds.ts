/**
 * Kinds whose rules are a few lines each: ConfigMaps, Secrets, ServiceAccounts, Events, Leases, ControllerRevisions,
 * PodTemplates, PriorityClasses, Roles and bindings.
 *
 * Differs from Kubernetes: their fields are of the right types and hardly more is validated: no sizes and keys of data, no
 * forms of Events, which do not expire, no check against escalation (a user who may write roles and bindings may give any right); aggregated
 * ClusterRoles are not filled in; ServiceAccounts have no `token` subresource; there is no group `events.k8s.io`.
 */
import { isJsonObject } from '@rollcall/base/json.ts';
import type { Json } from '@rollcall/base/json.ts';
import type { ApiObject } from '../objects/api-object.ts';
import { applyPodSpecDefaults } from './pod-spec/defaults.ts';
import { validatePodTemplate } from './pod-spec/validation.ts';
import { defineResource, withGeneration } from './shared/define-resource.ts';
import { equalJson, sameRaw } from './shared/equal-json.ts';
import { invalid, required } from './shared/field-errors.ts';
import {
  editItemsAt,
  editObjectAt,
  isPresent,
  objectAt,
  textAt,
  textEntriesAt,
  withDefaults,
  withMember,
  withoutMember,
} from './shared/json-edit.ts';
import { checkPathSegment } from './shared/names.ts';
import type { Resource } from './shared/resource.ts';

const RBAC_GROUP = 'rbac.authorization.k8s.io';

const CONFIG_MAPS = defineResource({
  group: '',
  plural: 'configmaps',
  singular: 'configmap',
  kind: 'ConfigMap',
  shortNames: ['cm'],
  isNamespaced: true,
});

const SERVICE_ACCOUNTS = defineResource({
  group: '',
  plural: 'serviceaccounts',
  singular: 'serviceaccount',
  kind: 'ServiceAccount',
  shortNames: ['sa'],
  isNamespaced: true,
});

const SECRETS = defineResource({
  group: '',
  plural: 'secrets',
  singular: 'secret',
  kind: 'Secret',
  isNamespaced: true,
  rules: {
    applyDefaults: (object) => withDefaults(foldStringData(object), { type: 'Opaque' }),
    validateUpdate: (next, current) =>
      textAt(next, 'type') === textAt(current, 'type')
        ? []
        : [invalid('type', textAt(next, 'type'), 'field is immutable')],
  },
  selectableFields: (object) => ({ type: textAt(object, 'type') }),
});

/** stringData wins over data of the same key and is never shown again. */
function foldStringData(object: ApiObject): ApiObject {
  if (!isPresent(object, 'stringData')) return object;
  const data: Record<string, Json | undefined> = { ...objectAt(object, 'data') };
  for (const [key, text] of textEntriesAt(object, 'stringData')) {
    data[key] = Buffer.from(text, 'utf8').toString('base64');
  }
  const folded = withoutMember(object, 'stringData');
  return Object.keys(data).length === 0 ? folded : withMember(folded, 'data', data);
}

const INVOLVED_KEYS = [
  'kind',
  'namespace',
  'name',
  'uid',
  'apiVersion',
  'resourceVersion',
  'fieldPath',
];

/** Nothing takes them away, as an hour does in Kubernetes. */
const EVENTS = defineResource({
  group: '',
  plural: 'events',
  singular: 'event',
  kind: 'Event',
  shortNames: ['ev'],
  isNamespaced: true,
  checkName: checkPathSegment,
  keepsOwners: false,
  allowsCreateOnUpdate: true,
  selectableFields: (object) => {
    const involved = objectAt(object, 'involvedObject');
    const reporter = textAt(object, 'reportingComponent');
    return {
      reason: textAt(object, 'reason'),
      type: textAt(object, 'type'),
      reportingComponent: reporter,
      source: textAt(objectAt(object, 'source'), 'component') || reporter,
      ...Object.fromEntries(
        INVOLVED_KEYS.map((key) => [`involvedObject.${key}`, textAt(involved, key)]),
      ),
    };
  },
});

/** An update must carry the version that it read, because that is how holders exclude each other. */
const LEASES = defineResource({
  group: 'coordination.k8s.io',
  plural: 'leases',
  singular: 'lease',
  kind: 'Lease',
  isNamespaced: true,
  keepsOwners: false,
  allowsUnconditionalUpdate: false,
  allowsCreateOnUpdate: true,
});

/** A state that a controller may return to: its data never change, compared as written. */
const CONTROLLER_REVISIONS = defineResource({
  group: 'apps',
  plural: 'controllerrevisions',
  singular: 'controllerrevision',
  kind: 'ControllerRevision',
  isNamespaced: true,
  rules: {
    validateCreate: ({ data }) =>
      isJsonObject(data) ? [] : [required('data', 'data is mandatory')],
    validateUpdate: (next, current) =>
      sameRaw(next['data'], current['data'])
        ? []
        : [invalid('data', next['data'], 'field is immutable')],
  },
});

/** Nothing makes pods of one; Rollcall keeps copies of proven templates in them. */
const POD_TEMPLATES = defineResource({
  group: '',
  plural: 'podtemplates',
  singular: 'podtemplate',
  kind: 'PodTemplate',
  isNamespaced: true,
  rules: {
    applyDefaults: (object) =>
      editObjectAt(object, 'template', (template) =>
        withMember(template, 'spec', applyPodSpecDefaults(objectAt(template, 'spec'))),
      ),
    prepareForCreate: (object) => withGeneration(object, 1),
    validateCreate: (object) => validatePodTemplate(objectAt(object, 'template'), 'template'),
    prepareForUpdate: (next, current) => {
      const { generation = 1 } = current.metadata;
      const isSame = equalJson(next['template'], current['template']);
      return withGeneration(next, isSame ? generation : generation + 1);
    },
    validateUpdate: (next) => validatePodTemplate(objectAt(next, 'template'), 'template'),
  },
});

/** The two system classes are objects like all others; the cluster creates them when it starts. */
const PRIORITY_CLASSES = defineResource({
  group: 'scheduling.k8s.io',
  plural: 'priorityclasses',
  singular: 'priorityclass',
  kind: 'PriorityClass',
  shortNames: ['pc'],
  isNamespaced: false,
  rules: {
    applyDefaults: (object) => withDefaults(object, { preemptionPolicy: 'PreemptLowerPriority' }),
    prepareForCreate: (object) => withGeneration(object, 1),
  },
});

function defineRole(kind: 'Role' | 'ClusterRole'): Resource {
  return defineResource({
    group: RBAC_GROUP,
    plural: `${kind.toLowerCase()}s`,
    singular: kind.toLowerCase(),
    kind,
    isNamespaced: kind === 'Role',
    checkName: checkPathSegment,
    allowsCreateOnUpdate: true,
  });
}

/** Who has a role. The role never changes. */
function defineBinding(kind: 'RoleBinding' | 'ClusterRoleBinding'): Resource {
  return defineResource({
    group: RBAC_GROUP,
    plural: `${kind.toLowerCase()}s`,
    singular: kind.toLowerCase(),
    kind,
    isNamespaced: kind === 'RoleBinding',
    checkName: checkPathSegment,
    rules: {
      applyDefaults: withRbacGroup,
      validateUpdate: (next, current) =>
        equalJson(next['roleRef'], current['roleRef'])
          ? []
          : [invalid('roleRef', next['roleRef'], 'cannot change roleRef')],
    },
    allowsCreateOnUpdate: true,
  });
}

function withRbacGroup(binding: ApiObject): ApiObject {
  const group = { apiGroup: RBAC_GROUP };
  const withRole = editObjectAt(binding, 'roleRef', (roleRef) =>
    textAt(roleRef, 'apiGroup') === '' ? { ...roleRef, ...group } : roleRef,
  );
  return editItemsAt(withRole, 'subjects', (subject) => {
    const kind = textAt(subject, 'kind');
    return kind === 'User' || kind === 'Group' ? withDefaults(subject, group) : subject;
  });
}

/** All of them. */
export const PLAIN_KINDS: readonly Resource[] = [
  CONFIG_MAPS,
  EVENTS,
  POD_TEMPLATES,
  SECRETS,
  SERVICE_ACCOUNTS,
  CONTROLLER_REVISIONS,
  LEASES,
  defineBinding('ClusterRoleBinding'),
  defineRole('ClusterRole'),
  defineBinding('RoleBinding'),
  defineRole('Role'),
  PRIORITY_CLASSES,
];
