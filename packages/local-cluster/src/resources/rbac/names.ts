/** The group of roles and bindings, and what their names may be: any segment of a path. */
import type { MetadataRules } from '../shared/metadata-validation.ts';
import { checkPathSegment } from '../shared/names.ts';

/** API group. */
export const RBAC_GROUP = 'rbac.authorization.k8s.io';

/** Rules of metadata; a generateName must be a whole segment too, as there. */
export function rbacMetadataRules(isNamespaced: boolean): MetadataRules {
  return {
    isNamespaced,
    checkName: checkPathSegment,
    checkPrefix: checkPathSegment,
    hasStandardFinalizers: true,
  };
}
