/**
 * Requests and limits of containers: names, amounts, and no request above its limit.
 *
 * Differs from Kubernetes: claims of dynamic resources are not looked at.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import { compareQuantities, ZERO_QUANTITY, type Quantity } from '../../../objects/quantity.ts';
import type { FieldError } from '../../shared/resource.ts';
import { forbidden, invalid, invalidText, NO_ERRORS, required } from '../../shared/field-errors.ts';
import { EMPTY_OBJECT, objectAt } from '../../shared/json-edit.ts';
import { checkQualifiedName } from '../../shared/names.ts';
import { quantityOf } from '../../shared/resource-lists.ts';

const CONTAINER_RESOURCES: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage']);
const STANDARD_RESOURCES: ReadonlySet<string> = new Set([
  ...CONTAINER_RESOURCES,
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'storage',
  'count/pods',
]);

/** `resources` at `field`, of a container or of a whole pod, which may name fewer resources. */
export function validateResources(
  resources: JsonObject,
  field: string,
  validateName: (name: string, field: string) => readonly FieldError[] = validateContainerName,
): readonly FieldError[] {
  const limits = objectAt(resources, 'limits');
  const requests = objectAt(resources, 'requests');
  const errors: FieldError[] = [
    ...validateAmounts(limits, `${field}.limits`, validateName),
    ...validateAmounts(requests, `${field}.requests`, validateName),
    ...validateRequests(requests, limits, field),
  ];
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  if (names.some(isHugePages) && !names.includes('cpu') && !names.includes('memory')) {
    errors.push(forbidden(field, 'HugePages require cpu or memory'));
  }
  return errors;
}

function validateAmounts(
  list: JsonObject,
  field: string,
  validateName: (name: string, field: string) => readonly FieldError[],
): readonly FieldError[] {
  if (list === EMPTY_OBJECT) return NO_ERRORS;
  return Object.entries(list).flatMap(([name, text]) => {
    if (typeof text !== 'string') return [];
    const amountField = `${field}[${name}]`;
    return [...validateName(name, amountField), ...validateAmount(name, text, amountField)];
  });
}

function validateContainerName(name: string, field: string): readonly FieldError[] {
  if (CONTAINER_RESOURCES.has(name)) return NO_ERRORS;
  const errors: FieldError[] = [...validateResourceName(name, field)];
  if (!name.includes('/')) {
    if (isHugePages(name)) return errors;
    errors.push(invalid(field, name, 'must be a standard resource for containers'));
  } else if (!isNative(name) && !isExtended(name)) {
    errors.push(invalid(field, name, "doesn't follow extended resource name standard"));
  }
  return errors;
}

/** A name that a resource can have at all. */
export function validateResourceName(name: string, field: string): readonly FieldError[] {
  const problems = checkQualifiedName(name);
  if (problems.length > 0) return invalidText(field, name, problems);
  if (name.includes('/') || isHugePages(name) || STANDARD_RESOURCES.has(name)) return NO_ERRORS;
  return [invalid(field, name, 'must be a standard resource type or fully qualified')];
}

function isExtended(name: string): boolean {
  return !name.startsWith('requests.') && checkQualifiedName(`requests.${name}`).length === 0;
}

function validateAmount(name: string, text: string, field: string): readonly FieldError[] {
  const quantity = quantityOf(text);
  const errors: FieldError[] = [];
  if (compareQuantities(quantity, ZERO_QUANTITY) < 0) {
    errors.push(invalid(field, text, 'must be greater than or equal to 0'));
  }
  if (isHugePages(name) && !isDivisible(name, quantity)) {
    errors.push(invalid(field, text, `${text} is not positive integer multiple of ${name}`));
  }
  const isWholeOnly = name.includes('/') && !isNative(name);
  if (isWholeOnly && quantity.nanos % 1_000_000_000n !== 0n) {
    errors.push(invalid(field, text, 'must be an integer'));
  }
  return errors;
}

/** Huge pages come in pages. */
function isDivisible(name: string, amount: Quantity): boolean {
  const pageSize = quantityOf(name.slice('hugepages-'.length)).nanos;
  return pageSize > 0n && amount.nanos % pageSize === 0n;
}

/** Blames the whole list of requests, as there. */
function validateRequests(
  requests: JsonObject,
  limits: JsonObject,
  field: string,
): readonly FieldError[] {
  return Object.entries(requests).flatMap(([name, text]) => {
    if (typeof text !== 'string') return [];
    const limit = limits[name];
    const mayDiffer = isOvercommitAllowed(name);
    if (typeof limit !== 'string') {
      if (mayDiffer) return [];
      return [required(`${field}.limits`, 'Limit must be set for non overcommitable resources')];
    }
    if (limit === text) return [];
    const order = compareQuantities(quantityOf(text), quantityOf(limit));
    if (order === 0 || (mayDiffer && order < 0)) return [];
    const detail = mayDiffer ? 'less than or equal to' : 'equal to';
    return [invalid(`${field}.requests`, text, `must be ${detail} ${name} limit of ${limit}`)];
  });
}

/** Is this the name of huge pages of some size? */
export function isHugePages(name: string): boolean {
  return name.startsWith('hugepages-');
}

/** Of Kubernetes itself: no domain, or one of kubernetes.io. */
function isNative(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/');
}

function isOvercommitAllowed(name: string): boolean {
  return isNative(name) && !isHugePages(name);
}
