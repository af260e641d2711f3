/**
 * Every step of a surge counts: one that is slow is repeated once, two are a failure.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { judgeSteps, stepBoundMs, type MeasuredRollout } from './steps.ts';

const rollout = (...seconds: readonly number[]): MeasuredRollout => ({
  stepsMs: seconds.map((one) => one * 1000),
  slowdown: 1,
});
const kindOf = (...rollouts: readonly MeasuredRollout[]): string => judgeSteps(rollouts).kind;

describe('judgeSteps', () => {
  it('passes a rollout of which each step is in time', () => {
    assert.equal(kindOf(rollout(11, 10.5, 12, 11)), 'passed');
  });

  it('asks for another one after one slow step, and lets one in eight pass', () => {
    assert.equal(kindOf(rollout(11, 13, 11, 11)), 'again');
    assert.equal(kindOf(rollout(11, 13, 11, 11), rollout(11, 11, 11, 11)), 'passed');
  });

  it('fails with two slow steps, of one rollout or of two, however good the others are', () => {
    assert.equal(kindOf(rollout(13, 13, 11, 11)), 'failed');
    assert.equal(kindOf(rollout(11, 13, 11, 11), rollout(11, 11, 11, 13)), 'failed');
  });

  it('fails at once where a wake-up was lost, or a step was not measured', () => {
    assert.equal(kindOf(rollout(11, 41, 11, 11)), 'failed');
    assert.equal(kindOf(rollout(11, Number.NaN, 11, 11)), 'failed');
  });

  it('grants twelve seconds on a quiet machine, and never twice the wait', () => {
    assert.equal(stepBoundMs(1), 12_000);
    assert.equal(stepBoundMs(4), 18_000);
  });
});
