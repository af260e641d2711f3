/** Pools of small clusters for tests: ten clusters, of which two were given it and lost a node each. */
import type { FleetPool } from '../../src/core/fleet/attribution/fleet-pool.ts';
import type { ObservedPool } from '../../src/core/fleet/rollout/tally-stage.ts';
import { clusterId, nodeName } from '../../src/core/model/identifiers.ts';
import { NOW_MS } from './fleet-samples.ts';

/** One that shows more than halts. */
export function poolOf(changes: Partial<FleetPool> = {}): FleetPool {
  return {
    listId: 'list-early',
    places: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    startedAtMs: NOW_MS - 60_000,
    outside: [nodeName('9.abc')],
    logRatios: [1.6, 2.8, 3.6, 4],
    counted: [clusterId('c0'), clusterId('c1')],
    isVoid: false,
    counts: { givenNodes: 2, givenBad: 2, otherNodes: 7, otherBad: 0 },
    failed: [clusterId('c0'), clusterId('c1')],
    ...changes,
  };
}

/** The same as a step sees it. */
export function poolSeenOf(
  members: readonly string[],
  changes: Partial<FleetPool> = {},
): ObservedPool {
  return { pool: poolOf(changes), members: new Set(members.map(clusterId)) };
}
