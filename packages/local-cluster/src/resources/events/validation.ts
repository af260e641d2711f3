/**
 * Validation of Events as the core group does it: an event belongs to the namespace of what it is about; events with an
 * eventTime (the newer kind) must also say who reports them and what was done.
 *
 * Events about nodes and other objects without a namespace live in `default`, newer ones also in `kube-system`. An
 * update is checked as a new event is. Whether the object exists is not asked; how long events are kept is said in
 * definition.ts.
 */
import type { ApiObject } from '../../objects/api-object.ts';
import type { FieldError } from '../shared/resource.ts';
import { invalid, invalidText, required } from '../shared/field-errors.ts';
import { objectAt, textAt } from '../shared/json-edit.ts';
import { checkQualifiedName, checkSubdomain } from '../shared/names.ts';

const TEXT_LENGTH_MAX = 128;
const MESSAGE_LENGTH_MAX = 1024;

/** An Event, new or changed. */
export function validateEvent(object: ApiObject): readonly FieldError[] {
  const namespace = textAt(object.metadata, 'namespace');
  const errors: FieldError[] = [
    ...(textAt(object, 'eventTime') === '' ? validateOldStyle(object) : validateNewStyle(object)),
  ];
  errors.push(...invalidText('namespace', namespace, checkSubdomain(namespace)));
  return errors;
}

function validateOldStyle(object: ApiObject): readonly FieldError[] {
  const namespace = textAt(object.metadata, 'namespace');
  const involved = textAt(objectAt(object, 'involvedObject'), 'namespace');
  // Events about cluster-scoped objects live in `default`.
  const matches = involved === '' ? ['', 'default'].includes(namespace) : involved === namespace;
  return matches ? [] : [mismatch(involved)];
}

function validateNewStyle(object: ApiObject): readonly FieldError[] {
  const namespace = textAt(object.metadata, 'namespace');
  const involved = textAt(objectAt(object, 'involvedObject'), 'namespace');
  const errors: FieldError[] = [];
  if (involved === '' && namespace !== 'default' && namespace !== 'kube-system') {
    errors.push(mismatch(involved));
  }
  const reporter = textAt(object, 'reportingComponent');
  if (reporter === '') errors.push(required('reportingComponent'));
  errors.push(...invalidText('reportingComponent', reporter, checkQualifiedName(reporter)));
  for (const key of ['reportingInstance', 'action', 'reason']) {
    const text = textAt(object, key);
    if (text === '') errors.push(required(key));
    if (Buffer.byteLength(text) > TEXT_LENGTH_MAX)
      errors.push(invalid(key, '', atMost(TEXT_LENGTH_MAX)));
  }
  if (Buffer.byteLength(textAt(object, 'message')) > MESSAGE_LENGTH_MAX) {
    errors.push(invalid('message', '', atMost(MESSAGE_LENGTH_MAX)));
  }
  return errors;
}

function mismatch(involvedNamespace: string): FieldError {
  return invalid('involvedObject.namespace', involvedNamespace, 'does not match event.namespace');
}

function atMost(lengthMax: number): string {
  return `can have at most ${String(lengthMax)} characters`;
}
