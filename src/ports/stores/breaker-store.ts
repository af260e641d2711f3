/**
 * Where the circuit breaker of a cluster is kept: beside META, so that whoever reads META has it.
 *
 * An attribute of its own in the same item (protocol 20: each function writes its own attributes only):
 * reading it costs no request, and it is written on changes alone. Losing it is harmless (core/breaker.ts).
 */
import type { ClusterBreaker } from '../../core/model/breaker.ts';
import type { ClusterUid } from '../../core/model/identifiers.ts';

/** Writes breakers; `ClusterMeta.breaker` is where whoever reads META has them. */
export interface BreakerStore {
  /** The breaker alone, for who needs nothing else of META; undefined: closed. */
  readBreaker(cluster: ClusterUid): Promise<ClusterBreaker | undefined>;
  /**
   * Writes if the stored version is `breaker.version` (0: none yet); stored with version + 1. `lost` also
   * when there is no META: nothing was heard of the cluster, so nothing is reconciled there.
   */
  writeBreaker(cluster: ClusterUid, breaker: ClusterBreaker): Promise<'written' | 'lost'>;
}
