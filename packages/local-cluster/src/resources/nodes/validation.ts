/**
 * Validation of Nodes: names, taints, capacities, addresses, and the parts that stay once they are set.
 *
 * Differs from Kubernetes: the deprecated annotations for taints are not looked into.
 */
import { isIP } from 'node:net';
import type { JsonObject } from '@rollcall/base/json.ts';
import { compareQuantities, ZERO_QUANTITY } from '../../objects/quantity.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import type { FieldError } from '../shared/resource.ts';
import { equalJson, sameRaw } from '../shared/equal-json.ts';
import {
  at,
  duplicate,
  forbidden,
  invalid,
  invalidText,
  notSupported,
  required,
} from '../shared/field-errors.ts';
import { listAt, objectAt, textAt, textsAt } from '../shared/json-edit.ts';
import {
  CLUSTER_OBJECT,
  validateCoreMetadataUpdate,
  validateMetadata,
} from '../shared/metadata-validation.ts';
import { checkLabelValue, checkQualifiedName } from '../shared/names.ts';
import { quantityOf } from '../shared/resource-lists.ts';

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** A Node, new or changed. */
export function validateNode(object: ApiObject): readonly FieldError[] {
  return [
    ...validateMetadata(object, CLUSTER_OBJECT),
    ...validateTaints(object),
    ...validateResources(object),
    ...validatePodCidrs(textsAt(objectAt(object, 'spec'), 'podCIDRs')),
  ];
}

/** What a change of a Node or of its status may not do. */
export function validateNodeUpdate(next: ApiObject, current: ApiObject): readonly FieldError[] {
  return [
    ...validateCoreMetadataUpdate(next, current),
    ...validateResources(next),
    ...validateAddresses(next),
    ...validateImmutable(objectAt(next, 'spec'), objectAt(current, 'spec')),
    ...validateTaints(next),
  ];
}

function validatePodCidrs(cidrs: readonly string[]): readonly FieldError[] {
  const field = 'spec.podCIDRs';
  const families = cidrs.map(familyOf);
  const errors = cidrs.flatMap((cidr, index) =>
    families[index] === 0 ? [invalid(at(field, index), cidr, 'must be a valid CIDR value')] : [],
  );
  if (cidrs.length > 2 || (cidrs.length === 2 && families[0] === families[1])) {
    errors.push(invalid(field, cidrs, 'may specify no more than one CIDR for each IP family'));
  }
  return errors;
}

/** 4, 6, or 0 for what is no CIDR. */
function familyOf(cidr: string): number {
  const [address = '', bits = '', ...rest] = cidr.split('/');
  const family = isIP(address);
  const isValid =
    rest.length === 0 && /^\d+$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
  return isValid ? family : 0;
}

function validateTaints(object: ApiObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, taint] of listAt(objectAt(object, 'spec'), 'taints').entries()) {
    // The API server blames metadata, although taints are in the spec.
    const field = at('metadata.taints', index);
    const [key, value, effect] = [
      textAt(taint, 'key'),
      textAt(taint, 'value'),
      textAt(taint, 'effect'),
    ];
    errors.push(...invalidText(`${field}.key`, key, checkQualifiedName(key)));
    const problems = checkLabelValue(value);
    if (problems.length > 0) errors.push(invalid(`${field}.value`, value, problems.join(';')));
    if (effect === '') errors.push(required(`${field}.effect`));
    else if (!EFFECTS.includes(effect))
      errors.push(notSupported(`${field}.effect`, effect, EFFECTS));
    const identity = `${effect}/${key}`;
    if (seen.has(identity)) errors.push(duplicate(field, taint));
    seen.add(identity);
  }
  return errors;
}

function validateResources(object: ApiObject): readonly FieldError[] {
  const status = objectAt(object, 'status');
  return ['capacity', 'allocatable'].flatMap((kind) =>
    Object.entries(objectAt(status, kind)).flatMap(([name, value]) => {
      if (typeof value !== 'string') return [];
      const field = `status.${kind}.${name}`;
      const quantity = quantityOf(value);
      if (compareQuantities(quantity, ZERO_QUANTITY) < 0) {
        return [invalid(field, value, 'must be greater than or equal to 0')];
      }
      if (!isWholeOnly(name) || quantity.nanos % 1_000_000_000n === 0n) return [];
      return [invalid(field, value, 'must be an integer')];
    }),
  );
}

/** Extended resources and counted ones come in whole numbers. */
function isWholeOnly(name: string): boolean {
  return name === 'pods' || (name.includes('/') && !/^([^/]*\.)?kubernetes\.io\//.test(name));
}

function validateAddresses(object: ApiObject): readonly FieldError[] {
  const addresses = listAt(objectAt(object, 'status'), 'addresses');
  return addresses.flatMap((address, index) =>
    addresses.slice(0, index).some((earlier) => sameRaw(earlier, address))
      ? [duplicate(at('status.addresses', index), address)]
      : [],
  );
}

function validateImmutable(next: JsonObject, current: JsonObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  const [after, before] = [textsAt(next, 'podCIDRs'), textsAt(current, 'podCIDRs')];
  const detail = 'node updates may not change podCIDR except from "" to valid';
  if (before.length > 0) {
    if (before.length !== after.length) errors.push(forbidden('spec.podCIDRs', detail));
    else {
      const changed = before.filter((cidr, index) => cidr !== after[index]);
      errors.push(...changed.map(() => forbidden('spec.podCIDRs', detail)));
    }
  }
  const provider = textAt(current, 'providerID');
  if (provider !== '' && provider !== textAt(next, 'providerID')) {
    errors.push(forbidden('spec.providerID', 'node updates may not change providerID'));
  }
  if (!equalJson(next['externalID'], current['externalID'])) {
    errors.push(forbidden('spec.externalID', 'may not be updated'));
  }
  return errors;
}
