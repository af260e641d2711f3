// Small clusters compared with each other: who takes part, what a failure says, and what is remembered of those that cannot be seen.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HALT_AT, withDraw, NO_EVIDENCE } from '../../../../../src/core/health/trial.ts';
import {
  advancePool,
  isPoolable,
  isPoolOpen,
  poolEValue,
  poolPlaces,
  startPool,
  type FleetPool,
  type PooledCluster,
} from '../../../../../src/core/fleet/attribution/fleet-pool.ts';
import { clusterId, nodeName } from '../../../../../src/core/model/identifiers.ts';
import { NOW_MS } from '../../../../support/fleet-samples.ts';

const MINUTE_MS = 60_000;

interface Given {
  readonly isGiven?: boolean;
  /** Names of nodes that are bad, of n0 to n(nodes - 1). */
  readonly bad?: readonly string[];
  readonly nodes?: number;
  readonly stratum?: string;
}

function clusterAt(
  place: number,
  { isGiven = false, bad = [], nodes = 1, stratum = 's' }: Given = {},
): PooledCluster {
  return {
    cluster: clusterId(`c${String(place)}`),
    place,
    isGiven,
    nodes: Array.from({ length: nodes }, (_, index) => {
      const name = `n${String(index)}`;
      return { name: nodeName(name), stratum, isBad: bad.includes(name) };
    }),
  };
}

/** Ten clusters of one node, of which the first two are given it. */
function ten(change: (place: number) => Given = () => ({})): readonly PooledCluster[] {
  return Array.from({ length: 10 }, (_, place) =>
    clusterAt(place, { isGiven: place < 2, ...change(place) }),
  );
}

function unseen(clusters: readonly PooledCluster[], place: number): readonly PooledCluster[] {
  return clusters.map((one) => {
    if (one.place !== place) return one;
    const { nodes: _gone, ...rest } = one;
    return rest;
  });
}

const started = (clusters = ten()): FleetPool => startPool('list', clusters, { nowMs: NOW_MS });
const later = (pool: FleetPool, clusters: readonly PooledCluster[]): FleetPool =>
  advancePool(pool, clusters);

describe('who takes part', () => {
  it('are clusters of one to nine nodes, spread evenly over a list, a hundred of them asked', () => {
    assert.deepEqual(poolPlaces(4), [0, 1, 2, 3]);
    const places = poolPlaces(1000);
    assert.deepEqual([places.length, places[1], places.at(-1)], [100, 10, 990]);
    assert.deepEqual(
      [0, 1, 9, 10].map((count) => isPoolable(clusterAt(0, { nodes: count }).nodes)),
      [false, true, true, false],
    );
    assert.equal(isPoolable(undefined), false);
  });

  it('is fixed when it begins, without those that are large or cannot be seen then', () => {
    const clusters = unseen([...ten(), clusterAt(10, { nodes: 10 })], 4);
    assert.deepEqual(started(clusters).places, [0, 1, 2, 3, 5, 6, 7, 8, 9]);
  });

  it('is nobody where there are no two', () => {
    assert.deepEqual(started([clusterAt(0), clusterAt(1, { nodes: 50 })]).places, []);
  });

  it('has something to show while there is somebody on both sides', () => {
    assert.equal(isPoolOpen(ten()), true);
    assert.equal(isPoolOpen(ten(() => ({ isGiven: true }))), false);
    assert.equal(isPoolOpen(ten(() => ({ isGiven: false }))), false);
  });
});

describe('advancePool', () => {
  it('takes each node that goes bad as a draw among the nodes of its stratum', () => {
    const pool = later(
      started(),
      ten((place) => (place === 0 ? { bad: ['n0'] } : {})),
    );
    const draw = { isUpdated: true, updatedAtRisk: 2, othersAtRisk: 8 };
    assert.deepEqual(pool.logRatios, withDraw(NO_EVIDENCE, draw));
    assert.deepEqual(pool.counts, { givenNodes: 2, givenBad: 1, otherNodes: 8, otherBad: 0 });
    assert.deepEqual(pool.failed, ['c0']);
  });

  it('halts after two of the two, and not after two of the others', () => {
    const one = later(
      started(),
      ten((place) => (place === 0 ? { bad: ['n0'] } : {})),
    );
    const both = later(
      one,
      ten((place) => (place < 2 ? { bad: ['n0'] } : {})),
    );
    assert.ok(poolEValue(both) >= HALT_AT, String(poolEValue(both)));
    const other = later(
      started(),
      ten((place) => (place === 8 ? { bad: ['n0'] } : {})),
    );
    const others = later(
      other,
      ten((place) => (place > 7 ? { bad: ['n0'] } : {})),
    );
    assert.ok(poolEValue(others) < 1);
    assert.deepEqual(others.failed, []);
  });

  it('counts nobody who was bad when it began, nor nodes that came later', () => {
    const bad = (place: number): Given => (place === 0 ? { bad: ['n0'] } : {});
    const pool = started(ten(bad));
    assert.equal(poolEValue(later(pool, ten(bad))), 1);
    assert.deepEqual(later(later(pool, ten()), ten(bad)).logRatios, NO_EVIDENCE, 'nor anew');
    const fresh = ten().map((one) => ({
      ...one,
      nodes: (one.nodes ?? []).map((node) => ({
        ...node,
        isBad: one.isGiven,
        createdAtMs: NOW_MS + 1,
      })),
    }));
    assert.equal(poolEValue(later(started(), fresh)), 1);
  });

  it('counts a cluster once, whatever becomes of its nodes, and its nodes are at risk no more', () => {
    const pairs = (bad: (place: number) => readonly string[]): readonly PooledCluster[] =>
      ten((place) => ({ nodes: 2, bad: bad(place) }));
    const began = started(pairs(() => []));
    const draw = { isUpdated: true, updatedAtRisk: 4, othersAtRisk: 16 };
    const one = later(
      began,
      pairs((place) => (place === 0 ? ['n0', 'n1'] : [])),
    );
    assert.deepEqual(one.logRatios, withDraw(NO_EVIDENCE, draw));
    const well = later(
      one,
      pairs(() => []),
    );
    const again = later(
      well,
      pairs((place) => (place === 0 ? ['n1'] : [])),
    );
    assert.deepEqual(again.logRatios, one.logRatios);
    const two = later(
      again,
      pairs((place) => (place < 2 ? ['n0'] : [])),
    );
    assert.deepEqual(two.logRatios, withDraw(one.logRatios, { ...draw, updatedAtRisk: 2 }));
    const both = later(
      began,
      pairs((place) => (place < 2 ? ['n0'] : [])),
    );
    assert.deepEqual(both.logRatios, two.logRatios, 'of one look as well');
  });

  it('counts nobody whom it cannot see, and what happened meanwhile once it can', () => {
    const bad = ten((place) => (place === 0 ? { bad: ['n0'] } : {}));
    const hidden = later(started(), unseen(bad, 0));
    assert.deepEqual(hidden.logRatios, NO_EVIDENCE);
    assert.deepEqual(hidden.counts.givenNodes, 1);
    assert.deepEqual(later(hidden, bad).failed, ['c0']);
  });

  it('stands still where more was bad at the start than it can remember', () => {
    const names = Array.from({ length: 4 }, (_, index) => `n${String(index)}`);
    const many = (bad: readonly string[]): readonly PooledCluster[] =>
      Array.from({ length: 100 }, (_, place) =>
        clusterAt(place, { isGiven: place < 50, nodes: 9, bad }),
      );
    const overrun = started(many(names));
    assert.equal(overrun.isVoid, true);
    assert.equal(later(overrun, many([])), overrun);
  });

  it('gives the same pool back where there was nothing new, so that nothing is written', () => {
    const pool = started();
    assert.equal(later(pool, ten()), pool);
    const failed = later(
      pool,
      ten((place) => (place === 0 ? { bad: ['n0'] } : {})),
    );
    assert.equal(
      later(
        failed,
        ten((place) => (place === 0 ? { bad: ['n0'] } : {})),
      ),
      failed,
    );
  });
});

describe('startPool', () => {
  it('goes on from what was found on other clusters, and counts none of them once more', () => {
    const former = later(
      started(),
      ten((place) => (place === 0 ? { bad: ['n0'] } : {})),
    );
    const next = startPool('other', ten(), { former, nowMs: NOW_MS + 9 * MINUTE_MS });
    assert.deepEqual(next.logRatios, former.logRatios);
    assert.deepEqual([next.listId, next.counted, next.failed], ['other', ['c0'], ['c0']]);
  });

  it('keeps what names nodes short, however long their names are', () => {
    const long = 'n'.repeat(253);
    const clusters = ten((place) => ({ isGiven: place < 2 })).map((one) => ({
      ...one,
      nodes: [{ name: nodeName(long), stratum: 's', isBad: true }],
    }));
    assert.ok(started(clusters).outside.every((name) => name.length <= 16));
  });
});
