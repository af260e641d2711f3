/**
 * Pods: defaults, what is prepared and validated, the grace of a deletion; admission and actions are files beside this one.
 *
 * A new pod is Pending whatever its status said, and has its QoS class for good. How long a deletion waits is decided here: a
 * pod that is not bound, or has ended, goes at once; any other waits for its node agent's final DELETE.
 *
 * Differs from Kubernetes: of an update everything but images, tolerations, the active deadline and scheduling gates is refused,
 * and how those change is not looked at; a status is taken as it is; `matchLabelKeys` fill in no selectors.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import { applyPodSpecDefaults } from '../pod-spec/defaults.ts';
import { validatePodSpec } from '../pod-spec/validation.ts';
import {
  defineResource,
  keepSpec,
  keepStatus,
  statusView,
  withGeneration,
  withStatus,
} from '../shared/define-resource.ts';
import { equalJson } from '../shared/equal-json.ts';
import { forbidden } from '../shared/field-errors.ts';
import {
  editItemsAt,
  editObjectAt,
  isPresent,
  listAt,
  numberAt,
  objectAt,
  optionalObjectAt,
  textAt,
  withDefaults,
  withMember,
} from '../shared/json-edit.ts';
import type { FieldError, Resource, RuleContext } from '../shared/resource.ts';
import { BINDING, EVICTION } from './actions.ts';
import { admitPod, withDefaultTolerations } from './admission.ts';
import { qosClassOf } from './qos-class.ts';

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
    applyDefaults,
    admit: admitPod,
    prepareForCreate,
    validateCreate: (pod) => validatePodSpec(objectAt(pod, 'spec'), 'spec'),
    prepareForUpdate,
    validateUpdate,
    deletionGraceSeconds,
  },
  subresources: [statusView({ prepareForUpdate: prepareStatus }), BINDING, EVICTION],
  selectableFields,
});

function applyDefaults(pod: ApiObject): ApiObject {
  const spec = optionalObjectAt(pod, 'spec');
  const defaulted = spec === undefined ? pod : withMember(pod, 'spec', withSpecDefaults(spec));
  return editObjectAt(defaulted, 'status', alignPodIps);
}

/** Beyond those of every pod spec: requests from limits, ports of the host, service links. */
function withSpecDefaults(spec: JsonObject): JsonObject {
  let result = withDefaults(spec, { enableServiceLinks: true });
  for (const list of ['containers', 'initContainers']) {
    result = editItemsAt(result, list, withRequests);
    if (result['hostNetwork'] === true) result = editItemsAt(result, list, withHostPorts);
  }
  if ((numberAt(result, 'terminationGracePeriodSeconds') ?? 0) < 0) {
    result = { ...result, terminationGracePeriodSeconds: 1 };
  }
  return applyPodSpecDefaults(result);
}

function withRequests(container: JsonObject): JsonObject {
  return editObjectAt(container, 'resources', (resources) => {
    const limits = optionalObjectAt(resources, 'limits');
    if (limits === undefined) return resources;
    const requests = objectAt(resources, 'requests');
    const filled = withDefaults(requests, limits);
    return filled === requests ? resources : { ...resources, requests: filled };
  });
}

function withHostPorts(container: JsonObject): JsonObject {
  return editItemsAt(container, 'ports', (port) =>
    withDefaults(port, { hostPort: numberAt(port, 'containerPort') ?? 0 }),
  );
}

/** The first of the addresses is also the single one, which wins when they differ. */
function alignPodIps(status: JsonObject): JsonObject {
  const single = textAt(status, 'podIP');
  const [first] = listAt(status, 'podIPs');
  const firstIp = first === undefined ? '' : textAt(first, 'ip');
  if (single === firstIp) return status;
  return single === '' ? { ...status, podIP: firstIp } : { ...status, podIPs: [{ ip: single }] };
}

const GATED_CONDITION = {
  lastProbeTime: null,
  message: 'Scheduling is blocked due to non-empty scheduling gates',
  reason: 'SchedulingGated',
  status: 'False',
  type: 'PodScheduled',
};

function prepareForCreate(pod: ApiObject, { nowText }: RuleContext): ApiObject {
  const spec = objectAt(pod, 'spec');
  const isGated = listAt(spec, 'schedulingGates').length > 0;
  const status = {
    phase: 'Pending',
    qosClass: qosClassOf(spec),
    ...(isGated ? { conditions: [{ ...GATED_CONDITION, lastTransitionTime: nowText }] } : {}),
  };
  return withGeneration(withStatus(pod, status), 1);
}

/** Keeps the status and the priority that admission gave; another spec is another generation. */
function prepareForUpdate(asked: ApiObject, current: ApiObject): ApiObject {
  const before = objectAt(current, 'spec');
  const { priority, preemptionPolicy } = before;
  const spec = withDefaults(objectAt(asked, 'spec'), {
    ...(priority === undefined ? {} : { priority }),
    ...(preemptionPolicy === undefined ? {} : { preemptionPolicy }),
  });
  const kept = withMember(keepStatus(asked, current), 'spec', spec);
  const next = withDefaultTolerations(kept);
  if (equalJson(next['spec'], before)) return next;
  return withGeneration(next, (current.metadata.generation ?? 0) + 1);
}

function validateUpdate(next: ApiObject, current: ApiObject): readonly FieldError[] {
  const [after, before] = [objectAt(next, 'spec'), objectAt(current, 'spec')];
  // A spec that is the stored one has been looked at before.
  if (after === before) return [];
  const detail =
    'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';
  const resized = ['containers', 'initContainers'].find(
    (list) => listAt(after, list).length !== listAt(before, list).length,
  );
  const errors = validatePodSpec(after, 'spec');
  if (resized !== undefined) {
    const why = 'pod updates may not add or remove containers';
    return [...errors, forbidden(`spec.${resized}`, why)];
  }
  return [
    ...errors,
    ...(equalJson(withUpdatableOf(after, before), before) ? [] : [forbidden('spec', detail)]),
  ];
}

/** The new spec with all that may differ put back. */
function withUpdatableOf(after: JsonObject, before: JsonObject): JsonObject {
  let result: JsonObject = after;
  for (const list of ['containers', 'initContainers']) {
    const old = listAt(before, list);
    let index = 0;
    result = editItemsAt(result, list, (container) =>
      withMember(container, 'image', textAt(old[index++] ?? {}, 'image')),
    );
  }
  for (const key of ['activeDeadlineSeconds', 'schedulingGates', 'tolerations']) {
    result = { ...result, [key]: before[key] };
  }
  return result;
}

/** Node agents write a status: owners and a deletion stay, and class and observed generation where they are left out. */
function prepareStatus(next: ApiObject, current: ApiObject): ApiObject {
  const kept = keepSpec(next, current);
  const metadata = membersOf(current.metadata, ['ownerReferences', 'deletionTimestamp']);
  const observed = membersOf(objectAt(current, 'status'), ['qosClass', 'observedGeneration']);
  return {
    ...kept,
    metadata: { ...kept.metadata, ...metadata },
    status: withDefaults(objectAt(next, 'status'), observed),
  };
}

function membersOf(object: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(
    keys.filter((key) => isPresent(object, key)).map((key) => [key, object[key]]),
  );
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
