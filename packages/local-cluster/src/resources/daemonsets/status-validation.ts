/**
 * Validation of a DaemonSet's status (spec 2.13): no counter below zero, collisionCount never less than it was.
 */
import type { ApiObject } from '../../objects/api-object.ts';
import type { FieldError } from '../shared/resource.ts';
import { invalid, nonNegative } from '../shared/field-errors.ts';
import { numberAt, objectAt } from '../shared/json-edit.ts';
import { validateCoreMetadataUpdate } from '../shared/metadata-validation.ts';

const COUNTERS = [
  'currentNumberScheduled',
  'numberMisscheduled',
  'desiredNumberScheduled',
  'numberReady',
  'observedGeneration',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
  'collisionCount',
];

/** A changed status. */
export function validateDaemonSetStatusUpdate(
  next: ApiObject,
  current: ApiObject,
): readonly FieldError[] {
  const [after, before] = [objectAt(next, 'status'), objectAt(current, 'status')];
  const errors: FieldError[] = [
    ...validateCoreMetadataUpdate(next, current),
    ...COUNTERS.flatMap((key) => nonNegative(`status.${key}`, numberAt(after, key))),
  ];
  const [count, previous] = [numberAt(after, 'collisionCount'), numberAt(before, 'collisionCount')];
  if (previous !== undefined && (count ?? -1) < previous) {
    errors.push(invalid('status.collisionCount', count ?? 0, 'cannot be decremented'));
  }
  return errors;
}
