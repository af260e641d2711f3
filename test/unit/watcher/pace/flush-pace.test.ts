/** The pace of flushes: quick while little happens, bounded while much does (design 2). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { FlushPace } from '../../../../src/watcher/pace/flush-pace.ts';
import type { FlushWidth } from '../../../../src/watcher/pace/flush-pace.ts';
import { DEFAULT_WATCHER_OPTIONS as OPTIONS } from '../../../../src/watcher/pace/options.ts';

/** Flush times of changes every `everyMs`, from 0 until `untilMs`. */
function flushTimes(everyMs: number, untilMs: number, width: Partial<FlushWidth> = {}): number[] {
  const { slices = 1, objects = 0 } = width;
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
      pace.take(nowMs, { slices, objects });
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

  it('C.4: stretches with the slices that a flush touches, up to two seconds: ingest has to keep up', () => {
    const perSecond = (slices: number): number => flushTimes(10, 20_000, { slices }).length / 20;
    assert.ok(perSecond(20) > 3.9, '240 ms are less than the pace anyway');
    assert.ok(Math.abs(perSecond(80) - 1000 / 960) < 0.15, `${perSecond(80)} a second`);
    for (const slices of [160, 200, 10_000]) {
      assert.ok(Math.abs(perSecond(slices) - 0.5) < 0.1, `${perSecond(slices)} a second`);
    }
  });

  it('stretches with the objects in the slices that a flush touches: a rollout is many flushes over all of them', () => {
    const msBetween = (slices: number, objects: number): number =>
      60_000 / (flushTimes(10, 60_000, { slices, objects }).length - OPTIONS.flushBurstMax);
    const isAbout = (foundMs: number, wantedMs: number): void => {
      assert.ok(Math.abs(foundMs / wantedMs - 1) < 0.1, `${String(foundMs)} ms`);
    };
    isAbout(msBetween(4, 800), 250); // 248 ms are less than the pace anyway
    isAbout(msBetween(4, 1_000), 298);
    isAbout(msBetween(4, 2_000), 548);
    isAbout(msBetween(16, 5_000), 1_442);
    isAbout(msBetween(16, 100_000), 2_000);
  });

  it('lets a few flushes over large slices follow each other quickly all the same', () => {
    assert.deepEqual(flushTimes(20, 70, { slices: 16, objects: 5_000 }), [5, 25, 45, 65]);
  });

  it('C.4: is quick again a pace after the last wide flush', () => {
    const pace = new FlushPace(OPTIONS);
    pace.take(0, { slices: 160, objects: 0 });
    assert.equal(pace.dueMs({ firstMs: 10, lastMs: 10 }), 1_930 - 10);
    pace.take(1_920, { slices: 1, objects: 0 });
    assert.ok(pace.dueMs({ firstMs: 3_000, lastMs: 3_000 }) === 3_005);
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
          pace.take(nowMs, { slices: 1, objects: 0 });
        }
      }),
    );
  });
});
