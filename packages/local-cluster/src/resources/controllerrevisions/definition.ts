/**
 * ControllerRevisions: a state that a controller may return to (spec 2.13 keeps one for each template of a DaemonSet).
 *
 * The data are any JSON object; they never change, compared as written (a different order of members is a change), and
 * no rule looks into them. The revision number may change, either way. Whose history it is says an owner reference,
 * which is metadata like any other; which revisions are kept is the business of whoever owns them.
 */
import { isJsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import { defineResource } from '../shared/define-resource.ts';
import type { FieldError, Resource } from '../shared/resource.ts';
import { sameRaw } from '../shared/equal-json.ts';
import { invalid, nonNegative, required } from '../shared/field-errors.ts';
import { isPresent, numberAt } from '../shared/json-edit.ts';
import {
  NAMESPACED_OBJECT,
  validateCoreMetadataUpdate,
  validateMetadata,
} from '../shared/metadata-validation.ts';

/** controllerrevisions.apps. */
export const CONTROLLER_REVISIONS: Resource = defineResource({
  group: 'apps',
  plural: 'controllerrevisions',
  singular: 'controllerrevision',
  kind: 'ControllerRevision',
  isNamespaced: true,
  rules: {
    validateCreate: (object) => [...validate(object), ...validateData(object)],
    validateUpdate: (next, current) => [
      ...validateCoreMetadataUpdate(next, current),
      ...validate(next),
      ...(sameRaw(next['data'], current['data'])
        ? []
        : [invalid('data', next['data'], 'field is immutable')]),
    ],
  },
});

function validate(object: ApiObject): readonly FieldError[] {
  return [
    ...validateMetadata(object, NAMESPACED_OBJECT),
    ...nonNegative('revision', numberAt(object, 'revision')),
  ];
}

function validateData(object: ApiObject): readonly FieldError[] {
  if (!isPresent(object, 'data')) return [required('data', 'data is mandatory')];
  if (isJsonObject(object['data'])) return [];
  return [required('data', 'data must be a valid JSON object')];
}
