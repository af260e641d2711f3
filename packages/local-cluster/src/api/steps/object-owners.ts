/** The owners of an object's fields as a create or an update leaves them, for the resources that keep them. */
import type { Json } from '@rollcall/base/json.ts';
import { formatTime } from '../../objects/timestamps.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import { afterUpdate, managerOf } from '../owners/managed-fields.ts';
import { apiVersionOf } from './render.ts';
import type { ResourceCall } from './resource-call.ts';

/** managedFields after a write that was no apply; undefined for resources whose fields have no owners here. */
export function ownersOfUpdate(
  { resource, services, request, query }: ResourceCall,
  current: ApiObject | undefined,
  next: ApiObject,
): Json | undefined {
  const struct = resource.keepsOwners ? services.schema.structOf(resource) : undefined;
  if (struct === undefined) return undefined;
  const manager = managerOf(request, query);
  const time = formatTime(services.clock.nowMs());
  const apiVersion = apiVersionOf(resource);
  return afterUpdate(current, next, {
    types: { schema: services.schema, struct },
    writer: { manager, operation: 'Update', apiVersion, time },
  });
}

/** The object with these owners. */
export function withOwners(object: ApiObject, managedFields: Json | undefined): ApiObject {
  const { managedFields: given, ...metadata } = object.metadata;
  if (given === managedFields) return object;
  const owned = managedFields === undefined ? metadata : { ...metadata, managedFields };
  return { ...object, metadata: owned }; // the other members are all there
}
