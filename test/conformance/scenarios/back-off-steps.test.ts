/**
 * Every back-off counts: one good one excuses no other.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findWrongSteps, type BackOffStep } from './back-off-steps.ts';

const GOOD: BackOffStep = { backOffMs: 1000, waitedMs: 1400, lateMs: 400, isRestarted: false };
const wrong = (of: Partial<BackOffStep>, slowdown = 1): number =>
  findWrongSteps([GOOD, { ...GOOD, ...of }, GOOD], slowdown).length;

describe('findWrongSteps', () => {
  it('finds one that is late beside others that are not', () => {
    assert.equal(wrong({}), 0);
    assert.equal(wrong({ lateMs: 2501 }), 1);
    assert.equal(wrong({ lateMs: Number.NaN }), 1);
  });

  it('finds one that came before its time', () => {
    assert.equal(wrong({ waitedMs: 499 }), 1);
  });

  it('grants more where others had the processors, and where the engine was restarted', () => {
    assert.equal(wrong({ lateMs: 5000 }, 2), 0);
    assert.equal(wrong({ lateMs: 20_000, isRestarted: true }), 0);
    assert.equal(wrong({ lateMs: 20_001, isRestarted: true }, 4), 1);
  });
});
