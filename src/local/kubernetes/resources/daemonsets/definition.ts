/**
 * DaemonSets (spec 2.13): defaults, generations, a status that only its own view may write.
 */
import { defineResource, keepSpec } from '../define-resource.ts';
import type { Resource, Subresource } from '../resource.ts';
import { applyDaemonSetDefaults } from './defaults.ts';
import {
  prepareDaemonSet,
  prepareDaemonSetStatusUpdate,
  prepareDaemonSetUpdate,
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
  },
  subresources: [STATUS_VIEW],
});
