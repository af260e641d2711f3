/**
 * Validation and matching of label selectors inside objects (`matchLabels`, `matchExpressions`).
 *
 * An empty selector matches everything, an absent one nothing; whether either is allowed is the caller's rule. Matching
 * assumes a selector that has been validated. Selectors of requests (`labelSelector=…`) have a syntax of their own and
 * are parsed by api/selectors.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { FieldError } from './resource.ts';
import { at, forbidden, invalid, invalidText, NO_ERRORS, required } from './field-errors.ts';
import { listAt, objectAt, textAt, textEntriesAt, textsAt } from './json-edit.ts';
import { checkLabelValue, checkQualifiedName } from './names.ts';

/** A selector at `field`; absent ones are fine here. */
export function validateLabelSelector(
  selector: JsonObject | undefined,
  field: string,
): readonly FieldError[] {
  if (selector === undefined) return NO_ERRORS;
  const errors: FieldError[] = [];
  for (const [key, value] of textEntriesAt(selector, 'matchLabels')) {
    errors.push(...invalidText(`${field}.matchLabels`, key, checkQualifiedName(key)));
    errors.push(...invalidText(`${field}.matchLabels`, value, checkLabelValue(value)));
  }
  for (const [index, requirement] of listAt(selector, 'matchExpressions').entries()) {
    errors.push(...validateRequirement(requirement, at(`${field}.matchExpressions`, index)));
  }
  return errors;
}

function validateRequirement(requirement: JsonObject, field: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const values = textsAt(requirement, 'values');
  const operator = textAt(requirement, 'operator');
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0) errors.push(required(`${field}.values`, 'must be specified'));
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0) errors.push(forbidden(`${field}.values`, 'may not be specified'));
  } else {
    errors.push(invalid(`${field}.operator`, operator, 'not a valid selector operator'));
  }
  const key = textAt(requirement, 'key');
  errors.push(...invalidText(`${field}.key`, key, checkQualifiedName(key)));
  for (const [index, value] of values.entries()) {
    errors.push(...invalidText(at(`${field}.values`, index), value, checkLabelValue(value)));
  }
  return errors;
}

/** Does a valid selector match these labels? An empty one matches all, an absent one nothing. */
export function matchesLabelSelector(
  selector: JsonObject | undefined,
  labels: JsonObject,
): boolean {
  if (selector === undefined) return false;
  const matchLabels = objectAt(selector, 'matchLabels');
  for (const key in matchLabels) {
    if (labels[key] !== matchLabels[key]) return false;
  }
  return listAt(selector, 'matchExpressions').every((it) => meets(it, labels));
}

function meets(requirement: JsonObject, labels: JsonObject): boolean {
  const label = labels[textAt(requirement, 'key')];
  const isListed = typeof label === 'string' && textsAt(requirement, 'values').includes(label);
  switch (textAt(requirement, 'operator')) {
    case 'In':
      return isListed;
    case 'NotIn':
      return !isListed;
    case 'Exists':
      return label !== undefined;
    default:
      return label === undefined;
  }
}
