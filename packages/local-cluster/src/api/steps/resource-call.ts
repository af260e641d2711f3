/**
 * One request for a resource that exists, with everything its verb needs: the internal argument of all verbs.
 *
 * `namespace` is there for namespaced resources alone; without it, all namespaces are meant.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import { formatTime } from '../../objects/timestamps.ts';
import type { ApiObject, ObjectRef } from '../../objects/api-object.ts';
import type { Resource, RuleContext } from '../../resources/shared/resource.ts';
import type { Schema } from '../../schema/schema.ts';
import type { Store } from '../../store/store.ts';
import type { ApiRequest } from '../request/api-request.ts';
import type { OutputForm } from '../request/output-form.ts';

/** What all verbs share. */
export interface ApiServices {
  readonly store: Store;
  readonly schema: Schema;
  readonly clock: Clock;
  readonly random: Random;
}

/** A request, resolved. */
export interface ResourceCall {
  readonly services: ApiServices;
  readonly request: ApiRequest;
  readonly query: URLSearchParams;
  readonly resource: Resource;
  readonly namespace?: string;
  readonly output: OutputForm;
}

/** A request that names an object. */
export interface ObjectCall extends ResourceCall {
  readonly name: string;
}

/** The key of the object that a call names. */
export function refOf(call: ObjectCall): ObjectRef {
  return refIn(call, call.name);
}

/** The key of an object of the call's collection. */
export function refIn({ resource, namespace }: ResourceCall, name: string): ObjectRef {
  return {
    resource: resource.resourceName,
    ...(resource.isNamespaced && namespace !== undefined ? { namespace } : {}),
    name,
  };
}

/** The object that a call names, as it is stored. */
export function storedObject(call: ObjectCall): ApiObject | undefined {
  const stored = call.services.store.get(refOf(call));
  return stored === undefined ? undefined : inVersionOf(call.resource, stored);
}

/** An object of a custom kind in the version that is asked for: versions differ in their names alone. */
export function inVersionOf(resource: Resource, object: ApiObject): ApiObject {
  const apiVersion = `${resource.group}/${resource.version}`;
  if (resource.custom === undefined || object.apiVersion === apiVersion) return object;
  return { ...object, apiVersion };
}

/** What rules may look at. */
export function ruleContext({ store, clock, random }: ApiServices): RuleContext {
  return {
    nowText: formatTime(clock.nowMs()),
    read: (ref) => store.get(ref),
    uniqueId: () => random.uniqueId(),
  };
}
