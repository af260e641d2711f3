/**
 * Admission plug-in RuntimeClass. There are no such classes here: a pod that names one is refused, and so is one that
 * brings an overhead, which only a class may define.
 */
import type { ApiObject } from '../../objects/api-object.ts';
import type { Refusal } from '../resource.ts';
import { isPresent, objectAt, textAt } from '../shared/json-edit.ts';
import { podForbidden } from './forbidden.ts';

/** Why the pod is refused; undefined when it is not. */
export function refuseRuntimeClass(pod: ApiObject): Refusal | undefined {
  const spec = objectAt(pod, 'spec');
  const name = textAt(spec, 'runtimeClassName');
  if (name !== '') {
    return podForbidden(pod, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
  }
  if (!isPresent(spec, 'overhead')) return undefined;
  return podForbidden(
    pod,
    'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
  );
}
