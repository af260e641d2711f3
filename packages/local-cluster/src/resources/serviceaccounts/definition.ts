/**
 * ServiceAccounts: a name to run under. References to secrets carry names only.
 *
 * Differs from Kubernetes: no token subresource, as the simulated runtime's containers call no API server.
 */
import type { ApiObject } from '../../objects/api-object.ts';
import { defineResource } from '../shared/define-resource.ts';
import type { Resource } from '../shared/resource.ts';
import { editItemsAt, textAt } from '../shared/json-edit.ts';
import {
  NAMESPACED_OBJECT,
  validateCoreMetadataUpdate,
  validateMetadata,
} from '../shared/metadata-validation.ts';

/** serviceaccounts. */
export const SERVICE_ACCOUNTS: Resource = defineResource({
  group: '',
  plural: 'serviceaccounts',
  singular: 'serviceaccount',
  kind: 'ServiceAccount',
  shortNames: ['sa'],
  isNamespaced: true,
  rules: {
    prepareForCreate: cleanSecretReferences,
    validateCreate: (object) => validateMetadata(object, NAMESPACED_OBJECT),
    prepareForUpdate: cleanSecretReferences,
    validateUpdate: (next, current) => [
      ...validateCoreMetadataUpdate(next, current),
      ...validateMetadata(next, NAMESPACED_OBJECT),
    ],
  },
});

function cleanSecretReferences(object: ApiObject): ApiObject {
  return editItemsAt(object, 'secrets', (reference) => {
    const keys = Object.keys(reference);
    return keys.length === 1 && keys[0] === 'name'
      ? reference
      : { name: textAt(reference, 'name') };
  });
}
