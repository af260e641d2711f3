/**
 * Validation of pods as a whole; what every pod spec must satisfy is in pod-spec/.
 */
import type { ApiObject } from '../../objects/api-object.ts';
import { validatePodSpec } from '../pod-spec/validation.ts';
import type { FieldError } from '../resource.ts';
import { forbidden } from '../shared/field-errors.ts';
import { at } from '../shared/field-errors.ts';
import { listAt, objectAt, optionalObjectAt, textAt } from '../shared/json-edit.ts';
import { validateMetadata } from '../shared/metadata-validation.ts';
import { checkSubdomain } from '../shared/names.ts';

const METADATA_RULES = { isNamespaced: true, checkName: checkSubdomain };

/** A new pod. */
export function validatePod(pod: ApiObject): readonly FieldError[] {
  const spec = objectAt(pod, 'spec');
  const errors: FieldError[] = [...validatePodAsItIs(pod)];
  if (listAt(spec, 'ephemeralContainers').length > 0) {
    errors.push(forbidden('spec.ephemeralContainers', 'cannot be set on create'));
  }
  if (textAt(spec, 'nodeName') !== '' && listAt(spec, 'schedulingGates').length > 0) {
    errors.push(
      forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared'),
    );
  }
  return errors;
}

/** A pod, new or changed. */
export function validatePodAsItIs(pod: ApiObject): readonly FieldError[] {
  return [
    ...validateMetadata(pod, METADATA_RULES),
    ...validatePodSpec({ spec: objectAt(pod, 'spec'), field: 'spec', place: 'pod' }),
    ...validateTokenVolumes(pod),
  ];
}

/** Only a pod with an account can have tokens: mirror pods have none. */
function validateTokenVolumes(pod: ApiObject): readonly FieldError[] {
  const spec = objectAt(pod, 'spec');
  if (textAt(spec, 'serviceAccountName') !== '') return [];
  return listAt(spec, 'volumes').flatMap((volume, index) =>
    listAt(objectAt(volume, 'projected'), 'sources').flatMap((source, sourceIndex) => {
      if (optionalObjectAt(source, 'serviceAccountToken') === undefined) return [];
      const field = `${at(`${at('spec.volumes', index)}.projected.sources`, sourceIndex)}.serviceAccountToken`;
      return [forbidden(field, 'must not be specified when serviceAccountName is not set')];
    }),
  );
}
