/**
 * Deletes objects: grace, finalizers, propagation, namespaces. The rules are the real registry's.
 *
 *     preconditions ── grace > 0 ──────────────► deletionTimestamp = now + grace, stays until its owner ends it
 *          │
 *          ├─ finalizers, or propagation adds one ► deletionTimestamp, grace 0, stays until the last finalizer goes
 *          │
 *          └─ otherwise ───────────────────────► gone
 *
 * Grace may only shorten later. A graceful resource that is deleted at once is first written with grace 0, so watchers
 * see that, then the deletion. Namespaces wait for `spec.finalizers`.
 */
import { isJsonObject } from '@rollcall/base/json.ts';
import { formatTime, parseTime } from '../../objects/timestamps.ts';
import type { ApiObject, Metadata } from '../../objects/api-object.ts';
import type { Status } from '../request/api-request.ts';
import type { DeletionOptions } from './delete-options.ts';
import { immortalRefusal } from './namespace-lifecycle.ts';
import { refIn } from './resource-call.ts';
import type { ResourceCall } from './resource-call.ts';
import { conflict } from '../request/statuses.ts';
import { kindSubject, resourceSubject } from '../request/status-subject.ts';
import { hasSpecFinalizers } from './update-object.ts';

/** Where the object stands now. */
export interface Deletion {
  /** Its last state when it is gone, else its new one. */
  readonly object: ApiObject;
  readonly isGone: boolean;
  /** Nothing was done: a graceful deletion that is under way already. */
  readonly isPending: boolean;
}

const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

/** Deletes an object of the call's collection, as far as it can be at once; 409 for preconditions, 403 for some. */
export function deleteObject(
  call: ResourceCall,
  object: ApiObject,
  options: DeletionOptions,
): Deletion | Status {
  const refusal =
    immortalRefusal(call.resource, object.metadata.name) ??
    preconditionRefusal(call, object, options);
  if (refusal !== undefined) return refusal;
  if (call.resource.resourceName === 'namespaces') return deleteNamespace(call, object, options);
  return deletePlain(call, object, options);
}

/** 409 when the options' UID or resourceVersion is not the object's. */
export function preconditionRefusal(
  { resource }: ResourceCall,
  { metadata }: ApiObject,
  { uid, resourceVersion }: DeletionOptions,
): Status | undefined {
  const { name } = metadata;
  // The real server's registry names the kind here, but the resource for namespaces.
  const subject =
    resource.resourceName === 'namespaces'
      ? resourceSubject(resource, name)
      : kindSubject(resource, name);
  if (uid !== undefined && uid !== metadata.uid) {
    return conflict(
      subject,
      `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    return conflict(
      subject,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`,
    );
  }
  return undefined;
}

function deletePlain(call: ResourceCall, object: ApiObject, options: DeletionOptions): Deletion {
  const nowMs = call.services.clock.nowMs();
  const grace = gracefulState(call, { object, options, nowMs });
  if (grace.kind === 'pending') return { object, isGone: false, isPending: true };
  const finalizers = finalizersAfter(call, object, options);
  const isHeld = finalizers.length > 0;
  if (grace.kind === 'none' && !isHeld) return remove(call, object, options);

  const metadata =
    grace.kind === 'graceful' ? grace.metadata : markedAsDeleting(object.metadata, nowMs);
  const next = write(call, { ...object, metadata: withFinalizers(metadata, finalizers) }, options);
  if (isHeld || (grace.kind === 'graceful' && grace.seconds > 0)) {
    return { object: next, isGone: false, isPending: false };
  }
  return options.isDryRun
    ? { object: next, isGone: true, isPending: false }
    : remove(call, next, options);
}

type Grace =
  | { readonly kind: 'none' }
  /** It is going already, and this deletion does not hurry it. */
  | { readonly kind: 'pending' }
  | { readonly kind: 'graceful'; readonly metadata: Metadata; readonly seconds: number };

function gracefulState(
  { resource }: ResourceCall,
  input: {
    readonly object: ApiObject;
    readonly options: DeletionOptions;
    readonly nowMs: number;
  },
): Grace {
  const { object, options, nowMs } = input;
  const { metadata } = object;
  const asked =
    options.graceSeconds !== undefined && options.graceSeconds < 0 ? 1 : options.graceSeconds;
  if (resource.rules.deletionGraceSeconds === undefined) return { kind: 'none' };
  if (metadata.deletionTimestamp !== undefined) return shortened(metadata, { asked, nowMs });
  const seconds = resource.rules.deletionGraceSeconds(object, asked);
  if (seconds === undefined) return { kind: 'none' };
  return {
    kind: 'graceful',
    seconds,
    metadata: {
      ...withNextGeneration(metadata),
      deletionTimestamp: formatTime(nowMs + seconds * 1000),
      deletionGracePeriodSeconds: seconds,
    },
  };
}

function shortened(
  metadata: Metadata,
  { asked, nowMs }: { readonly asked: number | undefined; readonly nowMs: number },
): Grace {
  const current = metadata.deletionGracePeriodSeconds;
  if (current === undefined || current === 0) return { kind: 'none' };
  if (asked === undefined || asked >= current) return { kind: 'pending' };
  const dueMs = parseTime(metadata.deletionTimestamp ?? '') ?? nowMs;
  const wantedMs = dueMs - current * 1000 + asked * 1000;
  const isPast = wantedMs < nowMs;
  // Grace that is over already is still one second, so that the agent, not the server, ends the pod.
  const seconds = isPast && asked !== 0 ? 1 : asked;
  return {
    kind: 'graceful',
    seconds,
    metadata: {
      ...metadata,
      deletionTimestamp: formatTime(isPast ? nowMs : wantedMs),
      deletionGracePeriodSeconds: seconds,
    },
  };
}

/** Finalizers as the propagation policy leaves them; events have no dependents and take no part. */
function finalizersAfter(
  { resource }: ResourceCall,
  { metadata }: ApiObject,
  options: DeletionOptions,
): readonly string[] {
  const before = metadata.finalizers ?? [];
  const policy = resource.resourceName === 'events' ? 'Background' : policyOf(options, before);
  const others = before.filter((finalizer) => finalizer !== ORPHAN && finalizer !== FOREGROUND);
  const after =
    policy === 'Orphan'
      ? [...others, ORPHAN]
      : policy === 'Foreground'
        ? [...others, FOREGROUND]
        : others;
  const isSame =
    after.length === before.length && after.every((finalizer) => before.includes(finalizer));
  return isSame ? before : after;
}

function policyOf(
  { propagation }: DeletionOptions,
  finalizers: readonly string[],
): 'Orphan' | 'Background' | 'Foreground' {
  if (propagation !== undefined) return propagation;
  if (finalizers.includes(ORPHAN)) return 'Orphan';
  return finalizers.includes(FOREGROUND) ? 'Foreground' : 'Background';
}

function deleteNamespace(
  call: ResourceCall,
  namespace: ApiObject,
  options: DeletionOptions,
): Deletion | Status {
  const { metadata } = namespace;
  if (metadata.deletionTimestamp !== undefined) {
    return hasSpecFinalizers(namespace)
      ? { object: namespace, isGone: false, isPending: true }
      : deletePlain(call, namespace, options);
  }
  const status = isJsonObject(namespace.status) ? namespace.status : {};
  const before = metadata.finalizers ?? [];
  const next = write(
    call,
    {
      ...namespace,
      metadata: withFinalizers(
        { ...metadata, deletionTimestamp: formatTime(call.services.clock.nowMs()) },
        namespaceFinalizers(before, options),
      ),
      status: { ...status, phase: 'Terminating' },
    },
    options,
  );
  return { object: next, isGone: false, isPending: false };
}

function namespaceFinalizers(
  before: readonly string[],
  { propagation }: DeletionOptions,
): readonly string[] {
  if (propagation === undefined) return before;
  const others = before.filter((finalizer) => finalizer !== ORPHAN && finalizer !== FOREGROUND);
  if (propagation === 'Orphan') return [...others, ORPHAN];
  return propagation === 'Foreground' ? [...others, FOREGROUND] : others;
}

function markedAsDeleting(metadata: Metadata, nowMs: number): Metadata {
  const { deletionTimestamp } = metadata;
  const isLater =
    deletionTimestamp !== undefined && (parseTime(deletionTimestamp) ?? nowMs) > nowMs;
  return {
    ...(deletionTimestamp === undefined ? withNextGeneration(metadata) : metadata),
    deletionTimestamp:
      deletionTimestamp === undefined || isLater ? formatTime(nowMs) : deletionTimestamp,
    deletionGracePeriodSeconds: 0,
  };
}

function withNextGeneration(metadata: Metadata): Metadata {
  const { generation } = metadata;
  return generation === undefined || generation <= 0
    ? metadata
    : { ...metadata, generation: generation + 1 };
}

function withFinalizers(metadata: Metadata, finalizers: readonly string[]): Metadata {
  if (metadata.finalizers === finalizers) return metadata;
  const { finalizers: _finalizers, ...rest } = metadata;
  return finalizers.length === 0 ? rest : { ...metadata, finalizers };
}

function write(call: ResourceCall, object: ApiObject, options: DeletionOptions): ApiObject {
  if (options.isDryRun) return object;
  return call.services.store.replace(call.resource.resourceName, object);
}

/** The answer shows the last state with the version of the removal, as watchers see it. */
function remove(call: ResourceCall, object: ApiObject, options: DeletionOptions): Deletion {
  if (options.isDryRun) return { object, isGone: true, isPending: false };
  const removed = call.services.store.remove(refIn(call, object.metadata.name));
  return { object: removed, isGone: true, isPending: false };
}
