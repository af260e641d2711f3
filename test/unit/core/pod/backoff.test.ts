/** Back-off of failed pods (spec 2.7). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  BACKOFF_CAP_MS,
  advanceBackoff,
  backoffEndMs,
  backoffGeneration,
  indexBackoff,
  isInBackoff,
  mergeBackoff,
  sweepBackoff,
} from '../../../../src/core/pod/backoff.ts';
import { nodeName } from '../../../../src/core/model/identifiers.ts';
import type { BackoffEntry } from '../../../../src/core/model/state.ts';
import { NOW_MS, daemonSet } from '../../../support/core-fixtures.ts';

const n1 = nodeName('n1');
const key = { node: n1, generation: 2 };

function entry(options: Partial<BackoffEntry> = {}): BackoffEntry {
  return { ...key, delayMs: 4000, advancedAtMs: NOW_MS, ...options };
}

describe('advanceBackoff (spec 2.7: 1 s doubling to 15 min)', () => {
  it('follows the whole curve in virtual time', () => {
    const delays: number[] = [];
    let current: BackoffEntry | undefined;
    let nowMs = NOW_MS;
    for (let failure = 0; failure < 13; failure += 1) {
      current = advanceBackoff(current, { ...key, nowMs });
      delays.push(current.delayMs / 1000);
      assert.equal(isInBackoff(current, nowMs), true);
      nowMs = backoffEndMs(current);
      assert.equal(isInBackoff(current, nowMs), false);
    }
    assert.deepEqual(delays, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]);
  });

  it('starts afresh when more than 2 × cap passed', () => {
    const advancedAtMs = NOW_MS - 2 * BACKOFF_CAP_MS;
    const old = entry({ delayMs: 8000, advancedAtMs });
    assert.equal(advanceBackoff(old, { ...key, nowMs: NOW_MS }).delayMs, 16_000);
    assert.equal(advanceBackoff(old, { ...key, nowMs: NOW_MS + 1 }).delayMs, 1000);
  });
});

describe('isInBackoff', () => {
  it('is false without an entry', () => assert.equal(isInBackoff(undefined, NOW_MS), false));
  it('stays true while the clock is behind (spec faults 14)', () => {
    assert.equal(isInBackoff(entry(), NOW_MS - 600_000), true);
  });
});

describe('keys and sweeping', () => {
  it('counts by the observed generation, so that a new one starts afresh', () => {
    assert.equal(backoffGeneration(daemonSet({ status: { observedGeneration: 7 } })), 7);
    assert.equal(backoffGeneration(daemonSet()), 0);
    const other = entry({ node: nodeName('n2'), generation: 1 });
    assert.deepEqual([...indexBackoff([entry(), other], 2).keys()], ['n1']);
  });

  it('sweeps what expired or is of an earlier generation', () => {
    const expired = entry({ advancedAtMs: NOW_MS - 2 * BACKOFF_CAP_MS - 1 });
    const earlier = entry({ generation: 1 });
    const kept = sweepBackoff([expired, earlier, entry()], { generation: 2, nowMs: NOW_MS });
    assert.deepEqual(kept, [entry()]);
  });

  it('merges by node, sorted', () => {
    const second = entry({ node: nodeName('n2') });
    const advanced = entry({ delayMs: 8000 });
    assert.deepEqual(mergeBackoff([second, entry()], [advanced]), [advanced, second]);
    assert.deepEqual(mergeBackoff([entry(), second], []), [entry(), second]);
  });
});
