// Quantities that mean the same amount.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isSameQuantity } from '../../../../src/core/daemon-set/resource-quantity.ts';

describe('isSameQuantity', () => {
  for (const [left, right] of [
    ['0.5', '500m'],
    [1, '1000m'],
    ['1Gi', '1024Mi'],
    ['1e3', '1k'],
    ['2E', '2000P'],
    ['.1', '100m'],
  ] as const) {
    it(`${String(left)} is ${right}`, () => {
      assert.equal(isSameQuantity(left, right), true);
    });
  }

  for (const [left, right] of [
    ['1G', '1Gi'],
    ['1', '1001m'],
    ['x', 'x'],
    [undefined, undefined],
    ['1ki', '1024'],
  ] as const) {
    it(`${String(left)} is not ${String(right)}`, () => {
      assert.equal(isSameQuantity(left, right), false);
    });
  }
});
