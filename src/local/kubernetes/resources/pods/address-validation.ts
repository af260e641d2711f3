/**
 * Addresses in a pod's status: IP addresses, none twice, at most one of each family.
 */
import { isIP } from 'node:net';
import type { JsonObject } from '../../../../core/model/json.ts';
import type { FieldError } from '../resource.ts';
import { at, duplicate, invalid, NO_ERRORS } from '../shared/field-errors.ts';
import { listAt, textAt } from '../shared/json-edit.ts';

/** The addresses of pod and host. */
export function validateAddresses(input: {
  readonly after: JsonObject;
  readonly before: JsonObject;
  readonly spec: JsonObject;
}): readonly FieldError[] {
  return ['podIPs', 'hostIPs'].flatMap((list) => {
    // What was stored before is not judged again.
    if (input.after[list] === input.before[list]) return NO_ERRORS;
    return validateList(listAt(input.after, list), `status.${list}`);
  });
}

function validateList(items: readonly JsonObject[], field: string): readonly FieldError[] {
  const addresses = items.map((item) => textAt(item, 'ip'));
  const errors = addresses.flatMap((address, index) =>
    isIP(address) === 0 ? [invalid(at(field, index), address, 'must be a valid IP address')] : [],
  );
  const families = addresses.map((address) => isIP(address));
  if (addresses.length > 1 && (addresses.length > 2 || new Set(families).size === 1)) {
    errors.push(invalid(field, addresses, 'may specify no more than one IP for each IP family'));
  }
  for (const [index, address] of addresses.entries()) {
    if (addresses.indexOf(address) < index) errors.push(duplicate(at(field, index), address));
  }
  return errors;
}
