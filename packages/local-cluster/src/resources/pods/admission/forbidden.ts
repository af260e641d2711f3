/** The refusal of a pod by an admission plug-in: 403, with the pod's name where it has one. */
import type { ApiObject } from '../../../objects/api-object.ts';
import type { Refusal } from '../../shared/resource.ts';
import { textAt } from '../../shared/json-edit.ts';

/** `pods "NAME" is forbidden: …`. */
export function podForbidden(pod: ApiObject, reason: string): Refusal {
  const name = textAt(pod.metadata, 'name') || textAt(pod.metadata, 'generateName');
  return {
    code: 403,
    reason: 'Forbidden',
    message: `pods ${JSON.stringify(name)} is forbidden: ${reason}`,
    details: { name, kind: 'pods' },
  };
}
