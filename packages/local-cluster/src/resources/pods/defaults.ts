/**
 * Defaults of pods, beyond those of every pod spec: requests from limits, ports of the host, service links.
 *
 * Differs from Kubernetes: a whole pod's limits of huge pages are not summed up from its containers.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import { formatQuantity } from '../../objects/quantity.ts';
import { applyPodSpecDefaults } from '../pod-spec/defaults/defaults.ts';
import { effectiveRequestsOf } from '../pod-spec/effective-requests.ts';
import { isPodLevelResource } from '../pod-spec/pod-level-resources-validation.ts';
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
  result = podLevelRequests(result);
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

/** A pod with limits of its own requests what its containers ask together, or else those limits. */
function podLevelRequests(spec: JsonObject): JsonObject {
  const resources = objectAt(spec, 'resources');
  const limits = objectAt(resources, 'limits');
  if (Object.keys(limits).length === 0) return spec;
  const requests = objectAt(resources, 'requests');
  const defaults: Record<string, string> = {};
  for (const [name, text] of Object.entries(limits)) {
    if (isPodLevelResource(name) && typeof text === 'string') defaults[name] = text;
  }
  for (const [name, sum] of effectiveRequestsOf(spec)) {
    if (name === 'cpu' || name === 'memory') defaults[name] = formatQuantity(sum);
  }
  const filled = withDefaults(requests, defaults);
  if (filled === requests) return spec;
  return { ...spec, resources: { ...resources, requests: filled } };
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
