/**
 * Addresses in a pod's status: IP addresses, at most one of each family, the host's first one said twice.
 */
import { isIP } from 'node:net';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { FieldError } from '../../shared/resource.ts';
import { at, invalid, NO_ERRORS } from '../../shared/field-errors.ts';
import { listAt, textAt } from '../../shared/json-edit.ts';

/** The addresses of pod and host. */
export function validateAddresses(after: JsonObject, before: JsonObject): readonly FieldError[] {
  return [
    ...validateHostIp(after),
    ...['podIPs', 'hostIPs'].flatMap((list) =>
      // What was stored before is not judged again.
      after[list] === before[list]
        ? NO_ERRORS
        : validateList(listAt(after, list), `status.${list}`),
    ),
  ];
}

function validateHostIp(status: JsonObject): readonly FieldError[] {
  const [first] = listAt(status, 'hostIPs');
  if (first === undefined || textAt(first, 'ip') === textAt(status, 'hostIP')) return NO_ERRORS;
  return [invalid('status.hostIPs[0].ip', textAt(first, 'ip'), 'must be equal to `hostIP`')];
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
  return errors;
}
