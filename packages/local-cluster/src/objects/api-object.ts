/**
 * Objects of the local cluster as they are stored and travel: raw JSON, never changed in place.
 *
 * A writer makes a new object that shares the unchanged parts. That is what lets the store, the
 * watchers, the controllers and the node agents hold the same object without copies. Nothing here validates:
 * the schema decodes what comes from outside (schema/schema.ts).
 */
import type { JsonObject } from '@rollcall/base/json.ts';

/** An owner of an object; `controller: true` marks the managing one. */
export interface Owner extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** metadata of a stored object. Times are RFC 3339 in whole seconds, as the API server writes them. */
export interface Metadata extends JsonObject {
  readonly name: string;
  readonly namespace?: string;
  readonly generateName?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly Owner[];
}

/** An object that has been stored, or is about to be. */
export interface ApiObject extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
}

/** A collection: plural and, outside the core group, its group, as RBAC and kubectl write it. */
export type ResourceName = LivingName | StoredName;

/** The collection of a kind that is stored and nothing more: which there are is data. */
export type StoredName = string & { readonly [storedName]: true };
declare const storedName: unique symbol;

/** A collection whose kind has rules of its own here. */
export type LivingName =
  | 'namespaces'
  | 'nodes'
  | 'pods'
  | 'podtemplates'
  | 'events'
  | 'configmaps'
  | 'secrets'
  | 'serviceaccounts'
  | 'daemonsets.apps'
  | 'controllerrevisions.apps'
  | 'leases.coordination.k8s.io'
  | 'clusterroles.rbac.authorization.k8s.io'
  | 'clusterrolebindings.rbac.authorization.k8s.io'
  | 'roles.rbac.authorization.k8s.io'
  | 'rolebindings.rbac.authorization.k8s.io'
  | 'priorityclasses.scheduling.k8s.io';

/** Names one object; no namespace for cluster-scoped ones. */
export interface ObjectRef {
  readonly resource: ResourceName;
  readonly namespace?: string;
  readonly name: string;
}
