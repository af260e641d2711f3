/**
 * Defaults of pods, beyond those of every pod spec: requests from limits, ports of the host, service links.
 *
 * Differs from upstream: of pod-level resources only requests equal to limits are filled in, not sums over containers.
 */
import type { JsonObject } from '../../../../core/model/json.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import { applyPodSpecDefaults } from '../pod-spec/defaults.ts';
import {
  editItemsAt,
  editObjectAt,
  listAt,
  numberAt,
  objectAt,
  optionalObjectAt,
  textAt,
  withDefaults,
  withMember,
} from '../shared/json-edit.ts';

const LINK_DEFAULTS = { enableServiceLinks: true };

/** A pod with its defaults; the same object when it has them. */
export function applyPodDefaults(pod: ApiObject): ApiObject {
  const spec = optionalObjectAt(pod, 'spec');
  const defaulted = spec === undefined ? pod : withMember(pod, 'spec', applySpecDefaults(spec));
  return editObjectAt(defaulted, 'status', alignPodIps);
}

function applySpecDefaults(spec: JsonObject): JsonObject {
  let result = editItemsAt(spec, 'containers', requestsFromLimits);
  result = editItemsAt(result, 'initContainers', requestsFromLimits);
  result = editObjectAt(result, 'resources', limitsAsRequests);
  result = withDefaults(result, LINK_DEFAULTS);
  if (result['hostNetwork'] === true) {
    result = editItemsAt(result, 'containers', hostPorts);
    result = editItemsAt(result, 'initContainers', hostPorts);
  }
  if ((numberAt(result, 'terminationGracePeriodSeconds') ?? 0) < 0) {
    result = { ...result, terminationGracePeriodSeconds: 1 };
  }
  return applyPodSpecDefaults(result);
}

function requestsFromLimits(container: JsonObject): JsonObject {
  return editObjectAt(container, 'resources', limitsAsRequests);
}

function limitsAsRequests(resources: JsonObject): JsonObject {
  const limits = optionalObjectAt(resources, 'limits');
  if (limits === undefined) return resources;
  const requests = objectAt(resources, 'requests');
  const filled = withDefaults(requests, limits);
  return filled === requests ? resources : { ...resources, requests: filled };
}

function hostPorts(container: JsonObject): JsonObject {
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
