/**
 * References from a pod to itself (`fieldRef`, `resourceFieldRef`), in variables and in files of the downward API.
 *
 * Which paths may be named depends on the place: files can be rewritten and see labels and annotations, variables
 * cannot and see what is fixed once the pod is bound. A single label or annotation may be named in both. A divisor is
 * one of a fixed list. What the reference resolves to is the node agent's matter.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import { compareQuantities, formatQuantity, ZERO_QUANTITY } from '../../../objects/quantity.ts';
import type { FieldError } from '../../shared/resource.ts';
import {
  invalid,
  invalidText,
  NO_ERRORS,
  notSupported,
  required,
} from '../../shared/field-errors.ts';
import { textAt } from '../../shared/json-edit.ts';
import { checkQualifiedName } from '../../shared/names.ts';
import { quantityOf } from '../../shared/resource-lists.ts';

/** Paths that variables may name. */
export const VARIABLE_PATHS: readonly string[] = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];
/** Paths that files may name. */
export const FILE_PATHS: readonly string[] = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];

/** Paths that exist at all. */
const KNOWN_PATHS: ReadonlySet<string> = new Set([
  ...VARIABLE_PATHS,
  ...FILE_PATHS,
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
]);
const RESOURCES = ['cpu', 'ephemeral-storage', 'memory'].flatMap((name) => [
  `limits.${name}`,
  `requests.${name}`,
]);
const BYTE_DIVISORS: ReadonlySet<string> = new Set(
  '1 1k 1M 1G 1T 1P 1E 1Ki 1Mi 1Gi 1Ti 1Pi 1Ei'.split(' '),
);
const CPU_DIVISORS: ReadonlySet<string> = new Set(['1m', '1']);

/** A `fieldRef` at `field` that may name one of these paths. */
export function validateFieldReference(
  reference: JsonObject,
  field: string,
  paths: readonly string[],
): readonly FieldError[] {
  const path = textAt(reference, 'fieldPath');
  const version = textAt(reference, 'apiVersion');
  if (version === '') return [required(`${field}.apiVersion`)];
  if (path === '') return [required(`${field}.fieldPath`)];
  const subscripted = /^(metadata\.(?:annotations|labels))\['(.*)'\]$/.exec(path);
  if (version === 'v1' && subscripted !== null) {
    const [, map, key = ''] = subscripted;
    const name = map === 'metadata.annotations' ? key.toLowerCase() : key;
    return invalidText(field, key, checkQualifiedName(name));
  }
  if (version !== 'v1' || !isKnown(path)) {
    return [invalid(`${field}.fieldPath`, path, 'error converting fieldPath')];
  }
  const internal = path === 'spec.host' ? 'spec.nodeName' : path;
  return paths.includes(internal) ? NO_ERRORS : [notSupported(`${field}.fieldPath`, path, paths)];
}

function isKnown(path: string): boolean {
  return KNOWN_PATHS.has(path) || path === 'spec.host';
}

/** A `resourceFieldRef` at `field`; in a file it must say of which container. */
export function validateResourceReference(
  reference: JsonObject,
  field: string,
  place: 'variable' | 'file',
): readonly FieldError[] {
  const resource = textAt(reference, 'resource');
  const errors: FieldError[] = [];
  if (place === 'file' && textAt(reference, 'containerName') === '') {
    errors.push(required(`${field}.containerName`));
  } else if (resource === '') {
    errors.push(required(`${field}.resource`));
  } else if (!RESOURCES.includes(resource) && !isHugePages(resource)) {
    errors.push(notSupported(`${field}.resource`, resource, RESOURCES));
  }
  return [...errors, ...validateDivisor(reference, field)];
}

function validateDivisor(reference: JsonObject, field: string): readonly FieldError[] {
  const divisor = quantityOf(textAt(reference, 'divisor'));
  if (compareQuantities(divisor, ZERO_QUANTITY) === 0) return NO_ERRORS;
  const resource = textAt(reference, 'resource');
  if (!RESOURCES.includes(resource) && !isHugePages(resource)) return NO_ERRORS;
  const allowed = resource.endsWith('.cpu') ? CPU_DIVISORS : BYTE_DIVISORS;
  if (allowed.has(formatQuantity(divisor))) return NO_ERRORS;
  return [
    invalid(
      `${field}.divisor`,
      resource,
      `only divisor's values ${[...allowed].join(', ')} are supported`,
    ),
  ];
}

function isHugePages(resource: string): boolean {
  return resource.startsWith('limits.hugepages-') || resource.startsWith('requests.hugepages-');
}
