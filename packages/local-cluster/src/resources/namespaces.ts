/**
 * Namespaces: labelled with their own name, kept by the `kubernetes` finalizer until the namespace controller has emptied them
 * and takes it away through the finalize view. spec.finalizers change through that view alone.
 *
 * That nothing new is created in a namespace that ends, and that its contents go, is seen to elsewhere (the API's create, the
 * namespace controller).
 */
import type { ApiObject } from '../objects/api-object.ts';
import { defineResource, keepStatus, statusView, withStatus } from './shared/define-resource.ts';
import { objectAt, textAt, textsAt, withDefaults, withMember } from './shared/json-edit.ts';
import { checkLabel } from './shared/names.ts';
import type { Resource } from './shared/resource.ts';

const NAME_LABEL = 'kubernetes.io/metadata.name';
const KUBERNETES = 'kubernetes';

/** namespaces. */
export const NAMESPACES: Resource = defineResource({
  group: '',
  plural: 'namespaces',
  singular: 'namespace',
  kind: 'Namespace',
  shortNames: ['ns'],
  isNamespaced: false,
  checkName: checkLabel,
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  rules: {
    applyDefaults,
    prepareForCreate,
    prepareForUpdate: (next, current) => keepStatus(keepFinalizers(next, current), current),
  },
  subresources: [
    statusView(),
    { kind: 'view', name: 'finalize', prepareForUpdate: keepStatus, validateUpdate: () => [] },
  ],
  selectableFields: (object) => ({
    'status.phase': textAt(objectAt(object, 'status'), 'phase'),
  }),
});

function applyDefaults(object: ApiObject): ApiObject {
  const status = withDefaults(objectAt(object, 'status'), { phase: 'Active' });
  const withPhase = withMember(object, 'status', status);
  const name = textAt(object.metadata, 'name');
  const labels = objectAt(object.metadata, 'labels');
  if (name === '' || labels[NAME_LABEL] === name) return withPhase;
  const metadata = withMember(object.metadata, 'labels', { ...labels, [NAME_LABEL]: name });
  return { ...withPhase, metadata };
}

/** The name may have been generated since the defaults: the label is set again. */
function prepareForCreate(object: ApiObject): ApiObject {
  const spec = objectAt(object, 'spec');
  const finalizers = textsAt(spec, 'finalizers');
  const all = finalizers.includes(KUBERNETES) ? finalizers : [...finalizers, KUBERNETES];
  const held = withMember(object, 'spec', { ...spec, finalizers: all });
  return applyDefaults(withStatus(held, { phase: 'Active' }));
}

function keepFinalizers(next: ApiObject, current: ApiObject): ApiObject {
  const { finalizers: _, ...spec } = objectAt(next, 'spec');
  const { finalizers } = objectAt(current, 'spec');
  return withMember(next, 'spec', finalizers === undefined ? spec : { ...spec, finalizers });
}
