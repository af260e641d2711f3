/**
 * Topology spread constraints: skew, domains, what is done when they cannot be met, and the selector of the pods
 * counted.
 *
 * The same pair of key and action may stand only once; the error blames the earlier one. `minDomains` goes with
 * DoNotSchedule alone. The local scheduler does not spread: constraints are validated and kept, and no more.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { FieldError } from '../../shared/resource.ts';
import {
  at,
  duplicate,
  invalid,
  NO_ERRORS,
  notSupported,
  required,
} from '../../shared/field-errors.ts';
import { numberAt, optionalObjectAt, textAt } from '../../shared/json-edit.ts';
import { validateLabelSelector } from '../../shared/label-selector-validation.ts';

const ACTIONS = ['DoNotSchedule', 'ScheduleAnyway'];
const POLICIES = ['Honor', 'Ignore'];

/** The list `topologySpreadConstraints` at `field`. */
export function validateTopologySpread(
  constraints: readonly JsonObject[],
  field: string,
): readonly FieldError[] {
  if (constraints.length === 0) return NO_ERRORS;
  return constraints.flatMap((constraint, index) => {
    const constraintField = at(field, index);
    const errors: FieldError[] = [...validateConstraint(constraint, constraintField)];
    const isRepeated = constraints
      .slice(index + 1)
      .some((later) => identityOf(later) === identityOf(constraint));
    if (isRepeated) {
      errors.push(
        duplicate(`${constraintField}.{topologyKey, whenUnsatisfiable}`, identityOf(constraint)),
      );
    }
    return errors;
  });
}

function identityOf(constraint: JsonObject): string {
  return `{${textAt(constraint, 'topologyKey')}, ${textAt(constraint, 'whenUnsatisfiable')}}`;
}

function validateConstraint(constraint: JsonObject, field: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const action = textAt(constraint, 'whenUnsatisfiable');
  const maxSkew = numberAt(constraint, 'maxSkew') ?? 0;
  if (maxSkew <= 0) errors.push(invalid(`${field}.maxSkew`, maxSkew, 'must be greater than zero'));
  if (textAt(constraint, 'topologyKey') === '')
    errors.push(required(`${field}.topologyKey`, 'can not be empty'));
  if (!ACTIONS.includes(action))
    errors.push(notSupported(`${field}.whenUnsatisfiable`, action, ACTIONS));
  const minDomains = numberAt(constraint, 'minDomains');
  if (minDomains !== undefined) {
    if (minDomains <= 0)
      errors.push(invalid(`${field}.minDomains`, minDomains, 'must be greater than zero'));
    if (action !== 'DoNotSchedule')
      errors.push(
        invalid(
          `${field}.minDomains`,
          minDomains,
          'can only use minDomains if whenUnsatisfiable=DoNotSchedule',
        ),
      );
  }
  for (const key of ['nodeAffinityPolicy', 'nodeTaintsPolicy']) {
    const policy = textAt(constraint, key);
    if (policy !== '' && !POLICIES.includes(policy))
      errors.push(notSupported(`${field}.${key}`, policy, POLICIES));
  }
  const selector = optionalObjectAt(constraint, 'labelSelector');
  return [...errors, ...validateLabelSelector(selector, `${field}.labelSelector`)];
}
