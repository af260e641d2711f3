/**
 * PodTemplates: a pod's template that stands by itself. Nothing makes pods of one here, as in Kubernetes; Rollcall keeps
 * copies of proven templates in them (ADR 0063).
 *
 * Defaults and rules are those of the template of a DaemonSet, but that pods may do without restarts. A changed template
 * is another generation.
 */
import type { ApiObject } from '../../objects/api-object.ts';
import { applyPodSpecDefaults } from '../pod-spec/defaults/defaults.ts';
import { validatePodTemplate } from '../pod-spec/template-validation.ts';
import { defineResource } from '../shared/define-resource.ts';
import { equalJson } from '../shared/equal-json.ts';
import { editObjectAt, objectAt, withMember } from '../shared/json-edit.ts';
import {
  NAMESPACED_OBJECT,
  validateCoreMetadataUpdate,
  validateMetadata,
} from '../shared/metadata-validation.ts';
import type { FieldError, Resource } from '../shared/resource.ts';

/** podtemplates. */
export const POD_TEMPLATES: Resource = defineResource({
  group: '',
  plural: 'podtemplates',
  singular: 'podtemplate',
  kind: 'PodTemplate',
  isNamespaced: true,
  rules: {
    applyDefaults: (object) =>
      editObjectAt(object, 'template', (template) =>
        withMember(template, 'spec', applyPodSpecDefaults(objectAt(template, 'spec'))),
      ),
    prepareForCreate: (object) => withGeneration(object, 1),
    validateCreate: validate,
    prepareForUpdate: (next, current) => {
      const { generation = 1 } = current.metadata;
      const isSame = equalJson(next['template'], current['template']);
      return withGeneration(next, isSame ? generation : generation + 1);
    },
    validateUpdate: (next, current) => [
      ...validateCoreMetadataUpdate(next, current),
      ...validate(next),
    ],
  },
});

function withGeneration(object: ApiObject, generation: number): ApiObject {
  return { ...object, metadata: { ...object.metadata, generation } };
}

function validate(object: ApiObject): readonly FieldError[] {
  return [
    ...validateMetadata(object, NAMESPACED_OBJECT),
    ...validatePodTemplate(objectAt(object, 'template'), 'template'),
  ];
}
