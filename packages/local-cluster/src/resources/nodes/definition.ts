/**
 * Nodes: tainted not-ready when they register (admission plug-in TaintNodesByCondition), so that nothing lands on them
 * before they report Ready.
 *
 * The main view keeps the status and `status` keeps the spec; both are validated by the same rule for updates. When the
 * taint goes is the node lifecycle controller's matter. That machines follow Node objects is seen to in machines/.
 */
import type { ApiObject } from '../../objects/api-object.ts';
import { defineResource, keepSpec, keepStatus } from '../shared/define-resource.ts';
import type { Resource, Subresource } from '../shared/resource.ts';
import { isPresent, listAt, objectAt, withMember, withoutMember } from '../shared/json-edit.ts';
import { applyNodeDefaults } from './defaults.ts';
import { validateNode, validateNodeUpdate } from './validation.ts';

const NOT_READY_TAINT = { effect: 'NoSchedule', key: 'node.kubernetes.io/not-ready' };

const STATUS_VIEW: Subresource = {
  kind: 'view',
  name: 'status',
  prepareForUpdate: (next, current) => dropConfig(keepSpec(next, current)),
  validateUpdate: validateNodeUpdate,
};

/** nodes. */
export const NODES: Resource = defineResource({
  group: '',
  plural: 'nodes',
  singular: 'node',
  kind: 'Node',
  shortNames: ['no'],
  isNamespaced: false,
  keepsOwners: false,
  rules: {
    applyDefaults: applyNodeDefaults,
    admit: taintNotReady,
    prepareForCreate: dropConfig,
    validateCreate: validateNode,
    prepareForUpdate: keepStatus,
    validateUpdate: (next, current) => [
      ...validateNode(next),
      ...validateNodeUpdate(next, current),
    ],
    warnings: nodeWarnings,
  },
  subresources: [STATUS_VIEW],
  selectableFields: (object) => ({
    'spec.unschedulable': String(objectAt(object, 'spec')['unschedulable'] === true),
  }),
});

/** Admission plug-in TaintNodesByCondition. */
function taintNotReady(object: ApiObject): ApiObject {
  const spec = objectAt(object, 'spec');
  const taints = listAt(spec, 'taints');
  const isTainted = taints.some(
    (taint) => taint['key'] === NOT_READY_TAINT.key && taint['effect'] === NOT_READY_TAINT.effect,
  );
  if (isTainted) return object;
  return { ...object, spec: { ...spec, taints: [...taints, NOT_READY_TAINT] } };
}

/** Dynamic kubelet configuration is gone; its field is dropped. */
function dropConfig(object: ApiObject): ApiObject {
  const status = objectAt(object, 'status');
  if (status['config'] === undefined) return object;
  return withMember(object, 'status', withoutMember(status, 'config'));
}

function nodeWarnings(object: ApiObject): readonly string[] {
  const spec = objectAt(object, 'spec');
  const warnings: string[] = [];
  if (isPresent(spec, 'configSource')) warnings.push('spec.configSource: the feature is removed');
  if (isPresent(spec, 'externalID')) {
    warnings.push('spec.externalID: this field is deprecated, and is unused by Kubernetes');
  }
  return warnings;
}
