/** When a watcher speaks although nothing changed (design 2). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeartbeatSchedule } from '../../../../src/watcher/pace/heartbeat.ts';

const BOUNDS = { awaitedMs: 1_000, explainsMs: 5_000, rolloutMs: 30_000, idleMs: 600_000 };

test('a cut answers for the event that was filtered away before it: the next heartbeat is a regular one', () => {
  const schedule = new HeartbeatSchedule(BOUNDS, 0);
  assert.ok(schedule.noteWaiting(100, 'awaited'));
  assert.equal(schedule.dueMs(true), 1_100);
  schedule.noteCut(1_100);
  assert.deepEqual([schedule.dueMs(true), schedule.dueMs(false)], [31_100, 601_100]);
});

test('what only explains waits longer, and never holds back what a run may wait for', () => {
  const schedule = new HeartbeatSchedule(BOUNDS, 0);
  assert.ok(schedule.noteWaiting(100, 'explains'));
  assert.equal(schedule.dueMs(false), 5_100);
  assert.ok(
    !schedule.noteWaiting(200, 'explains'),
    'the first one counts: it is not put off for ever',
  );
  assert.ok(schedule.noteWaiting(300, 'awaited'));
  assert.ok(!schedule.noteWaiting(400, 'explains'));
  assert.equal(schedule.dueMs(false), 1_300);
});

test('what only accompanies goes with what is sent next, and sets no time', () => {
  const schedule = new HeartbeatSchedule(BOUNDS, 0);
  assert.ok(!schedule.noteWaiting(100, 'accompanies'));
  assert.equal(schedule.dueMs(false), 600_000);
  assert.ok(schedule.noteWaiting(200, 'explains'));
  assert.ok(!schedule.noteWaiting(300, 'accompanies'));
  assert.equal(schedule.dueMs(false), 5_200);
});
