/** Fisher's one-sided p against the tables of rollouts facts 4. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fisherOneSided } from '../../../../src/core/health/trial.ts';

/** `bad` of `canary` nodes are bad, none of the other ones of `all`. */
function pOf(canary: number, all: number, bad: number): number {
  return fisherOneSided({
    updatedBad: bad,
    updatedGood: canary - bad,
    othersBad: 0,
    othersGood: all - canary,
  });
}

describe('fisherOneSided', () => {
  const table: readonly (readonly [number, number, number, number])[] = [
    [1, 50, 1, 0.02],
    [1, 164, 1, 0.0061],
    [3, 164, 1, 0.018],
    [3, 164, 2, 0.00022],
    [10, 50, 2, 0.037],
    [10, 164, 2, 0.0034],
    [30, 50, 2, 0.36],
    [30, 1000, 2, 0.0009],
    [3, 164, 3, 1.4e-6],
    [57, 164, 3, 0.041],
    [130, 164, 3, 0.5],
  ];
  for (const [canary, all, bad, p] of table) {
    it(`${String(bad)} bad of ${String(canary)}, none of the rest of ${String(all)}: ${String(p)}`, () => {
      assert.ok(Math.abs(pOf(canary, all, bad) / p - 1) < 0.06, String(pOf(canary, all, bad)));
    });
  }

  it('sums the tail: 3 or more of 4 bad are among 5 of 10', () => {
    const counts = { updatedBad: 3, updatedGood: 2, othersBad: 1, othersGood: 4 };
    // (C(5,3)·C(5,1) + C(5,4)·C(5,0)) / C(10,4)
    assert.ok(Math.abs(fisherOneSided(counts) - 55 / 210) < 1e-12);
  });

  it('is exact beyond where factorials are summed', () => {
    const half = fisherOneSided({
      updatedBad: 1,
      updatedGood: 4999,
      othersBad: 0,
      othersGood: 5000,
    });
    assert.ok(Math.abs(half - 0.5) < 1e-9);
  });
});
