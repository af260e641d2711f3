/**
 * The API as the cluster's own parts use it: controllers, scheduler and node agents, in the same process.
 *
 * Requests pass through the same handler as kubectl's, under the part's own user. Refusals are values. Calls resolve in
 * a later microtask; between a get and an update others may write, so fences are needed as they are over the network.
 */
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { Cancel } from '@rollcall/base/ports/clock.ts';
import type { PatchType, Status } from '../api/request/api-request.ts';
import type { ApiObject, ObjectRef, ResourceName } from '../objects/api-object.ts';

/** An object, or why not. */
export type ClientOutcome =
  | { readonly kind: 'ok'; readonly object: ApiObject }
  | { readonly kind: 'refused'; readonly status: Status };

/** True where a deletion that names a UID needs no repeat: it is begun, there is none, or another object bears the name. */
export function isDeleted(outcome: ClientOutcome): boolean {
  return outcome.kind === 'ok' || [404, 409].includes(outcome.status.code ?? 0);
}

/** What a deletion asks for. */
export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
}

/** Which objects of a collection. */
export interface Selection {
  readonly resource: ResourceName;
  readonly namespace?: string;
  readonly labelSelector?: string;
  /** `spec.nodeName=node-1` on pods is served from an index. */
  readonly fieldSelector?: string;
}

/** One change seen by an observer, after the first list as ADDED of everything. */
export interface ObservedChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: ApiObject;
  /** The state that the observer saw before. */
  readonly previous?: ApiObject;
}

/** A mirror of a selection, kept by list and watch. */
export interface Observation {
  readonly get: (name: string, namespace?: string) => ApiObject | undefined;
  readonly list: () => Iterable<ApiObject>;
  readonly stop: Cancel;
}

/** The client. */
export interface LocalClient {
  get(ref: ObjectRef): Promise<ClientOutcome>;
  list(selection: Selection): Promise<readonly ApiObject[]>;
  /** metadata needs a name (or generateName) and, where namespaced, a namespace; the rest is the server's to set. */
  create(resource: ResourceName, object: JsonObject): Promise<ClientOutcome>;
  /** PUT; `subresource` is `finalize` of a namespace (the API server takes no PATCH there), else absent. */
  update(ref: ObjectRef, object: JsonObject, subresource?: string): Promise<ClientOutcome>;
  updateStatus(ref: ObjectRef, object: JsonObject): Promise<ClientOutcome>;
  patch(
    ref: ObjectRef,
    patch: { readonly type: PatchType; readonly body: Json; readonly subresource?: string },
  ): Promise<ClientOutcome>;
  delete(ref: ObjectRef, options?: DeleteOptions): Promise<ClientOutcome>;
  /** POST to a subresource: binding, eviction. */
  act(ref: ObjectRef, subresource: string, body: JsonObject): Promise<ClientOutcome>;
  /** Lists, then watches, for good: the mirror resumes or lists again by itself. `onChange` sees every change in order. */
  observe(selection: Selection, onChange: (change: ObservedChange) => void): Observation;
}

/** Opens clients; each part of the cluster has its own user. */
export interface ClientFactory {
  clientFor(user: { readonly name: string; readonly groups: readonly string[] }): LocalClient;
}
