/**
 * The facts of one cluster that a fleet's plan reads: its registration, and what its view shows, as
 * values. It says when the cluster was last heard: a plan never takes an old view for the present.
 */
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { NodeProjection } from '../model/projections.ts';
import type { ClusterRegistration } from '../model/registration.ts';

type PlannedRegistration = Pick<
  ClusterRegistration,
  'id' | 'labels' | 'mode' | 'isFrozen' | 'rival'
>;

/** The facts of a cluster in its view. */
export interface ObservedCluster {
  /** When its newest message was sent. */
  readonly heardAtMs: number;
  /** Absent: the view is not whole, or there is a node that could not be read. */
  readonly nodes?: readonly NodeProjection[];
  /** Null: there is none of that name; absent: it is there and could not be read. */
  readonly daemonSet?: DaemonSetObject | null;
}

/** A cluster of the plan. */
export interface ClusterFacts extends PlannedRegistration {
  /** Absent: nothing was ever heard of it. */
  readonly seen?: ObservedCluster;
}

/** Longer than a watcher's longest heartbeat (13 minutes): a cluster that was not heard for so long is offline. */
export const OFFLINE_AFTER_MS = 840_000;

/** True of a cluster that was not heard for so long, or never. */
export function isOfflineAt(heardAtMs: number | undefined, nowMs: number): boolean {
  return heardAtMs === undefined || nowMs - heardAtMs > OFFLINE_AFTER_MS;
}
