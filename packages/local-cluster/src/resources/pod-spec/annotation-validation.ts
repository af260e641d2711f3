/**
 * Annotations of pods and templates that mean something to the API server.
 *
 * Differs from Kubernetes: the old annotations of seccomp and AppArmor are taken as they are.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { FieldError } from '../shared/resource.ts';
import { forbidden, invalid } from '../shared/field-errors.ts';
import { objectAt, textAt } from '../shared/json-edit.ts';

const MIRROR = 'kubernetes.io/config.mirror';
const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';
const INT32_MAX = 2 ** 31 - 1;

/** The annotations in `metadata`, with `field` as their place, for a pod with this spec. */
export function validatePodAnnotations(
  metadata: JsonObject,
  spec: JsonObject,
  field: string,
): readonly FieldError[] {
  const annotations = objectAt(metadata, 'annotations');
  const errors: FieldError[] = [];
  if (annotations[MIRROR] !== undefined && textAt(spec, 'nodeName') === '') {
    const detail = 'must set spec.nodeName if mirror pod annotation is set';
    errors.push(invalid(`${field}[${MIRROR}]`, annotations[MIRROR], detail));
  }
  const cost = annotations[DELETION_COST];
  if (typeof cost === 'string' && !isInt32(cost)) {
    errors.push(invalid(`${field}[${DELETION_COST}]`, cost, 'must be a 32bit integer'));
  }
  return errors;
}

/** An update may not make a pod a mirror pod, or stop it being one. */
export function validatePodAnnotationsUpdate(
  next: JsonObject,
  current: JsonObject,
): readonly FieldError[] {
  const [after, before] = [objectAt(next, 'annotations'), objectAt(current, 'annotations')];
  if (after[MIRROR] === before[MIRROR]) return [];
  const field = `metadata.annotations[${MIRROR}]`;
  return [forbidden(field, 'may not add, remove or update mirror pod annotation')];
}

function isInt32(text: string): boolean {
  // No sign `+` and no leading zeros, so that equal costs have equal texts.
  if (!/^(0|-?[1-9]\d*)$/.test(text)) return false;
  return Math.abs(Number(text)) <= INT32_MAX;
}
