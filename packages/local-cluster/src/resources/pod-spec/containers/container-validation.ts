/**
 * Containers of a pod, ordinary and init ones (sidecars among them).
 *
 * Differs from Kubernetes: ephemeral containers cannot be added here, so only their absence is checked (pods/); stop
 * signals, resize policies and restart rules are taken as they are.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { FieldError } from '../../shared/resource.ts';
import {
  at,
  duplicate,
  forbidden,
  invalidText,
  NO_ERRORS,
  notSupported,
  oneOf,
  required,
} from '../../shared/field-errors.ts';
import { isPresent, listAt, numberAt, objectAt, textAt } from '../../shared/json-edit.ts';
import { checkLabel } from '../../shared/names.ts';
import { validateEnv, validateEnvFrom } from './env-validation.ts';
import { validateHostPorts, validatePorts } from './port-validation.ts';
import { validateProbesAndHooks } from './probe-validation.ts';
import { validateResources } from './resources-validation.ts';
import { validateSecurityContext } from './security-validation.ts';
import { validateMounts } from '../volumes/volume-validation.ts';

const MESSAGE_POLICIES = ['File', 'FallbackToLogsOnError'];
const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];
const RESTART_POLICIES = ['Always', 'Never', 'OnFailure'];
const LONG_RUNNING_ONLY = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'];

/** All containers of the pod's spec at `field`. */
export function validateContainers(
  spec: JsonObject,
  field: string,
  volumes: ReadonlyMap<string, JsonObject>,
): readonly FieldError[] {
  const names = new Set<string>();
  return [
    ...validateOrdinary(spec, `${field}.containers`, { volumes, names }),
    ...validateInit(spec, `${field}.initContainers`, { volumes, names }),
  ];
}

interface Surroundings {
  readonly volumes: ReadonlyMap<string, JsonObject>;
  /** Taken so far. */
  readonly names: Set<string>;
}

function validateOrdinary(
  spec: JsonObject,
  field: string,
  { volumes, names }: Surroundings,
): readonly FieldError[] {
  const containers = listAt(spec, 'containers');
  const graceSeconds = numberAt(spec, 'terminationGracePeriodSeconds');
  if (containers.length === 0) return [required(field)];
  const errors = containers.flatMap((container, index) => [
    ...validateCommon(container, at(field, index), volumes),
    ...claimName(container, at(field, index), names),
    ...validateProbesAndHooks(container, at(field, index), graceSeconds),
    ...validateRestartPolicy(container, at(field, index), RESTART_POLICIES),
  ]);
  return [...errors, ...validateHostPorts(containers, field)];
}

function validateInit(
  spec: JsonObject,
  field: string,
  { volumes, names }: Surroundings,
): readonly FieldError[] {
  const graceSeconds = numberAt(spec, 'terminationGracePeriodSeconds');
  return listAt(spec, 'initContainers').flatMap((container, index) => {
    const containerField = at(field, index);
    const isSidecar = textAt(container, 'restartPolicy') === 'Always';
    return [
      ...validateCommon(container, containerField, volumes),
      ...validateRestartPolicy(container, containerField, RESTART_POLICIES),
      ...claimName(container, containerField, names),
      // One after the other they run, so each is looked at alone; the index in its path is always zero, as there.
      ...validateHostPorts([container], field),
      ...(isSidecar
        ? validateProbesAndHooks(container, containerField, graceSeconds)
        : LONG_RUNNING_ONLY.filter((key) => isPresent(container, key)).map((key) =>
            forbidden(
              `${containerField}.${key}`,
              'may not be set for init containers without restartPolicy=Always',
            ),
          )),
    ];
  });
}

function validateRestartPolicy(
  container: JsonObject,
  field: string,
  supported: readonly string[],
): readonly FieldError[] {
  if (!isPresent(container, 'restartPolicy')) return NO_ERRORS;
  const policy = textAt(container, 'restartPolicy');
  if (supported.includes(policy)) return NO_ERRORS;
  return [notSupported(`${field}.restartPolicy`, policy, supported)];
}

/** Nameless init containers do not count as doubles of one another; nameless ordinary ones do, as there. */
function claimName(
  container: JsonObject,
  field: string,
  names: Set<string>,
): readonly FieldError[] {
  const name = textAt(container, 'name');
  if (names.has(name)) return [duplicate(`${field}.name`, name)];
  if (name !== '' || field.includes('.containers[')) names.add(name);
  return NO_ERRORS;
}

function validateCommon(
  container: JsonObject,
  field: string,
  volumes: ReadonlyMap<string, JsonObject>,
): readonly FieldError[] {
  const name = textAt(container, 'name');
  const errors: FieldError[] = [];
  if (name === '') errors.push(required(`${field}.name`));
  else errors.push(...invalidText(`${field}.name`, name, checkLabel(name)));
  if (textAt(container, 'image') === '') errors.push(required(`${field}.image`));
  const messagePolicy = textAt(container, 'terminationMessagePolicy');
  errors.push(...oneOf(`${field}.terminationMessagePolicy`, messagePolicy, MESSAGE_POLICIES));
  errors.push(...validatePorts(listAt(container, 'ports'), `${field}.ports`));
  errors.push(...validateEnv(listAt(container, 'env'), `${field}.env`));
  errors.push(...validateEnvFrom(listAt(container, 'envFrom'), `${field}.envFrom`));
  errors.push(...validateMounts(container, field, volumes));
  errors.push(
    ...oneOf(`${field}.imagePullPolicy`, textAt(container, 'imagePullPolicy'), PULL_POLICIES),
  );
  errors.push(...validateResources(objectAt(container, 'resources'), `${field}.resources`));
  errors.push(
    ...validateSecurityContext(objectAt(container, 'securityContext'), `${field}.securityContext`),
  );
  return errors;
}
