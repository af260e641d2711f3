/** The pace of flushes: quick while little happens, bounded while much does (design 2). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { FlushPace } from '../../../src/watcher/flush-pace.ts';

const OPTIONS = { flushQuietMs: 5, flushMsMax: 250, flushBurstMax: 4 };

/** Flush times of a change every `everyMs`, from 0 until `untilMs`. */
function flushTimes(everyMs: number, untilMs: number): number[] {
  const pace = new FlushPace(OPTIONS);
  const times: number[] = [];
  let firstMs: number | undefined;
  let lastMs = 0;
  for (let nowMs = 0; nowMs <= untilMs; nowMs += 1) {
    if (nowMs % everyMs === 0) {
      firstMs ??= nowMs;
      lastMs = nowMs;
    }
    if (firstMs !== undefined && pace.dueMs({ firstMs, lastMs }) <= nowMs) {
      pace.take(nowMs);
      times.push(nowMs);
      firstMs = undefined;
    }
  }
  return times;
}

describe('the pace of flushes', () => {
  it('sends a single change after a few milliseconds of quiet', () => {
    assert.deepEqual(flushTimes(1000, 900), [5]);
  });

  it('lets a few flushes follow each other quickly', () => {
    assert.deepEqual(flushTimes(20, 70), [5, 25, 45, 65]);
  });

  it('settles at one flush in 250 ms under a steady stream', () => {
    const times = flushTimes(10, 10_000);
    assert.ok(times.length <= 4 + 10_000 / 250 + 1, `${String(times.length)} flushes`);
    assert.ok(times.length >= 10_000 / 250 - 1, `${String(times.length)} flushes`);
  });

  it('never keeps a change longer than 250 ms', () => {
    const gaps = fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 60 });
    fc.assert(
      fc.property(gaps, (everyMs) => {
        const pace = new FlushPace(OPTIONS);
        let nowMs = 0;
        for (const gap of everyMs) {
          nowMs += gap;
          const dueMs = pace.dueMs({ firstMs: nowMs, lastMs: nowMs });
          assert.ok(dueMs - nowMs <= 250);
          assert.ok(dueMs - nowMs >= 5);
          nowMs = dueMs;
          pace.take(nowMs);
        }
      }),
    );
  });
});
