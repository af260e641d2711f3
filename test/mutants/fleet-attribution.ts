/**
 * Bugs in how small clusters of a fleet are compared with each other: each would halt a harmless release, or miss one that fells nodes
 * (issue 18).
 */
import type { PlantedBug } from './planted-bug.ts';

const POOL = 'src/core/fleet/attribution/fleet-pool.ts';
const TRIAL = 'src/core/health/trial.ts';
const POOL_TEST = 'test/unit/core/fleet/attribution/fleet-pool.test.ts';
const SIGHT = 'src/app/fleet/observe/observe-pool.ts';
const SIGHT_TEST = 'test/unit/app/fleet/observe/observe-pool.test.ts';

/** All of them. */
export const FLEET_ATTRIBUTION_BUGS: Readonly<Record<string, PlantedBug>> = {
  'fleet-pool-counts-twice': {
    bug: 'a node of a small cluster counts in its own trial and among the small ones (18.4)',
    file: 'src/core/fleet/rollout/find-fleet-breach.ts',
    before: '.filter(({ record }) => pool?.members.has(record.cluster) !== true)',
    after: '.filter(() => true)',
    killedBy: {
      file: 'test/unit/core/fleet/rollout/find-fleet-breach.test.ts',
      title: 'counts nobody twice',
    },
  },
  'fleet-pool-counts-a-sick-cluster-often': {
    bug: 'each node of a cluster that fails is a draw, so that one sick cluster halts a fleet (18.4)',
    file: TRIAL,
    before: 'if (!units.delete(unit)) continue;',
    after: 'if (!units.has(unit)) continue;',
    killedBy: { file: POOL_TEST, title: 'counts a cluster once' },
  },
  'fleet-pool-draws-with-replacement': {
    bug: 'nodes of a cluster that failed are at risk in the next draw of the same look (18.4)',
    file: TRIAL,
    before: "sides[isUpdated ? 'updated' : 'others'] -= 1;",
    after: "sides[isUpdated ? 'updated' : 'others'] -= 0;",
    killedBy: { file: POOL_TEST, title: 'its nodes are at risk no more' },
  },
  'fleet-pool-blames-what-was-bad': {
    bug: 'a node that was bad before the stage opened counts against the release (18.4)',
    file: POOL,
    before: 'outside: outside.slice(0, POOL_NODES_MAX),',
    after: 'outside: outside.slice(0, 0),',
    killedBy: { file: POOL_TEST, title: 'who was bad when it began' },
  },
  'fleet-pool-forgets-stages': {
    bug: 'what small clusters showed in one stage is forgotten in the next (18.4)',
    file: POOL,
    before: 'logRatios: former?.logRatios ?? NO_EVIDENCE,',
    after: 'logRatios: NO_EVIDENCE,',
    killedBy: { file: POOL_TEST, title: 'goes on from what was found' },
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
