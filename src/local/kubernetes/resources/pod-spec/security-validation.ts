/**
 * Security contexts: ids in range, and no contradictions.
 *
 * Differs from upstream: privileged containers are always allowed (`--allow-privileged`, as all distributions set it);
 * profiles of seccomp and AppArmor, sysctls and Windows options are taken as they are.
 */
import type { JsonObject } from '../../../../core/model/json.ts';
import type { FieldError } from '../resource.ts';
import { at, inRange, invalid, NO_ERRORS } from '../shared/field-errors.ts';
import { EMPTY_OBJECT, numberAt, objectAt, textsAt } from '../shared/json-edit.ts';

const IDS = { min: 0, max: 2 ** 31 - 1 };

/** A container's context at `field`. */
export function validateSecurityContext(context: JsonObject, field: string): readonly FieldError[] {
  if (context === EMPTY_OBJECT) return NO_ERRORS;
  const errors: FieldError[] = [...validateIds(context, field, ['runAsUser', 'runAsGroup'])];
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
  return errors;
}

function validateIds(
  context: JsonObject,
  field: string,
  keys: readonly string[],
): readonly FieldError[] {
  return keys.flatMap((key) => inRange(`${field}.${key}`, numberAt(context, key), IDS));
}
