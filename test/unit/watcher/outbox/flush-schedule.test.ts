/** When the outbox is flushed: urgent changes at once, others together, a heartbeat when nothing changes (ADR 0079). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ChangePriority } from '../../../../src/watcher/outbox/change-priority.ts';
import { FlushSchedule, type FlushWidth } from '../../../../src/watcher/outbox/flush-schedule.ts';
import { DEFAULT_WATCHER_OPTIONS as OPTIONS } from '../../../../src/watcher/session/options.ts';

const NOTHING: FlushWidth = { slices: 0, objects: 0 };
const SMALL: FlushWidth = { slices: 1, objects: 10 };
/** A rollout over 5,000 nodes: 1,442 ms between two flushes. */
const LARGE: FlushWidth = { slices: 16, objects: 5_000 };
const LARGE_MS = 1_442;

const created = (): FlushSchedule => new FlushSchedule(OPTIONS, 0);

function flushed(width: FlushWidth): FlushSchedule {
  const schedule = created();
  schedule.noteFlush(0, width);
  return schedule;
}

type Change = readonly [ChangePriority, number];

function dueAfter(schedule: FlushSchedule, ...changes: readonly Change[]): number {
  for (const [priority, atMs] of changes) schedule.note(priority, atMs);
  return schedule.dueMs(false);
}

/** Times of flushes while such a change comes every ten milliseconds. */
function flushTimes(priority: ChangePriority, width: FlushWidth, untilMs: number): number[] {
  const schedule = created();
  const times: number[] = [];
  for (let nowMs = 1; nowMs <= untilMs; nowMs += 1) {
    if (nowMs % 10 === 0) schedule.note(priority, nowMs);
    if (schedule.dueMs(false) > nowMs) continue;
    schedule.noteFlush(nowMs, width);
    times.push(nowMs);
  }
  return times;
}

describe('a change', () => {
  it('is sent after a few milliseconds while little happens, or as soon as its priority says', () => {
    const waits = (priority: ChangePriority): number =>
      dueAfter(created(), [priority, 100], [priority, 102]) - 100;
    const priorities = ['urgent', 'normal', 'calm', 'detail'] as const;
    assert.deepEqual(priorities.map(waits), [5, 5, 1_000, 5_000]);
  });

  it('waits no longer because others like it come, and no longer than one that comes after it', () => {
    const schedule = created();
    assert.equal(dueAfter(schedule, ['detail', 100], ['detail', 4_000]), 5_100);
    assert.equal(dueAfter(schedule, ['calm', 4_050], ['detail', 4_060]), 5_050);
    assert.equal(dueAfter(schedule, ['urgent', 4_070]), 4_075);
  });

  it('that only goes with others sets no time', () => {
    const idle = created().dueMs(false);
    assert.equal(dueAfter(created(), ['aside', 100]), idle);
    assert.equal(dueAfter(created(), ['detail', 100], ['aside', 200]), 5_100);
  });

  it('says when the flush comes sooner than before, so that a sleeper is woken then and only then', () => {
    const schedule = created();
    const noted = (priority: ChangePriority, nowMs: number): boolean =>
      schedule.note(priority, nowMs);
    assert.equal(noted('aside', 0), false);
    assert.equal(noted('calm', 0), true);
    assert.equal(noted('calm', 10), false);
    assert.equal(noted('normal', 20), true);
    assert.equal(noted('normal', 24), false);
    assert.equal(noted('urgent', 24), false);
  });

  it('is not held back by the interval of a rollout if it is urgent', () => {
    assert.equal(dueAfter(flushed(LARGE), ['normal', 10]), LARGE_MS);
    assert.equal(dueAfter(flushed(LARGE), ['normal', 10], ['urgent', 20]), 25);
  });

  it('waits for a tenth of the work of a flush if a node waits for it', () => {
    const wide = { slices: 160, objects: 10_000 };
    assert.equal(dueAfter(flushed(wide), ['normal', 10]), 2_000);
    assert.equal(dueAfter(flushed(wide), ['awaited', 10]), 442);
    assert.equal(dueAfter(flushed(wide), ['awaited', 500]), 505);
    assert.equal(dueAfter(flushed(SMALL), ['awaited', 10]), 250);
    assert.equal(dueAfter(flushed({ slices: 400, objects: 100_000 }), ['awaited', 10]), 2_000);
  });

  it('is never kept longer than its wait and an interval', () => {
    const priority = fc.constantFrom<ChangePriority>('urgent', 'normal', 'calm');
    const changes = fc.array(fc.tuple(priority, fc.integer({ min: 1, max: 600 })), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(changes, (given) => {
        const schedule = created();
        let nowMs = 0;
        for (const [each, gapMs] of given) {
          nowMs += gapMs;
          const dueMs = dueAfter(schedule, [each, nowMs]);
          assert.ok(dueMs >= nowMs + OPTIONS.flush.waitMs.urgent);
          const boundMs = Math.max(OPTIONS.flush.waitMs[each], OPTIONS.flush.intervalMs);
          assert.ok(dueMs - nowMs <= boundMs, `${each}: ${String(dueMs - nowMs)} ms`);
          nowMs = dueMs;
          schedule.noteFlush(nowMs, SMALL);
        }
      }),
    );
  });
});

describe('flushes', () => {
  it('come once in 250 ms under a steady stream, but for the tokens of what is urgent', () => {
    const expected = 10_000 / 250;
    const { length } = flushTimes('normal', SMALL, 10_000);
    assert.ok(Math.abs(length - expected) <= 1, `${String(length)} flushes`);
    const urgent = flushTimes('urgent', SMALL, 10_000);
    assert.deepEqual(urgent.slice(0, 4), [15, 25, 35, 45]);
    assert.ok(urgent.length <= expected + 4 + 1, urgent.join(' '));
  });

  it('come at the interval for the fifth of an urgent crowd, while much is written anew', () => {
    const times = flushTimes('urgent', LARGE, 10_000);
    assert.ok((times[3] ?? Infinity) < 200, times.join(' '));
    assert.ok(times.length <= 4 + 1 + 10_000 / LARGE_MS, times.join(' '));
  });

  it('have a token more in two intervals, and no more than four', () => {
    const schedule = created();
    const urgentAt = (nowMs: number): number => {
      schedule.note('urgent', nowMs);
      const dueMs = schedule.dueMs(false);
      schedule.noteFlush(dueMs, SMALL);
      return dueMs;
    };
    for (const nowMs of [1_000, 1_010, 1_020, 1_030]) assert.equal(urgentAt(nowMs), nowMs + 5);
    assert.equal(urgentAt(1_040), 1_285, 'an interval after the one before');
    assert.equal(urgentAt(2_300), 2_305);
    for (const nowMs of [60_000, 60_010, 60_020, 60_030]) assert.equal(urgentAt(nowMs), nowMs + 5);
    assert.equal(urgentAt(60_040), 60_285);
  });

  it('C.4: come less often the more slices they touch, once in two seconds at least: ingest has to keep up', () => {
    const msBetween = (slices: number, objects: number): number =>
      60_000 / flushTimes('normal', { slices, objects }, 60_000).length;
    const isAbout = (foundMs: number, wantedMs: number): void => {
      assert.ok(Math.abs(foundMs / wantedMs - 1) < 0.1, `${String(foundMs)} ms`);
    };
    isAbout(msBetween(20, 0), 250); // 240 ms are less than the interval anyway
    isAbout(msBetween(80, 0), 960);
    for (const slices of [170, 200, 10_000]) isAbout(msBetween(slices, 0), 2_000);
  });

  it('come less often the more objects stand in those slices: a rollout is many flushes over all of them', () => {
    const msBetween = (slices: number, objects: number): number =>
      60_000 / flushTimes('normal', { slices, objects }, 60_000).length;
    const isAbout = (foundMs: number, wantedMs: number): void => {
      assert.ok(Math.abs(foundMs / wantedMs - 1) < 0.1, `${String(foundMs)} ms`);
    };
    isAbout(msBetween(4, 800), 250); // 248 ms are less than the interval anyway
    isAbout(msBetween(4, 1_000), 298);
    isAbout(msBetween(4, 2_000), 548);
    isAbout(msBetween(16, 5_000), LARGE_MS);
    isAbout(msBetween(16, 100_000), 2_000);
  });

  it('of nothing count for nothing', () => {
    const schedule = flushed(LARGE);
    for (const nowMs of [100, 200, 300, 400, 500]) {
      schedule.note('urgent', nowMs);
      schedule.noteFlush(nowMs, NOTHING);
    }
    assert.equal(dueAfter(schedule, ['normal', 600]), LARGE_MS);
    assert.equal(dueAfter(schedule, ['urgent', 610]), 615);
  });
});

describe('a heartbeat', () => {
  const { rolloutMs, idleMs } = OPTIONS.heartbeat;

  it('comes so long after the last cut, sooner while a rollout runs', () => {
    const schedule = created();
    assert.deepEqual([schedule.dueMs(true), schedule.dueMs(false)], [rolloutMs, idleMs]);
    schedule.noteFlush(1_000, SMALL);
    assert.deepEqual([schedule.dueMs(true), schedule.dueMs(false)], [31_000, 1_000 + idleMs]);
    schedule.noteFlush(2_000, NOTHING);
    assert.deepEqual([schedule.dueMs(true), schedule.dueMs(false)], [32_000, 2_000 + idleMs]);
  });

  it('within a second answers for an event that was filtered away; the next one is a regular one', () => {
    const schedule = created();
    assert.equal(dueAfter(schedule, ['calm', 100]), 1_100);
    schedule.noteFlush(1_100, NOTHING);
    assert.equal(schedule.dueMs(true), 31_100);
  });
});
