/** The type of the update strategy, and whether it allows surge (spec 2.7, 2.9). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import {
  allowsSurge,
  strategyTypeOf,
  resolveBudget,
} from '../../../../src/core/daemon-set/strategy.ts';
import { daemonSet, surging } from '../../../support/core-fixtures.ts';

describe('allowsSurge (spec 2.7: any value that is not zero)', () => {
  const rows: readonly [string, JsonObject, boolean][] = [
    ['nothing', {}, false],
    ['an absent type', { updateStrategy: { rollingUpdate: { maxSurge: 1 } } }, true],
    ['OnDelete', { updateStrategy: { type: 'OnDelete', rollingUpdate: { maxSurge: 1 } } }, false],
    ['no rollingUpdate block', { updateStrategy: { type: 'RollingUpdate' } }, false],
    ['1', surging(1), true],
    ['0', surging(0), false],
    ['1%', surging('1%'), true],
    ['0%', surging('0%'), false],
    ['a text that is no percentage', surging('many'), false],
    ['a text that ends like a percentage', surging('about 5%'), false],
    ['a text that begins like a percentage', surging('5% or so'), false],
  ];
  for (const [title, spec, expected] of rows) {
    it(`${expected} for ${title}`, () => assert.equal(allowsSurge(daemonSet({ spec })), expected));
  }
});

describe('strategyTypeOf (spec 2.9)', () => {
  const rows: readonly [string, JsonObject, ReturnType<typeof strategyTypeOf>][] = [
    ['nothing', {}, 'RollingUpdate'],
    ['RollingUpdate', { updateStrategy: { type: 'RollingUpdate' } }, 'RollingUpdate'],
    ['OnDelete', { updateStrategy: { type: 'OnDelete' } }, 'OnDelete'],
    [
      'a type that is not known, which rolls nothing',
      { updateStrategy: { type: 'X' } },
      'OnDelete',
    ],
  ];
  for (const [title, spec, expected] of rows) {
    it(`${expected} for ${title}`, () => {
      assert.equal(strategyTypeOf(daemonSet({ spec })), expected);
    });
  }
});

/** maxUnavailable and maxSurge in nodes (spec 2.9). */

function rolling(rollingUpdate: JsonObject): JsonObject {
  return { updateStrategy: { type: 'RollingUpdate', rollingUpdate } };
}

describe('resolveBudget (spec 2.9)', () => {
  const rows: readonly [string, JsonObject, number, readonly [number, number]][] = [
    ['nothing at all: one unavailable', {}, 10, [1, 0]],
    ['no rollingUpdate block', { updateStrategy: { type: 'RollingUpdate' } }, 10, [1, 0]],
    ['an integer', rolling({ maxUnavailable: 3 }), 10, [3, 0]],
    ['an integer is not cut to the nodes there are', rolling({ maxUnavailable: 30 }), 10, [30, 0]],
    ['10% of 10', rolling({ maxUnavailable: '10%' }), 10, [1, 0]],
    ['10% of 11 is rounded up', rolling({ maxUnavailable: '10%' }), 11, [2, 0]],
    ['1% of 1 is rounded up', rolling({ maxUnavailable: '1%' }), 1, [1, 0]],
    ['100% of 7', rolling({ maxUnavailable: '100%' }), 7, [7, 0]],
    ['7% of 100 is not rounded beyond itself', rolling({ maxUnavailable: '7%' }), 100, [7, 0]],
    ['29% of 100', rolling({ maxUnavailable: '29%' }), 100, [29, 0]],
    ['maxSurge as an integer', rolling({ maxSurge: 2, maxUnavailable: 0 }), 10, [0, 2]],
    ['maxSurge 10% of 11 is rounded up, too', rolling({ maxSurge: '10%' }), 11, [0, 2]],
    ['both set: surge wins', rolling({ maxSurge: 2, maxUnavailable: 5 }), 10, [0, 2]],
    ['both zero: one unavailable', rolling({ maxSurge: 0, maxUnavailable: 0 }), 10, [1, 0]],
    ['both zero per cent', rolling({ maxSurge: '0%', maxUnavailable: '0%' }), 10, [1, 0]],
    ['both zero without nodes', rolling({ maxSurge: 0, maxUnavailable: 0 }), 0, [0, 0]],
    ['a percentage of no nodes', rolling({ maxUnavailable: '50%' }), 0, [0, 0]],
    ['surge of no nodes', rolling({ maxSurge: '50%', maxUnavailable: 0 }), 0, [0, 0]],
    ['a text that is no percentage: as absent', rolling({ maxUnavailable: 'few' }), 10, [1, 0]],
    ['a text that ends like one: as absent', rolling({ maxUnavailable: 'about 50%' }), 10, [1, 0]],
    ['a text that begins like one: as absent', rolling({ maxUnavailable: '50% off' }), 10, [1, 0]],
    ['an integer as a text: as absent', rolling({ maxUnavailable: '5' }), 100, [1, 0]],
    ['a negative number: as absent', rolling({ maxUnavailable: -2 }), 10, [1, 0]],
    ['a fraction: as absent', rolling({ maxUnavailable: 1.5 }), 10, [1, 0]],
    ['maxSurge that is no percentage: as absent', rolling({ maxSurge: 'few' }), 10, [1, 0]],
    ['maxSurge that is a fraction: as absent', rolling({ maxSurge: 0.5 }), 10, [1, 0]],
    [
      'OnDelete never surges',
      { updateStrategy: { type: 'OnDelete', rollingUpdate: { maxSurge: 2 } } },
      10,
      [1, 0],
    ],
  ];
  for (const [title, spec, nodes, [maxUnavailable, maxSurge]] of rows) {
    it(title, () => {
      assert.deepEqual(resolveBudget(daemonSet({ spec }), nodes), { maxUnavailable, maxSurge });
    });
  }
});
