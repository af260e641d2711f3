/**
 * Events of the core group, which kubectl and all parts of the cluster write and read. They live for an hour.
 *
 * Differs from Kubernetes: no group events.k8s.io, another view of the same objects that no tool in use asks for.
 */
import type { ApiObject } from '../../objects/api-object.ts';
import { defineResource } from '../shared/define-resource.ts';
import type { Resource } from '../shared/resource.ts';
import { objectAt, textAt } from '../shared/json-edit.ts';
import { validateEvent } from './validation.ts';

/** events. */
export const EVENTS: Resource = defineResource({
  group: '',
  plural: 'events',
  singular: 'event',
  kind: 'Event',
  shortNames: ['ev'],
  isNamespaced: true,
  keepsOwners: false,
  rules: { validateCreate: validateEvent, validateUpdate: (next) => validateEvent(next) },
  selectableFields,
  allowsCreateOnUpdate: true,
});

const INVOLVED_KEYS = [
  'kind',
  'namespace',
  'name',
  'uid',
  'apiVersion',
  'resourceVersion',
  'fieldPath',
];

function selectableFields(object: ApiObject): Readonly<Record<string, string>> {
  const involved = objectAt(object, 'involvedObject');
  const fields: Record<string, string> = {
    reason: textAt(object, 'reason'),
    type: textAt(object, 'type'),
    reportingComponent: textAt(object, 'reportingComponent'),
    source: textAt(objectAt(object, 'source'), 'component') || textAt(object, 'reportingComponent'),
  };
  for (const key of INVOLVED_KEYS) fields[`involvedObject.${key}`] = textAt(involved, key);
  return fields;
}
