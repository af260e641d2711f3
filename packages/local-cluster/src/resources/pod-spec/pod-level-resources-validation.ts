/**
 * Resources of a whole pod (`spec.resources`): cpu, memory and huge pages only, and room for what its containers ask.
 *
 * The pod's requests cover those of all containers together; no single container's limit exceeds the pod's. A resource
 * that the pod does not name leaves its containers free. That limits are not below requests, and amounts are whole
 * where they must be, is the common rule (resources-validation).
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import { compareQuantities, formatQuantity } from '../../objects/quantity.ts';
import type { FieldError } from '../shared/resource.ts';
import { at, invalid, notSupported } from '../shared/field-errors.ts';
import { listAt, objectAt, textEntriesAt } from '../shared/json-edit.ts';
import { quantityOf } from '../shared/resource-lists.ts';
import { effectiveRequestsOf } from './effective-requests.ts';
import {
  isHugePages,
  validateResourceName,
  validateResources,
} from './containers/resources-validation.ts';

const SUPPORTED = ['cpu', 'hugepages-', 'memory'];

/** May a whole pod name this resource? */
export function isPodLevelResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || isHugePages(name);
}

/** `resources` of the spec, at `field`. */
export function validatePodLevelResources(
  spec: JsonObject,
  resources: JsonObject,
  field: string,
): readonly FieldError[] {
  return [
    ...validateResources(resources, field, validateName),
    ...validateRequests(spec, resources, `${field}.requests`),
    ...validateLimits(spec, resources, field),
  ];
}

function validateName(name: string, field: string): readonly FieldError[] {
  const errors = validateResourceName(name, field);
  if (errors.length > 0 || isPodLevelResource(name)) return errors;
  return [notSupported(field, name, SUPPORTED)];
}

function validateRequests(
  spec: JsonObject,
  resources: JsonObject,
  field: string,
): readonly FieldError[] {
  const requests = objectAt(resources, 'requests');
  return [...effectiveRequestsOf(spec)].flatMap(([name, sum]) => {
    const request = requests[name];
    if (typeof request !== 'string' || compareQuantities(sum, quantityOf(request)) <= 0) return [];
    const detail = `must be greater than or equal to aggregate container requests of ${formatQuantity(sum)}`;
    return [invalid(`${field}[${name}]`, request, detail)];
  });
}

function validateLimits(
  spec: JsonObject,
  resources: JsonObject,
  field: string,
): readonly FieldError[] {
  const limits = objectAt(resources, 'limits');
  return listAt(spec, 'containers').flatMap((container, index) =>
    textEntriesAt(objectAt(container, 'resources'), 'limits').flatMap(([name, text]) => {
      const limit = limits[name];
      if (typeof limit !== 'string') return [];
      if (compareQuantities(quantityOf(text), quantityOf(limit)) <= 0) return [];
      // The path is the API server's.
      const limitField = `${at(`${field}.containers`, index)}[${name}].limits`;
      return [invalid(limitField, text, `must be less than or equal to pod limits of ${limit}`)];
    }),
  );
}
