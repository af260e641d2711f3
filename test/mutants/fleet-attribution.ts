/**
 * Bugs in how small clusters of a fleet are compared with each other: each would halt a harmless release, or miss one that fells nodes
 * (issue 18).
 */
import type { PlantedBug } from './planted-bug.ts';

const POOL = 'src/core/fleet/attribution/fleet-pool.ts';
const POOL_TEST = 'test/unit/core/fleet/attribution/fleet-pool.test.ts';
const SIGHT = 'src/app/fleet/observe/see-pool.ts';
const SIGHT_TEST = 'test/unit/app/fleet/observe/see-pool.test.ts';

/** All of them. */
export const FLEET_ATTRIBUTION_BUGS: Readonly<Record<string, PlantedBug>> = {
  'fleet-pool-blames-what-was-bad': {
    bug: 'a node that was bad before the stage opened counts against the release (18.4)',
    file: POOL,
    before: 'outside: outside.slice(0, POOL_NODES_MAX),',
    after: 'outside: outside.slice(0, 0),',
    killedBy: { file: POOL_TEST, title: 'who was bad when it began' },
  },
  'fleet-pool-outlives-resume': {
    bug: 'what an operator overruled halts again at the next look (18.4)',
    file: SIGHT,
    before: 'resumed.atMs >= pool.startedAtMs',
    after: 'resumed.atMs < 0',
    killedBy: { file: SIGHT_TEST, title: 'somebody took the rollout up again' },
  },
  'fleet-pool-compares-across-order': {
    bug: 'regions that the order sends first are compared with those that it sends later (18.4)',
    file: SIGHT,
    before: '[poolStratumOf(node, found.registration), ...turn]',
    after: '[poolStratumOf(node, found.registration)]',
    killedBy: { file: SIGHT_TEST, title: 'that the order sends one after the other' },
  },
};
