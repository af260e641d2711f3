/**
 * Tolerations: operators, values, effects.
 *
 * The numeric operators Lt and Gt are behind a gate that is off by default; they are refused as there.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { FieldError } from '../../shared/resource.ts';
import { at, invalid, invalidText, NO_ERRORS, notSupported } from '../../shared/field-errors.ts';
import { isPresent, textAt } from '../../shared/json-edit.ts';
import { checkLabelValue, checkQualifiedName } from '../../shared/names.ts';

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** The list `tolerations` at `field`. */
export function validateTolerations(
  tolerations: readonly JsonObject[],
  field: string,
): readonly FieldError[] {
  if (tolerations.length === 0) return NO_ERRORS;
  return tolerations.flatMap((toleration, index) =>
    validateToleration(toleration, at(field, index)),
  );
}

function validateToleration(toleration: JsonObject, field: string): readonly FieldError[] {
  const key = textAt(toleration, 'key');
  const operator = textAt(toleration, 'operator');
  const effect = textAt(toleration, 'effect');
  const errors: FieldError[] = [];
  if (key !== '') errors.push(...invalidText(`${field}.key`, key, checkQualifiedName(key)));
  else if (operator !== 'Exists') {
    errors.push(
      invalid(`${field}.operator`, operator, 'operator must be Exists when `key` is empty'),
    );
  }
  if (isPresent(toleration, 'tolerationSeconds') && effect !== 'NoExecute') {
    errors.push(
      invalid(
        `${field}.effect`,
        effect,
        "effect must be 'NoExecute' when `tolerationSeconds` is set",
      ),
    );
  }
  errors.push(...validateValue(toleration, `${field}.operator`));
  if (effect !== '' && !EFFECTS.includes(effect)) {
    errors.push(notSupported(`${field}.effect`, effect, EFFECTS));
  }
  return errors;
}

function validateValue(toleration: JsonObject, field: string): readonly FieldError[] {
  const operator = textAt(toleration, 'operator');
  const value = textAt(toleration, 'value');
  switch (operator) {
    case '':
    case 'Equal': {
      const problems = checkLabelValue(value);
      return problems.length === 0 ? NO_ERRORS : [invalid(field, value, problems.join(';'))];
    }
    case 'Exists':
      if (value === '') return NO_ERRORS;
      return [invalid(field, value, "value must be empty when `operator` is 'Exists'")];
    default:
      return [notSupported(field, operator, ['Equal', 'Exists'])];
  }
}
