/**
 * Affinity to nodes and to other pods: operators, keys, values, weights.
 *
 * Node selectors allow six operators, label selectors four; metadata.name is the only field a node can be chosen by.
 * Values of preferred node terms may be no label values at all: that has always been let through, and is warned of
 * instead (affinity-warnings). Whether anything matches is the scheduler's question.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { FieldError } from '../../shared/resource.ts';
import {
  at,
  forbidden,
  inRange,
  invalid,
  invalidText,
  NO_ERRORS,
  required,
} from '../../shared/field-errors.ts';
import {
  listAt,
  numberAt,
  objectAt,
  optionalObjectAt,
  textAt,
  textsAt,
} from '../../shared/json-edit.ts';
import { validateLabelSelector } from '../../shared/label-selector-validation.ts';
import {
  checkLabel,
  checkLabelValue,
  checkQualifiedName,
  checkSubdomain,
} from '../../shared/names.ts';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';
const WEIGHTS = { min: 1, max: 100 };

/** `affinity` at `field`; absent is fine. */
export function validateAffinity(
  affinity: JsonObject | undefined,
  field: string,
): readonly FieldError[] {
  if (affinity === undefined) return NO_ERRORS;
  return [
    ...validateNodeAffinity(objectAt(affinity, 'nodeAffinity'), `${field}.nodeAffinity`),
    ...['podAffinity', 'podAntiAffinity'].flatMap((kind) =>
      validatePodAffinity(objectAt(affinity, kind), `${field}.${kind}`),
    ),
  ];
}

function validateNodeAffinity(affinity: JsonObject, field: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const selector = optionalObjectAt(affinity, REQUIRED);
  if (selector !== undefined) {
    const terms = listAt(selector, 'nodeSelectorTerms');
    const termsField = `${field}.${REQUIRED}.nodeSelectorTerms`;
    if (terms.length === 0)
      errors.push(required(termsField, 'must have at least one node selector term'));
    for (const [index, term] of terms.entries()) {
      errors.push(...validateNodeTerm(term, at(termsField, index), 'strict'));
    }
  }
  for (const [index, preferred] of listAt(affinity, PREFERRED).entries()) {
    const termField = at(`${field}.${PREFERRED}`, index);
    errors.push(...inRange(`${termField}.weight`, numberAt(preferred, 'weight') ?? 0, WEIGHTS));
    // Values that no label can have are let through here, as there.
    errors.push(
      ...validateNodeTerm(objectAt(preferred, 'preference'), `${termField}.preference`, 'lenient'),
    );
  }
  return errors;
}

function validateNodeTerm(
  term: JsonObject,
  field: string,
  values: 'strict' | 'lenient',
): readonly FieldError[] {
  return [
    ...listAt(term, 'matchExpressions').flatMap((it, index) =>
      validateExpression(it, at(`${field}.matchExpressions`, index), values),
    ),
    ...listAt(term, 'matchFields').flatMap((it, index) =>
      validateFieldExpression(it, at(`${field}.matchFields`, index)),
    ),
  ];
}

function validateExpression(
  requirement: JsonObject,
  field: string,
  strictness: 'strict' | 'lenient',
): readonly FieldError[] {
  const key = textAt(requirement, 'key');
  const values = textsAt(requirement, 'values');
  const errors: FieldError[] = [...validateOperator(requirement, field)];
  errors.push(...invalidText(`${field}.key`, key, checkQualifiedName(key)));
  if (strictness === 'lenient') return errors;
  for (const [index, value] of values.entries()) {
    errors.push(...invalidText(at(`${field}.values`, index), value, checkLabelValue(value)));
  }
  return errors;
}

function validateOperator(requirement: JsonObject, field: string): readonly FieldError[] {
  const count = textsAt(requirement, 'values').length;
  const operator = textAt(requirement, 'operator');
  switch (operator) {
    case 'In':
    case 'NotIn':
      return count > 0
        ? NO_ERRORS
        : [required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      return count === 0
        ? NO_ERRORS
        : [
            forbidden(
              `${field}.values`,
              "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            ),
          ];
    case 'Gt':
    case 'Lt':
      return count === 1
        ? NO_ERRORS
        : [
            required(
              `${field}.values`,
              "must be specified single value when `operator` is 'Lt' or 'Gt'",
            ),
          ];
    default:
      return [invalid(`${field}.operator`, operator, 'not a valid selector operator')];
  }
}

function validateFieldExpression(requirement: JsonObject, field: string): readonly FieldError[] {
  const values = textsAt(requirement, 'values');
  const operator = textAt(requirement, 'operator');
  const errors: FieldError[] = [];
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length !== 1) {
      const only =
        "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
      errors.push(required(`${field}.values`, only));
    }
  } else {
    errors.push(invalid(`${field}.operator`, operator, 'not a valid selector operator'));
  }
  const key = textAt(requirement, 'key');
  if (key !== 'metadata.name') {
    return [...errors, invalid(`${field}.key`, key, 'not a valid field selector key')];
  }
  for (const [index, value] of values.entries()) {
    errors.push(...invalidText(at(`${field}.values`, index), value, checkSubdomain(value)));
  }
  return errors;
}

function validatePodAffinity(affinity: JsonObject, field: string): readonly FieldError[] {
  return [
    ...listAt(affinity, REQUIRED).flatMap((term, index) =>
      validatePodTerm(term, at(`${field}.${REQUIRED}`, index)),
    ),
    ...listAt(affinity, PREFERRED).flatMap((weighted, index) => {
      const termField = at(`${field}.${PREFERRED}`, index);
      return [
        ...inRange(`${termField}.weight`, numberAt(weighted, 'weight') ?? 0, WEIGHTS),
        ...validatePodTerm(objectAt(weighted, 'podAffinityTerm'), `${termField}.podAffinityTerm`),
      ];
    }),
  ];
}

function validatePodTerm(term: JsonObject, field: string): readonly FieldError[] {
  const key = textAt(term, 'topologyKey');
  const errors: FieldError[] = [
    ...validateLabelSelector(optionalObjectAt(term, 'labelSelector'), `${field}.labelSelector`),
    ...validateLabelSelector(
      optionalObjectAt(term, 'namespaceSelector'),
      `${field}.namespaceSelector`,
    ),
  ];
  for (const name of textsAt(term, 'namespaces')) {
    errors.push(...invalidText(`${field}.namespace`, name, checkLabel(name)));
  }
  if (key === '') errors.push(required(`${field}.topologyKey`, 'can not be empty'));
  return [...errors, ...invalidText(`${field}.topologyKey`, key, checkQualifiedName(key))];
}
