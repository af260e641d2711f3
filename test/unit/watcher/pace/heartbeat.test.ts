/** When a watcher speaks although nothing changed (design 2). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeartbeatSchedule } from '../../../../src/watcher/pace/heartbeat.ts';

const BOUNDS = { filteredMs: 1_000, rolloutMs: 30_000, idleMs: 600_000 };

test('a cut answers for the event that was filtered away before it: the next heartbeat is a regular one', () => {
  const schedule = new HeartbeatSchedule(BOUNDS, 0);
  schedule.noteFiltered(100);
  assert.equal(schedule.dueMs(true), 1_100);
  schedule.noteCut(1_100);
  assert.deepEqual([schedule.dueMs(true), schedule.dueMs(false)], [31_100, 601_100]);
});
