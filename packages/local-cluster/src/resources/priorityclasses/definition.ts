/**
 * PriorityClasses: names for priorities of pods. Cluster-wide, value fixed at creation.
 *
 * The two system classes are objects like all others; the cluster creates them when it starts.
 */
import type { ApiObject } from '../../objects/api-object.ts';
import { defineResource, withGeneration } from '../shared/define-resource.ts';
import type { FieldError, Resource } from '../shared/resource.ts';
import { forbidden, invalid, notSupported } from '../shared/field-errors.ts';
import { numberAt, textAt, withDefaults } from '../shared/json-edit.ts';
import {
  CLUSTER_OBJECT,
  validateCoreMetadataUpdate,
  validateMetadata,
} from '../shared/metadata-validation.ts';

const USER_VALUE_MAX = 1_000_000_000;
const SYSTEM_VALUES: ReadonlyMap<string, number> = new Map([
  ['system-node-critical', 2_000_001_000],
  ['system-cluster-critical', 2_000_000_000],
]);

/** priorityclasses.scheduling.k8s.io. */
export const PRIORITY_CLASSES: Resource = defineResource({
  group: 'scheduling.k8s.io',
  plural: 'priorityclasses',
  singular: 'priorityclass',
  kind: 'PriorityClass',
  shortNames: ['pc'],
  isNamespaced: false,
  rules: {
    applyDefaults: (object) => withDefaults(object, { preemptionPolicy: 'PreemptLowerPriority' }),
    prepareForCreate: (object) => withGeneration(object, 1),
    validateCreate: validate,
    validateUpdate: validateChange,
  },
});

function validate(object: ApiObject): readonly FieldError[] {
  const errors: FieldError[] = [...validateMetadata(object, CLUSTER_OBJECT)];
  const name = textAt(object.metadata, 'name');
  const value = numberAt(object, 'value') ?? 0;
  if (name.startsWith('system-')) {
    if (SYSTEM_VALUES.get(name) !== value || object['globalDefault'] === true) {
      errors.push(
        forbidden('metadata.name', "priority class names with 'system-' prefix are reserved"),
      );
    }
  } else if (value > USER_VALUE_MAX) {
    errors.push(
      forbidden(
        'value',
        `maximum allowed value of a user defined priority is ${String(USER_VALUE_MAX)}`,
      ),
    );
  }
  const policy = textAt(object, 'preemptionPolicy');
  if (policy !== 'PreemptLowerPriority' && policy !== 'Never') {
    errors.push(notSupported('preemptionPolicy', policy, ['PreemptLowerPriority', 'Never']));
  }
  return errors;
}

function validateChange(next: ApiObject, current: ApiObject): readonly FieldError[] {
  const errors: FieldError[] = [...validateCoreMetadataUpdate(next, current)];
  if (numberAt(next, 'value') !== numberAt(current, 'value')) {
    errors.push(forbidden('value', 'may not be changed in an update.'));
  }
  if (textAt(next, 'preemptionPolicy') !== textAt(current, 'preemptionPolicy')) {
    errors.push(invalid('preemptionPolicy', next['preemptionPolicy'], 'field is immutable'));
  }
  return errors;
}
