/**
 * A connector to simulated clusters: refuses what a test says, and another cluster than was registered.
 */
import type { ClusterRegistration } from '../../src/core/model/registration.ts';
import type {
  ClusterAccess,
  ClusterConnector,
  ConnectRefusal,
} from '../../src/ports/cluster/cluster-access.ts';
import type { SimulatedCluster } from './simulated-cluster.ts';

/** A connector to simulated clusters, by registered id. */
export class SimulatedConnector implements ClusterConnector {
  readonly clusters = new Map<string, SimulatedCluster>();
  readonly forgotten: string[] = [];
  connects = 0;
  refusal: ConnectRefusal | undefined;

  connect(
    registration: ClusterRegistration,
  ): Promise<
    | { readonly kind: 'connected'; readonly access: ClusterAccess }
    | { readonly kind: 'refused'; readonly refusal: ConnectRefusal }
  > {
    this.connects += 1;
    const refused = (refusal: ConnectRefusal): { kind: 'refused'; refusal: ConnectRefusal } => ({
      kind: 'refused',
      refusal,
    });
    if (this.refusal !== undefined) return Promise.resolve(refused(this.refusal));
    const access = this.clusters.get(registration.id);
    if (access === undefined) return Promise.resolve(refused({ kind: 'no-credential' }));
    if (access.clusterUid !== registration.clusterUid) {
      return Promise.resolve(refused({ kind: 'wrong-cluster', foundUid: access.clusterUid }));
    }
    return Promise.resolve({ kind: 'connected', access });
  }

  forget(id: string): void {
    this.forgotten.push(id);
  }
}
