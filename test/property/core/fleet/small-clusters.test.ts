/**
 * The pool of small clusters, over a hundred and forty seeded fleets that are looked at every minute: harmless releases halt in one case of
 * twenty at most, however many failures there were to look at; bad ones are found while most clusters have not got them (facts 4).
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { playSmallFleet } from '../../../support/attribution/small-clusters.ts';
import type { SmallFleet, SmallFleetResult } from '../../../support/attribution/small-clusters.ts';

const FLEETS = 20;
const FIRST_SEED = 1;

function play(fleet: SmallFleet): readonly SmallFleetResult[] {
  return Array.from({ length: FLEETS }, (_, index) => playSmallFleet(fleet, FIRST_SEED + index));
}

const haltsOf = (results: readonly SmallFleetResult[]): number =>
  results.filter(({ isHalted }) => isHalted).length;

function middle(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[values.length >> 1] ?? 0;
}

const said = `of ${String(FLEETS)}, seeds from ${String(FIRST_SEED)} on`;

describe('harmless releases over small clusters', () => {
  const kinds: readonly (readonly [string, SmallFleet, number])[] = [
    ['rare failures', { clusters: 60, hazard: 0.002, killed: 0, givenAtOnce: 6 }, 1],
    ['many failures', { clusters: 60, hazard: 0.05, killed: 0, givenAtOnce: 6 }, 15],
    [
      'many, one cluster after the other',
      { clusters: 30, hazard: 0.1, killed: 0, givenAtOnce: 1 },
      8,
    ],
    [
      'more clusters than take part',
      { clusters: 250, hazard: 0.02, killed: 0, givenAtOnce: 25 },
      15,
    ],
  ];

  it('are halted in one case of twenty at most, although some clusters are sick, after many a failure', () => {
    const found = kinds.map(([name, fleet, drawsMin]) => {
      const results = play(fleet);
      assert.ok(middle(results.map(({ draws }) => draws)) >= drawsMin, name);
      return { name, halted: haltsOf(results) };
    });
    const halted = found.reduce((sum, one) => sum + one.halted, 0);
    assert.ok(halted <= (FLEETS * kinds.length) / 20, `${JSON.stringify(found)} ${said}`);
  });
});

describe('releases that fell nodes of small clusters', () => {
  it('a third of them: found in all fleets but one of fifty, with a quarter of the clusters or less', () => {
    const results = play({ clusters: 60, hazard: 0.002, killed: 0.3, givenAtOnce: 6 });
    const halted = haltsOf(results);
    assert.ok(halted >= FLEETS * 0.98, `${String(halted)} ${said}`);
    assert.ok(middle(results.map(({ given }) => given)) <= 15);
  });

  it('a tenth of them, while as many fail by themselves: found in most', () => {
    const results = play({ clusters: 60, hazard: 0.02, killed: 0.1, givenAtOnce: 6 });
    const halted = haltsOf(results);
    assert.ok(halted >= FLEETS / 2, `${String(halted)} ${said}`);
  });
});
