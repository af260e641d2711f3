/** Who waits for a change tells when it is sent (ADR 0059). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { FlushWidth } from '../../../../src/watcher/pace/flush-pace.ts';
import { FlushSchedule } from '../../../../src/watcher/pace/flush-schedule.ts';
import type { Urgency } from '../../../../src/watcher/pace/flush-schedule.ts';
import { DEFAULT_WATCHER_OPTIONS as OPTIONS } from '../../../../src/watcher/pace/options.ts';

const SMALL: FlushWidth = { slices: 1, objects: 10 };
/** A rollout over 5,000 nodes: 1,442 ms between two flushes. */
const LARGE: FlushWidth = { slices: 16, objects: 5_000 };

/** A schedule whose quick flushes are gone, the last one at 0. */
function exhausted(width: FlushWidth): FlushSchedule {
  const schedule = new FlushSchedule(OPTIONS);
  for (let count = 0; count <= OPTIONS.flushBurstMax; count += 1) {
    schedule.note('usual', 0);
    schedule.take(0, width);
  }
  return schedule;
}

function dueAfter(
  schedule: FlushSchedule,
  changes: readonly (readonly [Urgency, number])[],
): number {
  for (const [urgency, atMs] of changes) schedule.note(urgency, atMs);
  return schedule.dueMs();
}

describe('when a flush is due', () => {
  it('is never, while nothing waits', () => {
    assert.equal(new FlushSchedule(OPTIONS).dueMs(), Infinity);
  });

  it('is after a few milliseconds of quiet for what decides, and 250 for what leads to nothing by itself', () => {
    assert.equal(dueAfter(new FlushSchedule(OPTIONS), [['prompt', 100]]), 105);
    assert.equal(dueAfter(new FlushSchedule(OPTIONS), [['usual', 100]]), 105);
    const calm = new FlushSchedule(OPTIONS);
    assert.equal(
      dueAfter(calm, [
        ['calm', 100],
        ['calm', 300],
      ]),
      350,
    );
    assert.equal(dueAfter(calm, [['prompt', 310]]), 315);
  });

  it('says when it comes sooner than before, so that a sleeper is woken then and only then', () => {
    const schedule = new FlushSchedule(OPTIONS);
    assert.equal(schedule.note('calm', 0), true);
    assert.equal(schedule.note('calm', 10), false);
    assert.equal(schedule.note('usual', 20), true);
    assert.equal(schedule.note('usual', 24), false);
    assert.equal(schedule.note('prompt', 24), false);
  });

  it('does not wait for the pace of a rollout when somebody waits', () => {
    assert.equal(dueAfter(exhausted(LARGE), [['usual', 10]]), 1_442);
    assert.equal(
      dueAfter(exhausted(LARGE), [
        ['usual', 10],
        ['prompt', 20],
      ]),
      25,
    );
    // Nor for quiet, in a crowd that keeps coming.
    const crowd = Array.from({ length: 40 }, (_, index) => ['prompt', 10 + index] as const);
    assert.equal(dueAfter(exhausted(LARGE), crowd), 35);
  });

  it('is that of the pace for the fifth of a crowd, and one for each pace more', () => {
    const schedule = exhausted(LARGE);
    const times: number[] = [];
    for (let nowMs = 1; nowMs <= 10_000; nowMs += 1) {
      if (nowMs % 10 === 0) schedule.note('prompt', nowMs);
      if (schedule.dueMs() > nowMs) continue;
      schedule.take(nowMs, LARGE);
      times.push(nowMs);
    }
    assert.ok((times[3] ?? Infinity) < 200, times.join(' '));
    const allowed = OPTIONS.promptBurstMax + 1 + 10_000 / 1_442;
    assert.ok(times.length <= allowed, times.join(' '));
  });

  it('is that of the pace in a rollout, however much changes: each flush writes all of its slices anew', () => {
    for (const urgency of ['usual', 'calm'] as const) {
      const many = Array.from({ length: 500 }, (_, index) => [urgency, index + 1] as const);
      assert.equal(dueAfter(exhausted(LARGE), many), 1_442);
    }
  });

  it('is two paces after a wide flush for what leads to nothing by itself, and a second at most', () => {
    const waits = ([slices, objects]: readonly [number, number]): number => {
      const schedule = new FlushSchedule(OPTIONS);
      schedule.take(0, { slices, objects });
      return dueAfter(schedule, [['calm', 5_000]]) - 5_000;
    };
    const widths = [
      [1, 250],
      [4, 1_000],
      [10, 1_000],
      [16, 5_000],
    ] as const;
    assert.deepEqual(widths.map(waits), [250, 596, 740, 1_000]);
    const schedule = new FlushSchedule(OPTIONS);
    schedule.take(0, LARGE);
    const both = [
      ['calm', 5_000],
      ['usual', 5_100],
    ] as const;
    assert.equal(dueAfter(schedule, both), 5_105, 'whatever leads to something takes it along');
  });

  it('counts a flush that had nothing to send for nothing', () => {
    const schedule = exhausted(SMALL);
    schedule.note('prompt', 10);
    schedule.take(15, undefined);
    assert.equal(schedule.dueMs(), Infinity);
    assert.equal(dueAfter(schedule, [['usual', 20]]), 250);
  });

  it('never keeps a change longer than the pace allows, whatever it is', () => {
    const changes = fc.array(
      fc.tuple(
        fc.constantFrom<Urgency>('prompt', 'usual', 'calm'),
        fc.integer({ min: 1, max: 600 }),
      ),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(changes, (given) => {
        const schedule = new FlushSchedule(OPTIONS);
        let nowMs = 0;
        for (const [urgency, gapMs] of given) {
          nowMs += gapMs;
          schedule.note(urgency, nowMs);
          const waitMs = schedule.dueMs() - nowMs;
          assert.ok(waitMs >= OPTIONS.flushQuietMs && waitMs <= 250, `${String(waitMs)} ms`);
          nowMs += waitMs;
          schedule.take(nowMs, SMALL);
        }
      }),
    );
  });
});
