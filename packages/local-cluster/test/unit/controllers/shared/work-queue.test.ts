/** The queue of keys that all controllers work from. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createWorkQueue, DONE, RETRY } from '../../../../src/controllers/shared/work-queue.ts';
import type { WorkOutcome, WorkQueue } from '../../../../src/controllers/shared/work-queue.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { settle, VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

interface Bench {
  readonly queue: WorkQueue;
  readonly clock: VirtualClock;
  readonly log: MemoryLog;
  readonly begun: string[];
  /** Ends the oldest call in work. */
  readonly finish: (outcome?: WorkOutcome) => Promise<void>;
}

/** A queue whose work ends when the test says so. */
function bench(workers = 1): Bench {
  const clock = new VirtualClock();
  const log = new MemoryLog();
  const begun: string[] = [];
  const open: ((outcome: WorkOutcome) => void)[] = [];
  const queue = createWorkQueue({
    name: 'test',
    clock,
    log,
    workers,
    process: (key) => {
      begun.push(key);
      return new Promise((resolve) => open.push(resolve));
    },
  });
  const finish = async (outcome: WorkOutcome = DONE): Promise<void> => {
    const resolve = open.shift();
    assert(resolve !== undefined, 'nothing is in work');
    resolve(outcome);
    await settle();
  };
  return { queue, clock, log, begun, finish };
}

describe('the work queue', () => {
  it('never begins inside the addition', async () => {
    const { queue, begun } = bench();
    queue.add('a');
    assert.deepEqual(begun, []);
    await settle();
    assert.deepEqual(begun, ['a']);
  });

  it('works on a key once at a time, and once more if it is added meanwhile', async () => {
    const { queue, begun, finish } = bench(3);
    queue.add('a');
    await settle();
    queue.add('a');
    queue.add('a');
    await settle();
    assert.deepEqual(begun, ['a']);
    await finish();
    assert.deepEqual(begun, ['a', 'a']);
    await finish();
    assert.deepEqual(begun, ['a', 'a']);
  });

  it('lets different keys go on side by side, up to the number of workers', async () => {
    const { queue, begun, finish } = bench(2);
    for (const key of ['a', 'b', 'c']) queue.add(key);
    await settle();
    assert.deepEqual(begun, ['a', 'b']);
    await finish();
    assert.deepEqual(begun, ['a', 'b', 'c']);
  });

  it('retries after 5 ms, doubling, and begins anew after a success', async () => {
    const { queue, clock, begun, finish } = bench();
    queue.add('a');
    await settle();
    for (const delayMs of [5, 10, 20]) {
      await finish(RETRY);
      await clock.advance(delayMs - 1);
      const count = begun.length;
      await clock.advance(1);
      assert.equal(begun.length, count + 1);
    }
    await finish(DONE);
    queue.add('a');
    await settle();
    await finish(RETRY);
    assert.equal(clock.nextTimerMs(), clock.monotonicMs() + 5);
  });

  it('logs a rejection as an error and retries', async () => {
    const clock = new VirtualClock();
    const log = new MemoryLog();
    let calls = 0;
    const queue = createWorkQueue({
      name: 'test',
      clock,
      log,
      process: async () => {
        calls += 1;
        if (calls === 1) throw new Error('a bug');
        return DONE;
      },
    });
    queue.add('a');
    await clock.advance(5);
    assert.equal(calls, 2);
    assert.equal(log.at('error').length, 1);
  });

  it('keeps the earlier of two delays', async () => {
    const { queue, clock, begun } = bench();
    queue.addAfter('a', 100);
    queue.addAfter('a', 10);
    queue.addAfter('a', 50);
    await clock.advance(10);
    assert.deepEqual(begun, ['a']);
    assert.equal(clock.pendingTimers, 0);
  });

  it('finishes what is in work when it stops, drops the rest and leaves no timer', async () => {
    const { queue, clock, begun, finish } = bench();
    queue.add('a');
    queue.add('b');
    queue.addAfter('c', 10);
    await settle();
    let isStopped = false;
    const stopped = queue.stop().then(() => {
      isStopped = true;
    });
    await settle();
    assert.equal(isStopped, false);
    await finish(RETRY);
    await stopped;
    await clock.advance(1000);
    queue.add('d');
    await settle();
    assert.deepEqual(begun, ['a']);
    assert.equal(clock.pendingTimers, 0);
  });
});
