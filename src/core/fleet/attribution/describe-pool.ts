/**
 * What the small clusters of a stage show, in words: the same in `rollcall fleet status`, breaches and mirrors. Pure.
 */
import { HALT_AT } from '../../evidence/e-value.ts';
import { POOLED_NODES_BELOW, poolEValue } from './fleet-pool.ts';
import type { FleetPool } from './fleet-pool.ts';

/** `3 of 12 nodes of clusters that were given it are bad, 1 of 60 of others (40 clusters of fewer than ten nodes, …): E = 41.2`. */
export function describePool(pool: FleetPool): string {
  const { places, counts, isVoid } = pool;
  const { givenNodes, givenBad, otherNodes, otherBad } = counts;
  const given = `${String(givenBad)} of ${String(givenNodes)} nodes of clusters that were given it are bad`;
  const others = `${String(otherBad)} of ${String(otherNodes)} of others`;
  const who = `${String(places.length)} clusters of fewer than ${String(POOLED_NODES_BELOW)} nodes, by version, system and provider`;
  const value = poolEValue(pool);
  const shown = value >= 1e6 ? 'over a million' : value.toFixed(1);
  const end = isVoid ? ', and more than can be compared' : '';
  return `${given}, ${others} (${who}): E = ${shown}, ${String(HALT_AT)} halts${end}`;
}
