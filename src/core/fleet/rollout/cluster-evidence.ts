/**
 * What is known of one cluster at a step, as values: read from the tables, and never asked of the cluster (issue 18).
 *
 * The same that `rollcall rollout status` tells: registration, META, DaemonSet and state of the view. Whatever is silent, not whole or
 * could not be read says so, and is evidence of nothing.
 */
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { ClusterId, ClusterUid } from '../../model/identifiers.ts';
import type { ClusterMode } from '../../model/registration.ts';
import type { DaemonSetState } from '../../model/state.ts';
import type { Untouched } from '../plan-cluster.ts';

/** A cluster that was heard lately, and whose view is whole. */
export interface HeardCluster {
  readonly kind: 'heard';
  readonly cluster: ClusterId;
  readonly clusterUid: ClusterUid;
  readonly mode: ClusterMode;
  /** Of its registration. */
  readonly labels: Readonly<Record<string, string>>;
  /** When the newest message of its watcher was sent. */
  readonly heardAtMs: number;
  /** Null: there is none of that name; absent: it is there and could not be read. */
  readonly daemonSet?: DaemonSetObject | null;
  /** True where its view shows not one node; asked where none should run it. Absent: there is one, or it is not known. */
  readonly isWithoutNodes?: true;
  /** Of its runs; absent: none was yet. */
  readonly state?: Pick<DaemonSetState, 'history' | 'rollout'>;
}

/** What is known of one cluster. */
export type ClusterEvidence =
  | HeardCluster
  /** No registration, or it is not placed there any more. */
  | { readonly kind: 'gone'; readonly cluster: ClusterId }
  | { readonly kind: 'untouched'; readonly cluster: ClusterId; readonly why: Untouched }
  /** Not heard for OFFLINE_AFTER_MS, or never. */
  | { readonly kind: 'offline'; readonly cluster: ClusterId; readonly silentForMs?: number }
  /** Its view is not whole, or it could not be read: look again. */
  | { readonly kind: 'unclear'; readonly cluster: ClusterId; readonly why: string };
