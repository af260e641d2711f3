/** Variables read from files: the file lies in a volume of the pod that is an emptyDir. */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { FieldError } from '../shared/resource.ts';
import { at, invalid, notFound } from '../shared/field-errors.ts';
import { isPresent, listAt, objectAt, optionalObjectAt, textAt } from '../shared/json-edit.ts';

/** All `fileKeyRef` of the spec at `field`. */
export function validateFileKeyVolumes(spec: JsonObject, field: string): readonly FieldError[] {
  return ['initContainers', 'containers'].flatMap((list) =>
    listAt(spec, list).flatMap((container, index) =>
      listAt(container, 'env').flatMap((variable, variableIndex) => {
        const reference = optionalObjectAt(objectAt(variable, 'valueFrom'), 'fileKeyRef');
        if (reference === undefined) return [];
        const variableField = at(`${at(`${field}.${list}`, index)}.env`, variableIndex);
        return validateVolume(spec, reference, `${variableField}.valueFrom.fileKeyRef.volumeName`);
      }),
    ),
  );
}

function validateVolume(
  spec: JsonObject,
  reference: JsonObject,
  field: string,
): readonly FieldError[] {
  const name = textAt(reference, 'volumeName');
  const volume = listAt(spec, 'volumes').findLast((it) => textAt(it, 'name') === name);
  if (volume === undefined) return [notFound(field, name)];
  if (isPresent(volume, 'emptyDir')) return [];
  return [invalid(field, name, 'referenced volume must be of type emptyDir')];
}
