/**
 * The bound that one cluster's lag is held to is the one of docs/promise.md (L3).
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { findLag, LATENCY_PROMISE } from '../../support/isolation/latency-bound.ts';

const NUMBERS: Readonly<Record<string, number>> = { two: 2, three: 3, four: 4, five: 5 };

describe('findLag', () => {
  it('holds to the factor and the seconds of docs/promise.md', () => {
    const promise = readFileSync(new URL('../../../docs/promise.md', import.meta.url), 'utf8');
    const row = promise.split('\n').find((line) => line.startsWith('| **L3** |')) ?? '';
    const [, factor = ''] = /within (\w+) times the latency alone/.exec(row) ?? [];
    const [, seconds = ''] = /begins to hang adds (\d+) s, once/.exec(row) ?? [];
    assert.deepEqual(LATENCY_PROMISE, {
      factor: NUMBERS[factor],
      onceMs: Number(seconds) * 1000,
    });
  });

  it('lets three times the worst latency alone pass, and once five seconds more', () => {
    assert.deepEqual(findLag({ alone: [400, 500], beside: [1500, 900, 1500] }), []);
    assert.deepEqual(findLag({ alone: [400, 500], beside: [6500, 900, 1500] }), []);
  });

  it('finds a change that took longer than both, or was never measured', () => {
    assert.equal(findLag({ alone: [400, 500], beside: [6501, 900, 800] }).length, 1);
    assert.equal(findLag({ alone: [400, 500], beside: [Number.NaN] }).length, 1);
  });

  it('finds a second change beyond the factor: the seconds are added once', () => {
    assert.equal(findLag({ alone: [400, 500], beside: [1600, 1600, 900] }).length, 1);
  });
});
