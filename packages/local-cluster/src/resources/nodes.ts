/**
 * Nodes: tainted not-ready when they register (admission plug-in TaintNodesByCondition), so that nothing lands on them before
 * they report Ready. When the taint goes is the node lifecycle controller's matter.
 *
 * Differs from Kubernetes: taints, addresses, capacities and pod CIDRs are taken as they are.
 */
import type { ApiObject } from '../objects/api-object.ts';
import { defineResource, keepStatus, statusView } from './shared/define-resource.ts';
import { editObjectAt, isPresent, listAt, objectAt } from './shared/json-edit.ts';
import type { Resource } from './shared/resource.ts';

const NOT_READY_TAINT = { effect: 'NoSchedule', key: 'node.kubernetes.io/not-ready' };

/** nodes. */
export const NODES: Resource = defineResource({
  group: '',
  plural: 'nodes',
  singular: 'node',
  kind: 'Node',
  shortNames: ['no'],
  isNamespaced: false,
  keepsOwners: false,
  rules: { applyDefaults, admit: taintNotReady, prepareForUpdate: keepStatus },
  subresources: [statusView()],
  selectableFields: (object) => ({
    'spec.unschedulable': String(objectAt(object, 'spec')['unschedulable'] === true),
  }),
});

/** What is allocatable, when only the capacity is said. */
function applyDefaults(object: ApiObject): ApiObject {
  return editObjectAt(object, 'status', (status) =>
    isPresent(status, 'allocatable') || status['capacity'] === undefined
      ? status
      : { ...status, allocatable: status['capacity'] },
  );
}

function taintNotReady(object: ApiObject): ApiObject {
  const spec = objectAt(object, 'spec');
  const taints = listAt(spec, 'taints');
  const isTainted = taints.some(
    (taint) => taint['key'] === NOT_READY_TAINT.key && taint['effect'] === NOT_READY_TAINT.effect,
  );
  if (isTainted) return object;
  return { ...object, spec: { ...spec, taints: [...taints, NOT_READY_TAINT] } };
}
