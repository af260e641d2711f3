/**
 * What a pod's containers ask for together: the sum of those that run side by side, or what an init container needs
 * while the sidecars before it run, whichever is more.
 *
 * A sidecar is an init container with restartPolicy Always; it counts from its place on and then for good. Requests
 * alone are read: overhead and requests of the pod as a whole are the caller's. Serves defaults and validation of the
 * latter; scheduler and node agent count in numbers of their own.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import { addQuantities, compareQuantities, type Quantity } from '../../objects/quantity.ts';
import { listAt, objectAt, textAt, textEntriesAt } from '../shared/json-edit.ts';
import { quantityOf } from '../shared/resource-lists.ts';

/** Requests of the containers of this spec, by resource. */
export function effectiveRequestsOf(spec: JsonObject): ReadonlyMap<string, Quantity> {
  const total = new Map<string, Quantity>();
  for (const container of listAt(spec, 'containers')) add(total, requestsOf(container));
  const sidecars = new Map<string, Quantity>();
  const starting = new Map<string, Quantity>();
  for (const container of listAt(spec, 'initContainers')) {
    const requests = requestsOf(container);
    const needed = new Map(sidecars);
    add(needed, requests);
    if (textAt(container, 'restartPolicy') === 'Always') {
      add(total, requests);
      add(sidecars, requests);
    }
    raise(starting, needed);
  }
  raise(total, starting);
  return total;
}

function requestsOf(container: JsonObject): ReadonlyMap<string, Quantity> {
  const requests = textEntriesAt(objectAt(container, 'resources'), 'requests');
  return new Map(requests.map(([name, text]) => [name, quantityOf(text)]));
}

function add(sums: Map<string, Quantity>, added: ReadonlyMap<string, Quantity>): void {
  for (const [name, quantity] of added) {
    const sum = sums.get(name);
    sums.set(name, sum === undefined ? quantity : addQuantities(sum, quantity));
  }
}

function raise(highest: Map<string, Quantity>, others: ReadonlyMap<string, Quantity>): void {
  for (const [name, quantity] of others) {
    const known = highest.get(name);
    if (known === undefined || compareQuantities(known, quantity) < 0) highest.set(name, quantity);
  }
}
