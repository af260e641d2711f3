/**
 * DaemonSets (spec 2.13): the rules of this folder, put together as one resource.
 *
 * Spec and status are each written through their own view only: a PUT of the main view keeps the status, one of
 * `status` keeps the spec. Warnings about the pods to come are given when the template changes. No pod is made here or
 * anywhere in the local cluster: DaemonSets are what Rollcall itself looks after.
 */
import type { ApiObject } from '../../objects/api-object.ts';
import { podWarnings } from '../pod-spec/warnings/warnings.ts';
import { defineResource, keepSpec } from '../shared/define-resource.ts';
import type { Resource, Subresource } from '../shared/resource.ts';
import { objectAt } from '../shared/json-edit.ts';
import { applyDaemonSetDefaults } from './defaults.ts';
import {
  prepareDaemonSet,
  prepareDaemonSetStatusUpdate,
  prepareDaemonSetUpdate,
  templateGenerationOf,
} from './generation.ts';
import { validateDaemonSetStatusUpdate } from './status-validation.ts';
import { validateDaemonSet, validateDaemonSetUpdate } from './validation.ts';

const STATUS_VIEW: Subresource = {
  kind: 'view',
  name: 'status',
  prepareForUpdate: (next, current) =>
    prepareDaemonSetStatusUpdate(keepSpec(next, current), current),
  validateUpdate: validateDaemonSetStatusUpdate,
};

/** daemonsets.apps. */
export const DAEMON_SETS: Resource = defineResource({
  group: 'apps',
  plural: 'daemonsets',
  singular: 'daemonset',
  kind: 'DaemonSet',
  shortNames: ['ds'],
  categories: ['all'],
  isNamespaced: true,
  rules: {
    applyDefaults: applyDaemonSetDefaults,
    prepareForCreate: prepareDaemonSet,
    validateCreate: validateDaemonSet,
    prepareForUpdate: prepareDaemonSetUpdate,
    validateUpdate: validateDaemonSetUpdate,
    warnings: templateWarnings,
  },
  subresources: [STATUS_VIEW],
});

/** Of a new template; one that stays has been warned of. */
function templateWarnings(object: ApiObject, current?: ApiObject): readonly string[] {
  if (current !== undefined && templateGenerationOf(current) === templateGenerationOf(object)) {
    return [];
  }
  return podWarnings(objectAt(objectAt(object, 'spec'), 'template'), 'spec.template.');
}
