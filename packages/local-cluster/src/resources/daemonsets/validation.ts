/**
 * Validation of DaemonSets (spec 2.13): selector, template, update strategy, and the numbers beside them.
 *
 * The selector must not be empty, must match the template's labels, and never changes. Pods must restart always and
 * have no deadline. Exactly one of maxUnavailable and maxSurge is not zero, and a percentage is at most 100. Assumes
 * defaults. A spec that is the stored object's own is not looked at again, which is what writes of metadata have.
 */
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import { validatePodTemplate } from '../pod-spec/template-validation.ts';
import type { FieldError } from '../shared/resource.ts';
import { equalJson } from '../shared/equal-json.ts';
import {
  forbidden,
  invalid,
  NO_ERRORS,
  nonNegative,
  notSupported,
  required,
} from '../shared/field-errors.ts';
import {
  isPresent,
  listAt,
  numberAt,
  objectAt,
  optionalObjectAt,
  textAt,
} from '../shared/json-edit.ts';
import {
  matchesLabelSelector,
  validateLabelSelector,
} from '../shared/label-selector-validation.ts';
import {
  NAMESPACED_OBJECT,
  validateCoreMetadataUpdate,
  validateMetadata,
} from '../shared/metadata-validation.ts';
import { templateGenerationOf } from './generation.ts';

const STRATEGIES = ['RollingUpdate', 'OnDelete'];

/** A new DaemonSet. */
export function validateDaemonSet(object: ApiObject): readonly FieldError[] {
  return [...validateMetadata(object, NAMESPACED_OBJECT), ...validateSpec(object)];
}

/** A changed DaemonSet: as a new one, and with the selector that it had. */
export function validateDaemonSetUpdate(
  next: ApiObject,
  current: ApiObject,
): readonly FieldError[] {
  const [after, before] = [objectAt(next, 'spec'), objectAt(current, 'spec')];
  const errors: FieldError[] = [...validateCoreMetadataUpdate(next, current)];
  if (!equalJson(after['selector'], before['selector'])) {
    errors.push(invalid('spec.selector', after['selector'], 'field is immutable'));
  }
  // A spec that is the stored one has been looked at before.
  return after === before ? errors : [...errors, ...validateSpec(next)];
}

function validateSpec(object: ApiObject): readonly FieldError[] {
  const spec = objectAt(object, 'spec');
  const template = objectAt(spec, 'template');
  const podSpec = objectAt(template, 'spec');
  const errors: FieldError[] = [
    ...validateSelector(spec),
    ...validatePodTemplate(template, 'spec.template'),
  ];
  const policy = textAt(podSpec, 'restartPolicy');
  if (policy !== 'Always') {
    errors.push(notSupported('spec.template.spec.restartPolicy', policy, ['Always']));
  }
  if (isPresent(podSpec, 'activeDeadlineSeconds')) {
    const field = 'spec.template.spec.activeDeadlineSeconds';
    errors.push(forbidden(field, 'activeDeadlineSeconds in DaemonSet is not Supported'));
  }
  errors.push(...nonNegative('spec.minReadySeconds', numberAt(spec, 'minReadySeconds')));
  errors.push(...nonNegative('spec.templateGeneration', templateGenerationOf(object)));
  errors.push(...validateStrategy(objectAt(spec, 'updateStrategy')));
  errors.push(...nonNegative('spec.revisionHistoryLimit', numberAt(spec, 'revisionHistoryLimit')));
  return errors;
}

function validateSelector(spec: JsonObject): readonly FieldError[] {
  const selector = optionalObjectAt(spec, 'selector');
  const labels = objectAt(objectAt(objectAt(spec, 'template'), 'metadata'), 'labels');
  const errors: FieldError[] = [...validateLabelSelector(selector, 'spec.selector')];
  if (errors.length === 0 && !matchesLabelSelector(selector, labels)) {
    const detail = '`selector` does not match template `labels`';
    errors.push(invalid('spec.template.metadata.labels', labels, detail));
  }
  if (selector === undefined) return errors;
  const isEmpty =
    Object.keys(objectAt(selector, 'matchLabels')).length === 0 &&
    listAt(selector, 'matchExpressions').length === 0;
  if (isEmpty) {
    errors.push(invalid('spec.selector', selector, 'empty selector is invalid for daemonset'));
  }
  return errors;
}

function validateStrategy(strategy: JsonObject): readonly FieldError[] {
  const field = 'spec.updateStrategy';
  const type = textAt(strategy, 'type');
  if (type === 'OnDelete') return NO_ERRORS;
  if (type !== 'RollingUpdate') return [notSupported(field, strategy, STRATEGIES)];
  const rolling = optionalObjectAt(strategy, 'rollingUpdate');
  if (rolling === undefined) return [required(`${field}.rollingUpdate`)];
  const [unavailable, surge] = [rolling['maxUnavailable'], rolling['maxSurge']];
  const errors: FieldError[] = [
    ...validateAmount(unavailable, `${field}.rollingUpdate.maxUnavailable`),
    ...validateAmount(surge, `${field}.rollingUpdate.maxSurge`),
    ...validateShare(unavailable, `${field}.rollingUpdate.maxUnavailable`),
    ...validateShare(surge, `${field}.rollingUpdate.maxSurge`),
  ];
  const [hasUnavailable, hasSurge] = [amountOf(unavailable) !== 0, amountOf(surge) !== 0];
  if (hasUnavailable && hasSurge) {
    const detail = 'may not be set when maxUnavailable is non-zero';
    errors.push(invalid(`${field}.rollingUpdate.maxSurge`, surge, detail));
  }
  if (!hasUnavailable && !hasSurge) {
    const detail = 'cannot be 0 when maxSurge is 0';
    errors.push(required(`${field}.rollingUpdate.maxUnavailable`, detail));
  }
  return errors;
}

function validateAmount(value: Json | undefined, field: string): readonly FieldError[] {
  if (typeof value === 'number') return nonNegative(field, value);
  if (typeof value === 'string' && /^[0-9]+%$/.test(value)) return NO_ERRORS;
  return [invalid(field, value, "a valid percent string must be a numeric string followed by '%'")];
}

function validateShare(value: Json | undefined, field: string): readonly FieldError[] {
  const share = percentOf(value);
  if (share === undefined || share <= 100) return NO_ERRORS;
  return [invalid(field, value, 'must not be greater than 100%')];
}

function amountOf(value: Json | undefined): number {
  if (typeof value === 'number') return value;
  // A number in quotes counts as one here, although it is refused elsewhere.
  if (typeof value === 'string' && /^[+-]?\d+$/.test(value)) return Number(value);
  return percentOf(value) ?? 0;
}

function percentOf(value: Json | undefined): number | undefined {
  if (typeof value !== 'string' || !/^[0-9]+%$/.test(value)) return undefined;
  return Number(value.slice(0, -1));
}
