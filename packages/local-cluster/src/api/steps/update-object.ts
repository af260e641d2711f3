/**
 * Puts a new state in the place of an object: by PUT and PATCH, on the object and on its `view` subresources.
 *
 * Order: optimistic concurrency → fields that are the server's → prepareForUpdate → validation → removal, if this update
 * took the last finalizer of an object that is being deleted → store, which writes nothing when nothing changed.
 */
import type { ApiObject, Metadata } from '../../objects/api-object.ts';
import type { FieldError, Resource } from '../../resources/shared/resource.ts';
import type { Status } from '../request/api-request.ts';
import { isJsonObject } from '@rollcall/base/json.ts';
import type { Json } from '@rollcall/base/json.ts';
import { ownersOfUpdate, withOwners } from './object-owners.ts';
import { refOf } from './resource-call.ts';
import type { ObjectCall } from './resource-call.ts';
import { internal, invalid, modifiedMeanwhile } from '../request/statuses.ts';
import { kindSubject } from '../request/status-subject.ts';

/** The rules of an update: the resource's own, or a subresource's. */
export interface UpdateRules {
  readonly prepareForUpdate: (next: ApiObject, current: ApiObject) => ApiObject;
  readonly validateUpdate: (next: ApiObject, current: ApiObject) => readonly FieldError[];
  /** Views have none. */
  readonly warnings?: (next: ApiObject, current?: ApiObject) => readonly string[];
}

/** An update to be made. */
export interface Update {
  readonly current: ApiObject;
  /** Decoded and defaulted. */
  readonly next: ApiObject;
  readonly rules: UpdateRules;
  readonly isDryRun: boolean;
  /** Of an apply; otherwise the writer owns what it changed, where owners are kept. */
  readonly managedFields?: Json | undefined;
}

/** Makes it; the object as stored, or why not. */
export function updateObject(call: ObjectCall, update: Update): ApiObject | Status {
  const { resource, services } = call;
  const { current, rules, isDryRun } = update;
  const refusal = versionRefusal(resource, update);
  if (refusal !== undefined) return refusal;
  const next = withServerFields(update.next, current.metadata);
  const prepared = withOwners(
    rules.prepareForUpdate(next, current),
    current.metadata['managedFields'],
  );
  const errors = rules.validateUpdate(prepared, current);
  if (errors.length > 0) return invalid(kindSubject(resource, call.name), errors);
  if (isLastFinalizerGone(prepared, current)) {
    if (!isDryRun) services.store.remove(refOf(call));
    return prepared;
  }
  // A view changes what has no owners here.
  const isWhole = rules === resource.rules;
  const owned = isWhole
    ? withOwners(prepared, update.managedFields ?? ownersOfUpdate(call, current, prepared))
    : prepared;
  if (isDryRun) return owned;
  return services.store.replace(resource.resourceName, owned);
}

/**
 * Whether an update leaves nothing that holds an object back: it is being deleted, its grace is over, no finalizers.
 */
function isLastFinalizerGone(next: ApiObject, current: ApiObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = current.metadata;
  if (deletionTimestamp === undefined) return false;
  if ((next.metadata.finalizers ?? []).length > 0) return false;
  if (next.kind === 'Namespace' && hasSpecFinalizers(next)) return false;
  return deletionGracePeriodSeconds === undefined || deletionGracePeriodSeconds === 0;
}

/** Whether a namespace still has `spec.finalizers`. */
export function hasSpecFinalizers({ spec }: ApiObject): boolean {
  return isJsonObject(spec) && Array.isArray(spec.finalizers) && spec.finalizers.length > 0;
}

function versionRefusal(resource: Resource, { next, current }: Update): Status | undefined {
  const given = (next.metadata as Partial<Metadata>).resourceVersion ?? '';
  const { name, resourceVersion } = current.metadata;
  if (given === resourceVersion) return undefined;
  if (given === '' || given === '0') {
    if (resource.allowsUnconditionalUpdate) return undefined;
    return invalid({ group: resource.group, kind: resource.plural, name }, [
      {
        field: 'metadata.resourceVersion',
        type: 'FieldValueInvalid',
        value: 0,
        detail: 'must be specified for an update',
      },
    ]);
  }
  if (!/^\d+$/.test(given))
    return internal(`strconv.ParseUint: parsing "${given}": invalid syntax`);
  return modifiedMeanwhile(resource, name);
}

/** What no client sets, from the current state; a deletionTimestamp where there was none is left for validation. */
function withServerFields(next: ApiObject, current: Metadata): ApiObject {
  const given = next.metadata;
  if (given === current) return next;
  const { managedFields: _managedFields, generation: _generation, ...rest } = given;
  const uid: string | undefined = given.uid;
  const { deletionTimestamp, deletionGracePeriodSeconds, generation } = current;
  return {
    ...next,
    metadata: {
      ...rest,
      uid: uid === undefined || uid === '' ? current.uid : uid,
      resourceVersion: current.resourceVersion,
      creationTimestamp: current.creationTimestamp,
      ...(generation === undefined ? {} : { generation }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      ...(deletionGracePeriodSeconds === undefined || given.deletionGracePeriodSeconds !== undefined
        ? {}
        : { deletionGracePeriodSeconds }),
    },
  };
}
