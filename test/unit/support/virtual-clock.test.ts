/** The virtual clock itself: order of timers, cancellation, and what runs between two timers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

test('timers fire in order of time, then of creation, and only when time is advanced', async () => {
  const clock = new VirtualClock(0);
  const fired: string[] = [];
  clock.after(20, () => fired.push('c'));
  clock.after(10, () => fired.push('a'));
  clock.after(10, () => fired.push('b'));
  clock.after(15, () => fired.push('never'))();
  await clock.advance(9);
  assert.deepEqual(fired, []);
  await clock.advance(11);
  assert.deepEqual(fired, ['a', 'b', 'c']);
  assert.equal(clock.monotonicMs(), 20);
  assert.equal(clock.pendingTimers, 0);
});

test('what a timer starts runs to its next wait before time moves on', async () => {
  const clock = new VirtualClock(1000);
  const seen: number[] = [];
  const loop = async (): Promise<void> => {
    for (let round = 0; round < 3; round += 1) {
      await clock.sleep(100);
      seen.push(clock.nowMs());
    }
  };
  const done = loop();
  await clock.advance(300);
  await done;
  assert.deepEqual(seen, [1100, 1200, 1300]);
});

test('an aborted sleep resolves at once and leaves no timer', async () => {
  const clock = new VirtualClock();
  const controller = new AbortController();
  const sleeping = clock.sleep(1e9, controller.signal);
  controller.abort();
  await sleeping;
  await clock.sleep(1e9, controller.signal);
  assert.equal(clock.pendingTimers, 0);
});

test('advanceUntil stops at the first timer that makes the condition true', async () => {
  const clock = new VirtualClock(0);
  let count = 0;
  for (let delay = 1; delay <= 10; delay += 1) clock.after(delay, () => (count += 1));
  await clock.advanceUntil(() => count === 4, { withinMs: 100 });
  assert.equal(clock.monotonicMs(), 4);
  await assert.rejects(clock.advanceUntil(() => count === 99, { withinMs: 100 }));
});
