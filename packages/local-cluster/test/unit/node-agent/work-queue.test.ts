/** The work queue: one timer for all pods, each told once when its time has come. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createWorkQueue } from '../../../src/node-agent/pod-workers.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

describe('the work queue', () => {
  it('tells of each pod when it is due, with a single timer', async () => {
    const clock = new VirtualClock();
    const told: string[] = [];
    const queue = createWorkQueue(clock, (uids) => {
      told.push(`${clock.monotonicMs()} ${uids.join(' ')}`);
    });
    queue.enqueue('late', 5000);
    queue.enqueue('early', 1000);
    queue.enqueue('also', 1000);
    queue.enqueue('gone', 2000);
    queue.remove('gone');
    assert.equal(clock.pendingTimers, 1);
    await clock.advance(10_000);
    assert.deepEqual(told, ['1000 early also', '5000 late']);
    assert.equal(clock.pendingTimers, 0);
  });

  it('takes the newest due time of a pod', async () => {
    const clock = new VirtualClock();
    const told: number[] = [];
    const queue = createWorkQueue(clock, () => told.push(clock.monotonicMs()));
    queue.enqueue('p', 1000);
    queue.enqueue('p', 3000);
    await clock.advance(10_000);
    assert.deepEqual(told, [3000]);
  });
});
