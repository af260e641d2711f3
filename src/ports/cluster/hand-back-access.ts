/**
 * What a person's credential is used for in a cluster: the takeover probe's one throw-away DaemonSet (design 5), and, to
 * hand the cluster back, the notices that Rollcall has stopped.
 *
 * Separate from ClusterAccess, because no function may create or delete a DaemonSet: only an operator who enters or leaves
 * takeover holds a credential for this, for as long as that lasts. Expected failures are values.
 */
import type { Uid } from '../../core/model/identifiers.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { LiveRead } from './cluster-access.ts';
import type { NamespacedName } from '../stores/view-store.ts';

/** Creates, reads and deletes the probe's DaemonSet. */
export interface ProbeAccess {
  /** Creates it; `missing` means that its namespace does not exist. */
  createDaemonSet(daemonSet: {
    readonly namespace: string;
    readonly name: string;
    readonly body: JsonObject;
  }): Promise<LiveRead<DaemonSetObject>>;
  getDaemonSet(key: NamespacedName): Promise<LiveRead<DaemonSetObject>>;
  /** Deletes it (with the UID as precondition, if known); `missing` when there is none. */
  deleteDaemonSet(
    key: NamespacedName,
    precondition?: { readonly uid: Uid },
  ): Promise<LiveRead<unknown>>;
}

export type ConditionsWrite =
  | { readonly kind: 'written' }
  /** It changed since it was read, or is gone: read it again. */
  | { readonly kind: 'changed' }
  | { readonly kind: 'failed'; readonly message: string };

/** A cluster as the operator who hands it back sees it. */
export interface HandBackAccess extends ProbeAccess {
  /** All DaemonSets of the cluster: paged, whole or unavailable. */
  listDaemonSets(): Promise<LiveRead<readonly DaemonSetObject[]>>;
  /** Replaces status.conditions of exactly the object that was read; nothing else of the status. */
  replaceConditions(
    daemonSet: DaemonSetObject,
    conditions: readonly JsonObject[],
  ): Promise<ConditionsWrite>;
}
