/**
 * A cluster as the person at the terminal reaches it, in tests: the place of the probe, an identity, and a
 * connector that counts the snapshots it was asked for.
 */
import type { OperatorCluster } from '../../src/cli/reach/operator-access.ts';
import { clusterUid } from '../../src/core/model/identifiers.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { ClusterConnector } from '../../src/ports/cluster/cluster-access.ts';
import { ProbePlace } from './probe-place.ts';

/** What a test sees of it. */
export interface OperatorPlace extends OperatorCluster {
  readonly access: ProbePlace;
  /** Requests that were made of the watcher's Lease. */
  readonly snapshotRequests: string[];
  /** How often it was closed. */
  closedCount: number;
}

/** A cluster of this UID. */
export function operatorPlace(uid: string, clock: Clock): OperatorPlace {
  const snapshotRequests: string[] = [];
  const access = {
    requestSnapshot: (requestId: string) => {
      snapshotRequests.push(requestId);
      return Promise.resolve({ kind: 'found', object: {} });
    },
  };
  const connector = {
    connect: () => Promise.resolve({ kind: 'connected', access }),
    forget: () => undefined,
  } as unknown as ClusterConnector; // commands ask it for snapshots, and for nothing else
  const place: OperatorPlace = {
    server: 'https://kubeconfig.example',
    clusterUid: clusterUid(uid),
    access: new ProbePlace(clock),
    transport: { send: () => Promise.reject(new Error('no transport in this test')) },
    openConnector: () => connector,
    snapshotRequests,
    closedCount: 0,
    close: () => {
      place.closedCount += 1;
    },
  };
  return place;
}
