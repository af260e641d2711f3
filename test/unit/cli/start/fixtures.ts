/** Overviews for tests of the command line. */
import type { ClusterOverview, DaemonSetOverview } from '../../../../src/engine/overview.ts';

/** A DaemonSet that is settled, with changes. */
export function daemonSet(changes: Partial<DaemonSetOverview> = {}): DaemonSetOverview {
  return {
    namespace: 'node-agents',
    name: 'log-collector',
    uid: 'uid',
    generation: 1,
    observedGeneration: 1,
    desired: 3,
    current: 3,
    ready: 3,
    upToDate: 3,
    available: 3,
    misscheduled: 0,
    codes: { Running: 3 },
    openIntents: 0,
    isComplete: true,
    ...changes,
  };
}

/** A cluster in takeover with a complete view, with changes. */
export function cluster(changes: Partial<ClusterOverview> = {}): ClusterOverview {
  return {
    cluster: 'laptop',
    clusterUid: 'cluster-uid',
    mode: 'takeover',
    isFrozen: false,
    isViewComplete: true,
    outages: [],
    daemonSets: [daemonSet()],
    ...changes,
  };
}
