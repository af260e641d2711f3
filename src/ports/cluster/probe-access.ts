/**
 * What the takeover probe needs of a cluster: one throw-away DaemonSet (design 5).
 *
 * Separate from ClusterAccess, because no function may create or delete a DaemonSet: only whoever
 * enters takeover holds a credential for this, for as long as the probe lasts.
 */
import type { Uid } from '../../core/model/identifiers.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { LiveRead } from './cluster-access.ts';
import type { NamespacedName } from '../stores/view-store.ts';

/** Creates, reads and deletes the probe's DaemonSet. Expected failures are values. */
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
