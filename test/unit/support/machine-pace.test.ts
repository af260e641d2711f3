/**
 * A bound that is stated for a quiet machine is never shortened, and has an end on a busy one.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { othersOf, slowdownOf, startAttendedClock, stretched } from '../../support/machine-pace.ts';

describe('slowdownOf', () => {
  it('is one on a quiet machine, and on a faster one', () => {
    assert.equal(slowdownOf({ others: [0, 0], works: [2, 2, 2] }), 1);
    assert.equal(slowdownOf({ others: [0], works: [0.5] }), 1);
    assert.equal(slowdownOf({ others: [], works: [] }), 1);
  });

  it('grows with the threads of others that want a processor, and with the time of a piece of work', () => {
    assert.equal(slowdownOf({ others: [1, 1], works: [2, 2] }), 2);
    assert.equal(slowdownOf({ others: [1, 0], works: [3, 5] }), 3);
  });

  it('ends at four: what hangs must fail', () => {
    assert.equal(slowdownOf({ others: [30], works: [9] }), 4);
    assert.equal(stretched(60_000, 4), 240_000);
  });
});

describe('othersOf', () => {
  it('leaves out what the measured programs do themselves: burning processors stretches no bound', () => {
    assert.equal(othersOf(7, 6), 1);
    assert.equal(othersOf(7, 7), 0);
    assert.equal(othersOf(3, 5), 0);
  });
});

describe('startAttendedClock', () => {
  it('does not count the time in which its thread had no processor', () => {
    const clock = startAttendedClock();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    assert.ok(clock.nowMs() < 150);
    clock.stop();
  });

  it('counts what its own thread computes, or a loop that is blocked would excuse itself', () => {
    const clock = startAttendedClock();
    const from = process.threadCpuUsage();
    const computedMs = (): number => {
      const { user, system } = process.threadCpuUsage(from);
      return (user + system) / 1000;
    };
    while (computedMs() < 300);
    assert.ok(clock.nowMs() >= 300);
    clock.stop();
  });
});
