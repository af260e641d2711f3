/**
 * The quality-of-service class of a pod: Guaranteed, Burstable or BestEffort.
 *
 * It follows from cpu and memory of its containers, init ones too. Amounts of zero count as absent. The class is fixed when the pod is created.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import {
  addQuantities,
  compareQuantities,
  ZERO_QUANTITY,
  type Quantity,
} from '../../objects/quantity.ts';
import { listAt, objectAt } from '../shared/json-edit.ts';
import { isAboveZero, quantityAt } from '../shared/resource-lists.ts';

const NAMES = ['cpu', 'memory'] as const;

/** The class of a pod with this spec. */
export function qosClassOf(spec: JsonObject): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const requests = new Map<string, Quantity>();
  const limits = new Map<string, Quantity>();
  let hasAllLimits = true;
  for (const resources of resourcesOf(spec)) {
    const limited = objectAt(resources, 'limits');
    add(requests, objectAt(resources, 'requests'));
    add(limits, limited);
    hasAllLimits &&= NAMES.every((name) => isAboveZero(limited, name));
  }
  if (requests.size === 0 && limits.size === 0) return 'BestEffort';
  return hasAllLimits && isEqual(requests, limits) ? 'Guaranteed' : 'Burstable';
}

function resourcesOf(spec: JsonObject): readonly JsonObject[] {
  const containers = [...listAt(spec, 'containers'), ...listAt(spec, 'initContainers')];
  return containers.map((container) => objectAt(container, 'resources'));
}

function add(sums: Map<string, Quantity>, list: JsonObject): void {
  for (const name of NAMES) {
    if (!isAboveZero(list, name)) continue;
    sums.set(name, addQuantities(sums.get(name) ?? ZERO_QUANTITY, quantityAt(list, name)));
  }
}

function isEqual(
  requests: ReadonlyMap<string, Quantity>,
  limits: ReadonlyMap<string, Quantity>,
): boolean {
  if (requests.size !== limits.size) return false;
  return [...requests].every(([name, request]) => {
    const limit = limits.get(name);
    return limit !== undefined && compareQuantities(limit, request) === 0;
  });
}
