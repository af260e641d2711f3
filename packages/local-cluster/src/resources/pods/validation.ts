/**
 * Validation of pods as a whole; what every pod spec must satisfy is in pod-spec/.
 *
 * Stricter than for templates: images have no blanks around them, tokens need an account, and a pod that is held back
 * by scheduling gates is not bound. Ephemeral containers cannot be there from the start. Assumes defaults and
 * admission, which have named the account. Which fields may change is update-validation's.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import { validatePodAnnotations } from '../pod-spec/annotation-validation.ts';
import { validatePodSpec } from '../pod-spec/validation.ts';
import type { FieldError } from '../shared/resource.ts';
import { at, forbidden, invalid } from '../shared/field-errors.ts';
import { listAt, objectAt, optionalObjectAt, textAt } from '../shared/json-edit.ts';
import { NAMESPACED_OBJECT, validateMetadata } from '../shared/metadata-validation.ts';

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
  const spec = objectAt(pod, 'spec');
  return [
    ...validatePodMetadata(pod),
    ...validatePodSpec({ spec, field: 'spec', place: 'pod' }),
    ...validateTokenVolumes(pod),
    ...validateImages(spec),
  ];
}

/** The metadata of a pod. */
export function validatePodMetadata(pod: ApiObject): readonly FieldError[] {
  return [
    ...validateMetadata(pod, NAMESPACED_OBJECT),
    ...validatePodAnnotations(pod.metadata, objectAt(pod, 'spec'), 'metadata.annotations'),
  ];
}

/** In templates blanks around an image are let through: some tools use them as a mark. */
function validateImages(spec: JsonObject): readonly FieldError[] {
  return ['containers', 'initContainers'].flatMap((list) =>
    listAt(spec, list).flatMap((container, index) => {
      const image = textAt(container, 'image');
      if (image.trim() === image) return [];
      const field = `${at(`spec.${list}`, index)}.image`;
      return [invalid(field, image, 'must not have leading or trailing whitespace')];
    }),
  );
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
