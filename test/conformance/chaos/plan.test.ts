/**
 * The plan of the chaos suite: the same for a seed, whole for any length.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSeeded } from '../scenarios/seeded.ts';
import { FAULT_KINDS, planFaults } from './plan.ts';

describe('planFaults', () => {
  const plan = (seed: number, minutes: number) =>
    planFaults({ minutes, kinds: FAULT_KINDS, seeded: createSeeded(seed) });

  it('plans the same for the same seed, and something else for another (M3)', () => {
    assert.deepEqual(plan(3, 10), plan(3, 10));
    assert.notDeepEqual(plan(3, 10), plan(4, 10));
  });

  it('plays every fault at least once, however short the run is (M1)', () => {
    for (const minutes of [0.1, 2, 10, 30]) {
      const kinds = new Set(plan(5, minutes).map(({ kind }) => kind));
      assert.deepEqual([...kinds].sort(), [...FAULT_KINDS].sort());
    }
  });

  it('cuts off for a minute in a run of ten', () => {
    const cuts = plan(6, 10).filter(({ kind }) => kind.startsWith('cut-'));
    assert.ok(cuts.length >= 3);
    for (const { durationMs } of cuts) assert.equal(durationMs, 60_000);
  });

  it('never holds a request back for longer than one is taken to live', () => {
    for (const { kind, durationMs } of plan(7, 30)) {
      if (kind === 'late-writes') assert.ok(durationMs <= 18_000);
    }
  });
});
