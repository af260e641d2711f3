/**
 * What a warm process of `resync` remembers between its walks: which cluster a registered id stood for, and nothing else.
 *
 * Never what anything is decided by: it spares the read of a registration of which only this would be looked at. A cluster
 * that was registered anew under its id is noticed at its next turn, or when what is remembered falls silent.
 */
import type { ClusterUid } from '../../core/model/identifiers.ts';

/** Memory shared by all walks of one process; bounded by whoever notes in it (remember.ts). */
export interface ResyncProcessCache {
  /** By the id that it is registered under. */
  readonly clusterUids: Map<string, ClusterUid>;
}

/** A fresh memory; make one per process and share it. */
export function createResyncProcessCache(): ResyncProcessCache {
  return { clusterUids: new Map() };
}
