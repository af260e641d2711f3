/** What one invocation of `resync` counts while it walks. */
import type { OwedTurn } from '../../core/hints/resync-walk.ts';
import type { Asking } from './asking.ts';

/** Counters of one invocation, and what it asks API servers meanwhile. */
export interface Tally {
  clusters: number;
  /** Could not be looked at: the next walk owes them this one's time. */
  readonly failed: OwedTurn[];
  silentClusters: number;
  hints: number;
  overdue: number;
  snapshotRequests: number;
  readonly asking: Asking;
}

/** Nothing yet. */
export function newTally(asking: Asking): Tally {
  const counts = { clusters: 0, silentClusters: 0, hints: 0, overdue: 0, snapshotRequests: 0 };
  return { ...counts, failed: [], asking };
}
