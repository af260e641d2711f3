/**
 * Security contexts: ids in range, and no contradictions.
 *
 * Differs from Kubernetes: privileged containers are always allowed (`--allow-privileged`, as all distributions set
 * it); profiles of AppArmor and Windows options are taken as they are.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { FieldError } from '../../shared/resource.ts';
import {
  at,
  duplicate,
  inRange,
  invalid,
  NO_ERRORS,
  oneOf,
  required,
} from '../../shared/field-errors.ts';
import {
  EMPTY_OBJECT,
  isPresent,
  listAt,
  numberAt,
  objectAt,
  optionalObjectAt,
  textAt,
  textsAt,
} from '../../shared/json-edit.ts';
import { validateDescendingPath } from '../references/path-validation.ts';

const SYSCTL = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;
const SYSCTL_LENGTH_MAX = 253;
const SECCOMP_TYPES = ['Localhost', 'RuntimeDefault', 'Unconfined'];
const IDS = { min: 0, max: 2 ** 31 - 1 };

/** A container's context at `field`. */
export function validateSecurityContext(context: JsonObject, field: string): readonly FieldError[] {
  if (context === EMPTY_OBJECT) return NO_ERRORS;
  const errors: FieldError[] = [
    ...validateIds(context, field, ['runAsUser', 'runAsGroup']),
    ...validateSeccomp(context, `${field}.seccompProfile`),
  ];
  if (context['allowPrivilegeEscalation'] !== false) return errors;
  if (context['privileged'] === true) {
    errors.push(
      invalid(
        field,
        context,
        'cannot set `allowPrivilegeEscalation` to false and `privileged` to true',
      ),
    );
  }
  const added = textsAt(objectAt(context, 'capabilities'), 'add');
  const contradictions = added.filter((it) => it === 'CAP_SYS_ADMIN');
  const detail =
    'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN';
  return [...errors, ...contradictions.map(() => invalid(field, context, detail))];
}

/** A pod's context at `field`, with the spec that it is in. */
export function validatePodSecurityContext(spec: JsonObject, field: string): readonly FieldError[] {
  const context = objectAt(spec, 'securityContext');
  const errors: FieldError[] = [
    ...validateIds(context, field, ['fsGroup', 'runAsUser', 'runAsGroup']),
  ];
  const groups = context['supplementalGroups'];
  if (Array.isArray(groups)) {
    for (const [index, group] of groups.entries()) {
      if (typeof group !== 'number') continue;
      errors.push(...inRange(at(`${field}.supplementalGroups`, index), group, IDS));
    }
  }
  if (spec['shareProcessNamespace'] === true && spec['hostPID'] === true) {
    const detail = 'ShareProcessNamespace and HostPID cannot both be enabled';
    errors.push(invalid(`${field}.shareProcessNamespace`, true, detail));
  }
  errors.push(...validateSysctls(context, `${field}.sysctls`));
  return [...errors, ...validateSeccomp(context, `${field}.seccompProfile`)];
}

function validateSysctls(context: JsonObject, field: string): readonly FieldError[] {
  const names = new Set<string>();
  return listAt(context, 'sysctls').flatMap((sysctl, index) => {
    const nameField = `${at(field, index)}.name`;
    const name = textAt(sysctl, 'name');
    if (name === '') return [required(nameField)];
    if (name.length > SYSCTL_LENGTH_MAX || !SYSCTL.test(name)) {
      return [invalid(nameField, name, 'must be the name of a sysctl')];
    }
    if (names.has(name)) return [duplicate(nameField, name)];
    names.add(name);
    return [];
  });
}

function validateSeccomp(context: JsonObject, field: string): readonly FieldError[] {
  const profile = optionalObjectAt(context, 'seccompProfile');
  if (profile === undefined) return NO_ERRORS;
  const errors: FieldError[] = [...oneOf(`${field}.type`, textAt(profile, 'type'), SECCOMP_TYPES)];
  const isLocal = profile['type'] === 'Localhost';
  const hasFile = isPresent(profile, 'localhostProfile');
  const fileField = `${field}.localhostProfile`;
  if (isLocal && !hasFile)
    errors.push(required(fileField, 'must be set when seccomp type is Localhost'));
  if (isLocal && hasFile) {
    errors.push(...validateDescendingPath(textAt(profile, 'localhostProfile'), fileField));
  }
  if (!isLocal && hasFile) {
    errors.push(invalid(fileField, profile, 'can only be set when seccomp type is Localhost'));
  }
  return errors;
}

function validateIds(
  context: JsonObject,
  field: string,
  keys: readonly string[],
): readonly FieldError[] {
  return keys.flatMap((key) => inRange(`${field}.${key}`, numberAt(context, key), IDS));
}
