/**
 * Pods: the resource that everything here is about. The rules of this folder, put together: defaults, admission,
 * validation and views are files of their own.
 *
 * A new pod is Pending whatever its status said, and has its QoS class for good. How long a deletion waits is decided
 * here: a pod that is not bound, or has ended, goes at once; any other waits for its node agent's final DELETE (spec
 * node-agent 8). Binding and eviction are subresources; ephemeral containers and resizes have none here.
 */
import type { ApiObject } from '../../objects/api-object.ts';
import { dropDisabledFields } from '../pod-spec/defaults/disabled-fields.ts';
import { podWarnings } from '../pod-spec/warnings/warnings.ts';
import { defineResource, withGeneration, withStatus } from '../shared/define-resource.ts';
import type { Resource, RuleContext } from '../shared/resource.ts';
import { editObjectAt, listAt, numberAt, objectAt, textAt } from '../shared/json-edit.ts';
import { checkLabel } from '../shared/names.ts';
import { admitPod } from './admission/admission.ts';
import { BINDING } from './binding.ts';
import { applyPodDefaults } from './defaults.ts';
import { EVICTION } from './eviction.ts';
import { preparePodUpdate } from './generation.ts';
import { refuseOverhead } from './admission/runtime-class-admission.ts';
import { qosClassOf } from './qos-class.ts';
import { withLabelKeysApplied } from './label-keys.ts';
import { POD_STATUS_VIEW } from './status/status-view.ts';
import { validatePodUpdate } from './update-validation.ts';
import { validatePod } from './validation.ts';

/** pods. */
export const PODS: Resource = defineResource({
  group: '',
  plural: 'pods',
  singular: 'pod',
  kind: 'Pod',
  shortNames: ['po'],
  categories: ['all'],
  isNamespaced: true,
  keepsOwners: false,
  rules: {
    applyDefaults: applyPodDefaults,
    admit: admitPod,
    refuse: refuseOverhead,
    prepareForCreate,
    validateCreate: validatePod,
    prepareForUpdate: preparePodUpdate,
    validateUpdate: validatePodUpdate,
    warnings: createWarnings,
    deletionGraceSeconds,
  },
  subresources: [POD_STATUS_VIEW, BINDING, EVICTION],
  selectableFields,
});

const GATED_CONDITION = {
  lastProbeTime: null,
  message: 'Scheduling is blocked due to non-empty scheduling gates',
  reason: 'SchedulingGated',
  status: 'False',
  type: 'PodScheduled',
};

function prepareForCreate(asked: ApiObject, { nowText }: RuleContext): ApiObject {
  const pod = withLabelKeysApplied(editObjectAt(asked, 'spec', dropDisabledFields));
  const spec = objectAt(pod, 'spec');
  const status = { phase: 'Pending', qosClass: qosClassOf(spec) };
  const isGated = listAt(spec, 'schedulingGates').length > 0;
  return withGeneration(
    withStatus(
      pod,
      isGated
        ? { ...status, conditions: [{ ...GATED_CONDITION, lastTransitionTime: nowText }] }
        : status,
    ),
    1,
  );
}

/** Updates raise none: they come from controllers, not from people. */
function createWarnings(pod: ApiObject, current?: ApiObject): readonly string[] {
  if (current !== undefined) return [];
  const problems = checkLabel(pod.metadata.name);
  const name =
    problems.length === 0
      ? []
      : [
          `metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [${problems.join(' ')}]`,
        ];
  return [...name, ...podWarnings(pod, '')];
}

/** A pod that never ran, or has ended, goes at once. */
function deletionGraceSeconds(pod: ApiObject, requestedSeconds: number | undefined): number {
  const spec = objectAt(pod, 'spec');
  const phase = textAt(objectAt(pod, 'status'), 'phase');
  if (textAt(spec, 'nodeName') === '' || phase === 'Failed' || phase === 'Succeeded') return 0;
  const graceSeconds = requestedSeconds ?? numberAt(spec, 'terminationGracePeriodSeconds') ?? 0;
  return graceSeconds < 0 ? 1 : graceSeconds;
}

function selectableFields(pod: ApiObject): Readonly<Record<string, string>> {
  const [spec, status] = [objectAt(pod, 'spec'), objectAt(pod, 'status')];
  const [first] = listAt(status, 'podIPs');
  return {
    'spec.nodeName': textAt(spec, 'nodeName'),
    'spec.restartPolicy': textAt(spec, 'restartPolicy'),
    'spec.schedulerName': textAt(spec, 'schedulerName'),
    'spec.serviceAccountName': textAt(spec, 'serviceAccountName'),
    'spec.hostNetwork': String(spec['hostNetwork'] === true),
    'status.phase': textAt(status, 'phase'),
    'status.podIP': first === undefined ? '' : textAt(first, 'ip'),
    'status.nominatedNodeName': textAt(status, 'nominatedNodeName'),
  };
}
