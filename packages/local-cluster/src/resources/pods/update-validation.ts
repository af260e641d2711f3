/**
 * What an update of a pod may change: images, tolerations (more), the active deadline (less), scheduling gates (fewer).
 *
 * Differs from Kubernetes: the node selector and affinity of a gated pod cannot be narrowed.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import {
  validatePodAnnotations,
  validatePodAnnotationsUpdate,
} from '../pod-spec/annotation-validation.ts';
import { validateTolerations } from '../pod-spec/placement/toleration-validation.ts';
import type { FieldError } from '../shared/resource.ts';
import { equalJson } from '../shared/equal-json.ts';
import { at, forbidden, invalid, NO_ERRORS, required } from '../shared/field-errors.ts';
import { listAt, numberAt, objectAt, textAt, withMember } from '../shared/json-edit.ts';
import { validateCoreMetadataUpdate } from '../shared/metadata-validation.ts';
import { validatePodAsItIs, validatePodMetadata } from './validation.ts';

const DEADLINE_MAX_SECONDS = 2 ** 31 - 1;

/** A changed pod. */
export function validatePodUpdate(next: ApiObject, current: ApiObject): readonly FieldError[] {
  const errors: FieldError[] = [
    ...validateCoreMetadataUpdate(next, current),
    ...validateUnchangedOrNew(next, current),
    ...validatePodAnnotationsUpdate(next.metadata, current.metadata),
    ...validatePodAnnotations(next.metadata, objectAt(next, 'spec'), 'metadata.annotations'),
  ];
  const [after, before] = [objectAt(next, 'spec'), objectAt(current, 'spec')];
  if (after === before) return errors;
  for (const list of ['containers', 'initContainers']) {
    const listErrors = validateContainers({ after, before, list });
    errors.push(...listErrors);
    if (listAt(after, list).length !== listAt(before, list).length) return errors;
  }
  const deadline = validateDeadline(after, before);
  errors.push(...deadline.errors);
  if (deadline.stops) return errors;
  errors.push(...validateAddedTolerations(after, before), ...validateGates(after, before));
  if (!equalJson(withUpdatableOf(after, before), before)) {
    const detail =
      'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';
    errors.push(forbidden('spec', detail));
  }
  return errors;
}

/** A spec that is the stored one has been looked at before. */
function validateUnchangedOrNew(next: ApiObject, current: ApiObject): readonly FieldError[] {
  return next['spec'] === current['spec'] ? validatePodMetadata(next) : validatePodAsItIs(next);
}

function validateContainers(input: {
  readonly after: JsonObject;
  readonly before: JsonObject;
  readonly list: string;
}): readonly FieldError[] {
  const { after, before, list } = input;
  const containers = listAt(after, list);
  const field = `spec.${list}`;
  if (containers.length !== listAt(before, list).length) {
    return [forbidden(field, 'pod updates may not add or remove containers')];
  }
  return containers.flatMap((container, index) => {
    const image = textAt(container, 'image');
    const imageField = `${at(field, index)}.image`;
    if (image === '') return [required(imageField)];
    if (image.trim() === image) return [];
    return [invalid(imageField, image, 'must not have leading or trailing whitespace')];
  });
}

function validateDeadline(
  after: JsonObject,
  before: JsonObject,
): { readonly errors: readonly FieldError[]; readonly stops: boolean } {
  const field = 'spec.activeDeadlineSeconds';
  const [next, current] = [
    numberAt(after, 'activeDeadlineSeconds'),
    numberAt(before, 'activeDeadlineSeconds'),
  ];
  if (next === undefined) {
    if (current === undefined) return { errors: NO_ERRORS, stops: false };
    const detail = 'must not update from a positive integer to nil value';
    return { errors: [invalid(field, null, detail)], stops: false };
  }
  if (next < 0 || next > DEADLINE_MAX_SECONDS) {
    return { errors: [invalid(field, next, 'must be between 0 and 2147483647')], stops: true };
  }
  if (current !== undefined && current < next) {
    const detail = 'must be less than or equal to previous value';
    return { errors: [invalid(field, next, detail)], stops: true };
  }
  return { errors: NO_ERRORS, stops: false };
}

/** An old toleration may only get other seconds; new ones may be added. */
function validateAddedTolerations(after: JsonObject, before: JsonObject): readonly FieldError[] {
  const next = listAt(after, 'tolerations').map(withoutSeconds);
  const isKept = listAt(before, 'tolerations')
    .map(withoutSeconds)
    .every((old) => next.some((it) => equalJson(it, old)));
  // The original looks at them a second time here.
  if (isKept) return validateTolerations(listAt(after, 'tolerations'), 'spec.tolerations');
  const detail = 'existing toleration can not be modified except its tolerationSeconds';
  return [forbidden('spec.tolerations', detail)];
}

function withoutSeconds(toleration: JsonObject): JsonObject {
  const { tolerationSeconds: _seconds, ...rest } = toleration;
  return rest;
}

function validateGates(after: JsonObject, before: JsonObject): readonly FieldError[] {
  const known = new Set(listAt(before, 'schedulingGates').map((gate) => textAt(gate, 'name')));
  return listAt(after, 'schedulingGates').flatMap((gate, index) =>
    known.has(textAt(gate, 'name'))
      ? []
      : [forbidden(`${at('spec.schedulingGates', index)}.name`, 'only deletion is allowed')],
  );
}

/** The new spec with all that may differ put back. */
function withUpdatableOf(after: JsonObject, before: JsonObject): JsonObject {
  let result = after;
  for (const list of ['containers', 'initContainers']) {
    const old = listAt(before, list);
    const images = listAt(after, list).map((container, index) =>
      withMember(container, 'image', textAt(old[index] ?? {}, 'image')),
    );
    if (images.length > 0) result = { ...result, [list]: images };
  }
  for (const key of ['activeDeadlineSeconds', 'schedulingGates', 'tolerations']) {
    result = { ...result, [key]: before[key] };
  }
  return result;
}
