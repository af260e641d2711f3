/** The type of the update strategy, and whether it allows surge (spec 2.7, 2.9). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import { allowsSurge, strategyTypeOf } from '../../../../src/core/daemon-set/strategy.ts';
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
