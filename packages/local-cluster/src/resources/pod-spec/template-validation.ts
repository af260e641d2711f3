/**
 * Validation of a pod template: labels, annotations, spec.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { FieldError } from '../shared/resource.ts';
import { forbidden } from '../shared/field-errors.ts';
import { listAt, objectAt } from '../shared/json-edit.ts';
import { validateAnnotations, validateLabels } from '../shared/metadata-validation.ts';
import { validatePodAnnotations } from './annotation-validation.ts';
import { validatePodSpec } from './validation.ts';

/** A template at `field`. */
export function validatePodTemplate(template: JsonObject, field: string): readonly FieldError[] {
  const metadata = objectAt(template, 'metadata');
  const spec = objectAt(template, 'spec');
  const errors: FieldError[] = [
    ...validateLabels(metadata, `${field}.labels`),
    ...validateAnnotations(metadata, `${field}.annotations`),
    ...validatePodAnnotations(metadata, spec, `${field}.annotations`),
    ...validatePodSpec({ spec, field: `${field}.spec`, place: 'template' }),
  ];
  if (listAt(spec, 'ephemeralContainers').length > 0) {
    const detail = 'ephemeral containers not allowed in pod template';
    errors.push(forbidden(`${field}.spec.ephemeralContainers`, detail));
  }
  return errors;
}
