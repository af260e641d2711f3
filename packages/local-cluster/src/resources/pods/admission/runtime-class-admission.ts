/**
 * Admission plug-in RuntimeClass. Differs from Kubernetes: there are no such classes, so a pod that names one is
 * refused, and so is one that brings an overhead, which only a class may define.
 */
import type { ApiObject } from '../../../objects/api-object.ts';
import type { Refusal } from '../../shared/resource.ts';
import { isPresent, objectAt, textAt } from '../../shared/json-edit.ts';
import { podForbidden } from './forbidden.ts';

/** Why a pod is refused before it is validated: its class does not exist. */
export function refuseAbsentRuntimeClass(pod: ApiObject): Refusal | undefined {
  const name = textAt(objectAt(pod, 'spec'), 'runtimeClassName');
  if (name === '') return undefined;
  return podForbidden(pod, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
}

/** Why a valid pod is refused: it brings an overhead that no class defined. */
export function refuseOverhead(pod: ApiObject): Refusal | undefined {
  if (!isPresent(objectAt(pod, 'spec'), 'overhead')) return undefined;
  return podForbidden(
    pod,
    'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
  );
}
