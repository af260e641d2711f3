import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { ClusterMeta } from '../../core/model/view-items.ts';
import type { ProcessPorts } from '../../ports/process.ts';
import type { ClusterAccess, ClusterConnector } from '../../ports/cluster/cluster-access.ts';
import type { BreakerStore, ViewReader } from '../../ports/stores/view-store.ts';
interface GateDependencies extends ProcessPorts {
  readonly view: BreakerStore & Pick<ViewReader, 'readMeta'>;
}
type Connection = Awaited<ReturnType<ClusterConnector['connect']>>;
/** The gate of one run; it serves all attempts of it. */
export declare class ClusterGate {
  #private;
  constructor(dependencies: GateDependencies);
  /** When to come again, if the breaker refused this run. Spread, so that not all come at once. */
  get refusedUntilMs(): number | undefined;
  /** For how long the API server asked to be left alone, from now on (Retry-After); 0: it did not. */
  get askedMs(): number;
  /** How long the API server took to answer this process lately; nothing, if this run had nothing to ask. */
  get answerTimes(): ClusterAccess['answerTimes'];
  /** Opens the cluster that META is about, if its breaker admits this run. */
  connect(
    registration: ClusterRegistration,
    meta: ClusterMeta,
    connector: Pick<ClusterConnector, 'connect'>,
  ): Promise<Connection>;
  /** Tells the breaker what this run found out. Once, at its end; never rejects. */
  settle(): Promise<void>;
}
export {};
