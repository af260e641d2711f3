/**
 * Validation of a pod's spec, in a pod or in a template; its larger parts are files beside this one.
 *
 * Differs from Kubernetes: what goes with an operating system, and claims of dynamic resources, are not looked at.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { FieldError } from '../shared/resource.ts';
import {
  at,
  duplicate,
  inRange,
  invalid,
  invalidText,
  notSupported,
  oneOf,
  required,
} from '../shared/field-errors.ts';
import {
  isPresent,
  listAt,
  numberAt,
  optionalObjectAt,
  textAt,
  textEntriesAt,
} from '../shared/json-edit.ts';
import { checkLabelValue, checkQualifiedName, checkSubdomain } from '../shared/names.ts';
import { validateAffinity } from './placement/affinity-validation.ts';
import { validateContainers } from './containers/container-validation.ts';
import { validateFileKeyVolumes } from './file-key-validation.ts';
import { validateNetwork } from './network-validation.ts';
import { validatePodLevelResources } from './pod-level-resources-validation.ts';
import { validateResources } from './containers/resources-validation.ts';
import { validatePodSecurityContext } from './containers/security-validation.ts';
import { validateTolerations } from './placement/toleration-validation.ts';
import { validateTopologySpread } from './placement/topology-spread-validation.ts';
import { validateVolumes } from './volumes/volume-validation.ts';

const RESTART_POLICIES = ['Always', 'OnFailure', 'Never'];
const PREEMPTION_POLICIES = ['PreemptLowerPriority', 'Never'];
const SYSTEMS = ['linux', 'windows'];
const DEADLINE_SECONDS = { min: 1, max: 2 ** 31 - 1 };
const NAMES = ['serviceAccountName', 'nodeName', 'priorityClassName', 'runtimeClassName'];

/** What is looked at, and where it stands. */
export interface PodSpecInput {
  readonly spec: JsonObject;
  /** `spec`, or `spec.template.spec`. */
  readonly field: string;
  readonly place: 'pod' | 'template';
}

/** A pod's spec with its defaults. */
export function validatePodSpec({ spec, field, place }: PodSpecInput): readonly FieldError[] {
  const { errors: volumeErrors, volumes } = validateVolumes(
    listAt(spec, 'volumes'),
    `${field}.volumes`,
  );
  const errors: FieldError[] = [];
  if (!isPresent(spec, 'terminationGracePeriodSeconds')) {
    errors.push(required(`${field}.terminationGracePeriodSeconds`));
  }
  errors.push(...volumeErrors, ...validateContainers(spec, field, volumes));
  errors.push(...validatePodResources(spec, field));
  errors.push(...oneOf(`${field}.restartPolicy`, textAt(spec, 'restartPolicy'), RESTART_POLICIES));
  errors.push(...validateNetwork(spec, field, place));
  errors.push(...validateNodeSelector(spec, `${field}.nodeSelector`));
  errors.push(...validatePodSecurityContext(spec, `${field}.securityContext`));
  errors.push(...validateAffinity(optionalObjectAt(spec, 'affinity'), `${field}.affinity`));
  errors.push(...validateGates(spec, field));
  errors.push(
    ...validateTopologySpread(
      listAt(spec, 'topologySpreadConstraints'),
      `${field}.topologySpreadConstraints`,
    ),
  );
  errors.push(...validateNames(spec, field));
  const deadline = numberAt(spec, 'activeDeadlineSeconds');
  errors.push(...inRange(`${field}.activeDeadlineSeconds`, deadline, DEADLINE_SECONDS));
  errors.push(...validateTolerations(listAt(spec, 'tolerations'), `${field}.tolerations`));
  if (isPresent(spec, 'preemptionPolicy')) {
    const policy = textAt(spec, 'preemptionPolicy');
    errors.push(...oneOf(`${field}.preemptionPolicy`, policy, PREEMPTION_POLICIES));
  }
  errors.push(...validateOperatingSystem(spec, `${field}.os`));
  return [...errors, ...validateFileKeyVolumes(spec, field)];
}

function validateOperatingSystem(spec: JsonObject, field: string): readonly FieldError[] {
  const system = optionalObjectAt(spec, 'os');
  if (system === undefined) return [];
  const name = textAt(system, 'name');
  if (name === '') return [required(`${field}.name`)];
  return SYSTEMS.includes(name) ? [] : [notSupported(field, name, SYSTEMS)];
}

function validatePodResources(spec: JsonObject, field: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const resources = optionalObjectAt(spec, 'resources');
  if (resources !== undefined) {
    errors.push(...validatePodLevelResources(spec, resources, `${field}.resources`));
  }
  const overhead = optionalObjectAt(spec, 'overhead');
  if (overhead !== undefined) {
    errors.push(...validateResources({ limits: overhead }, `${field}.overhead`));
  }
  return errors;
}

function validateNodeSelector(spec: JsonObject, field: string): readonly FieldError[] {
  return textEntriesAt(spec, 'nodeSelector').flatMap(([key, value]) => [
    ...invalidText(field, key, checkQualifiedName(key)),
    ...invalidText(field, value, checkLabelValue(value)),
  ]);
}

function validateGates(spec: JsonObject, field: string): readonly FieldError[] {
  const errors: FieldError[] = listAt(spec, 'readinessGates').flatMap((gate, index) => {
    const type = textAt(gate, 'conditionType');
    const gateField = `${at(`${field}.readinessGates`, index)}.conditionType`;
    return invalidText(gateField, type, checkQualifiedName(type));
  });
  const seen = new Set<string>();
  for (const [index, gate] of listAt(spec, 'schedulingGates').entries()) {
    const gateField = at(`${field}.schedulingGates`, index);
    const name = textAt(gate, 'name');
    errors.push(...invalidText(gateField, name, checkQualifiedName(name)));
    if (seen.has(name)) errors.push(duplicate(gateField, name));
    seen.add(name);
  }
  for (const [index, secret] of listAt(spec, 'imagePullSecrets').entries()) {
    if (Object.keys(secret).every((key) => key === 'name')) continue;
    errors.push(invalid(at(`${field}.imagePullSecrets`, index), secret, 'only name may be set'));
  }
  return errors;
}

function validateNames(spec: JsonObject, field: string): readonly FieldError[] {
  return NAMES.flatMap((key) => {
    const name = textAt(spec, key);
    return name === '' ? [] : invalidText(`${field}.${key}`, name, checkSubdomain(name));
  });
}
