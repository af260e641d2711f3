/**
 * What the judge of the chaos suite excuses as late is bounded by the promise, not by the length of the run.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { latenessOf } from './lateness.ts';
import { longestFreezeMs } from './plan.ts';

describe('latenessOf', () => {
  it('lets an effect be late by the life of a request, and by the longest freeze', () => {
    assert.equal(latenessOf({ freezeMsMax: 0, slowdown: 1 }).effectMs, 20_000);
    assert.equal(latenessOf({ freezeMsMax: longestFreezeMs(2), slowdown: 4 }).effectMs, 32_000);
    assert.equal(latenessOf({ freezeMsMax: longestFreezeMs(10), slowdown: 4 }).effectMs, 80_000);
  });

  it('lets a view be as old as a watcher that died leaves it, and 90 s at most on any machine', () => {
    assert.equal(latenessOf({ freezeMsMax: 12_000, slowdown: 1 }).viewMs, 80_000);
    assert.equal(latenessOf({ freezeMsMax: 60_000, slowdown: 4 }).viewMs, 110_000);
  });
});
