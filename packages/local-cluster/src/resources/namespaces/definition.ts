/**
 * Namespaces: labelled with their own name, kept by the `kubernetes` finalizer until the namespace controller has
 * emptied them and takes it away through the finalize view.
 *
 * spec.finalizers change through that view alone; the main view and `status` keep them. The phase follows from the
 * deletionTimestamp and can only be written as what it is. That nothing new is created in a namespace that ends, and
 * that its contents go, is seen to elsewhere (the API's create, the namespace controller).
 */
import type { ApiObject } from '../../objects/api-object.ts';
import { defineResource, keepSpec, keepStatus, withStatus } from '../shared/define-resource.ts';
import type { FieldError, Resource, Subresource } from '../shared/resource.ts';
import { at, invalid, invalidText } from '../shared/field-errors.ts';
import {
  objectAt,
  textAt,
  textsAt,
  withDefaults,
  withMember,
  withoutMember,
} from '../shared/json-edit.ts';
import {
  validateMetadata,
  validateCoreMetadataUpdate,
  validateStandardFinalizer,
} from '../shared/metadata-validation.ts';
import { checkLabel, checkQualifiedName } from '../shared/names.ts';

const METADATA_RULES = { isNamespaced: false, checkName: checkLabel, hasStandardFinalizers: true };
const NAME_LABEL = 'kubernetes.io/metadata.name';
const KUBERNETES = 'kubernetes';

const STATUS_VIEW: Subresource = {
  kind: 'view',
  name: 'status',
  prepareForUpdate: keepSpec,
  validateUpdate: (next, current) => [
    ...validateCoreMetadataUpdate(next, current),
    ...validatePhase(next),
  ],
};

const FINALIZE_VIEW: Subresource = {
  kind: 'view',
  name: 'finalize',
  prepareForUpdate: keepStatus,
  validateUpdate: (next, current) => [
    ...validateCoreMetadataUpdate(next, current),
    ...finalizersOf(next).flatMap((finalizer, index) =>
      validateFinalizer(at('spec.finalizers', index), finalizer),
    ),
  ],
};

/** namespaces. */
export const NAMESPACES: Resource = defineResource({
  group: '',
  plural: 'namespaces',
  singular: 'namespace',
  kind: 'Namespace',
  shortNames: ['ns'],
  isNamespaced: false,
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  rules: {
    applyDefaults,
    prepareForCreate,
    validateCreate: validate,
    prepareForUpdate: (next, current) => keepStatus(keepFinalizers(next, current), current),
    validateUpdate: (next, current) => [
      ...validate(next),
      ...validateCoreMetadataUpdate(next, current),
    ],
  },
  subresources: [STATUS_VIEW, FINALIZE_VIEW],
  selectableFields: (object) => ({
    'status.phase': textAt(objectAt(object, 'status'), 'phase'),
  }),
});

function applyDefaults(object: ApiObject): ApiObject {
  const withPhase = withMember(
    object,
    'status',
    withDefaults(objectAt(object, 'status'), { phase: 'Active' }),
  );
  const name = textAt(object.metadata, 'name');
  const labels = objectAt(object.metadata, 'labels');
  if (name === '' || labels[NAME_LABEL] === name) return withPhase;
  const metadata = withMember(object.metadata, 'labels', { ...labels, [NAME_LABEL]: name });
  return { ...withPhase, metadata };
}

/** The name may have been generated since the defaults: the label is set again. */
function prepareForCreate(object: ApiObject): ApiObject {
  const finalizers = finalizersOf(object);
  const spec = finalizers.includes(KUBERNETES)
    ? objectAt(object, 'spec')
    : { ...objectAt(object, 'spec'), finalizers: [...finalizers, KUBERNETES] };
  return applyDefaults(withStatus(withMember(object, 'spec', spec), { phase: 'Active' }));
}

function keepFinalizers(next: ApiObject, current: ApiObject): ApiObject {
  const finalizers = objectAt(current, 'spec')['finalizers'];
  const spec = objectAt(next, 'spec');
  const kept =
    finalizers === undefined
      ? withoutMember(spec, 'finalizers')
      : withMember(spec, 'finalizers', finalizers);
  return withMember(next, 'spec', kept);
}

function validate(object: ApiObject): readonly FieldError[] {
  return [
    ...validateMetadata(object, METADATA_RULES),
    ...finalizersOf(object).flatMap((it) => validateFinalizer('spec.finalizers', it)),
  ];
}

function finalizersOf(object: ApiObject): readonly string[] {
  return textsAt(objectAt(object, 'spec'), 'finalizers');
}

function validateFinalizer(field: string, finalizer: string): readonly FieldError[] {
  return [
    ...invalidText(field, finalizer, checkQualifiedName(finalizer)),
    ...validateStandardFinalizer(finalizer, field),
  ];
}

function validatePhase(object: ApiObject): readonly FieldError[] {
  const phase = textAt(objectAt(object, 'status'), 'phase');
  const expected = object.metadata.deletionTimestamp === undefined ? 'Active' : 'Terminating';
  if (phase === expected) return [];
  // The capital letter is the API server's.
  return [invalid('status.Phase', phase, `may only be '${expected}' now`)];
}
