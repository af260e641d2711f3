/** Counts by day: nothing is lost within the span, old days go, a clock that is wrong does no harm. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DAYS_KEPT, addToDay, sumDays, type DailyCounts } from '../../../../src/core/cost/daily.ts';

const DAY_MS = 86_400_000;
const START_MS = 20_000 * DAY_MS;

function countedAt(moments: readonly number[]): DailyCounts | undefined {
  return moments.reduce<DailyCounts | undefined>(
    (counts, atMs) => addToDay(counts, atMs, [1, 10]),
    undefined,
  );
}

describe('addToDay', () => {
  it('adds to the row of its day, with an empty one for each day between', () => {
    const counts = countedAt([START_MS + 60_000, START_MS + 90_000, START_MS + 2 * DAY_MS]);
    assert.deepEqual(counts, {
      since: START_MS / 60_000 + 1,
      day: 20_002,
      rows: [[1, 10], [], [2, 20]],
    });
  });

  it('keeps a week and today, however far the clock goes', () => {
    const counts = countedAt([START_MS, START_MS + 400 * DAY_MS]);
    assert.equal(counts?.rows.length, DAYS_KEPT);
    assert.deepEqual(counts.rows.flat(), [1, 10]);
  });

  it('adds what a late clock brings to the newest day', () => {
    const counts = countedAt([START_MS, START_MS - 3 * DAY_MS]);
    assert.deepEqual([counts?.day, counts?.rows], [20_000, [[2, 20]]]);
  });

  it('adds columns that a row does not have yet', () => {
    const counts = addToDay(addToDay(undefined, START_MS, [1]), START_MS, [0, 0, 5]);
    assert.deepEqual(counts.rows, [[1, 0, 5]]);
  });
});

describe('sumDays', () => {
  it('knows nothing of what was never counted', () => {
    assert.equal(sumDays(undefined, START_MS), undefined);
  });

  it('sums up over the hours since counting began', () => {
    const counts = countedAt([START_MS, START_MS + 3_600_000]);
    assert.deepEqual(sumDays(counts, START_MS + 6 * 3_600_000), {
      columns: [2, 20],
      hours: 6,
      lastAtMs: START_MS + 6 * 3_600_000,
    });
  });

  it('leaves out what is older than the span, and says when the last count was', () => {
    const counts = countedAt([START_MS]);
    const nowMs = START_MS + 30 * DAY_MS;
    assert.deepEqual(sumDays(counts, nowMs), { columns: [], hours: 7 * 24 });
    assert.equal(sumDays(counts, START_MS + 3 * DAY_MS)?.lastAtMs, START_MS + DAY_MS);
  });

  it('counts each of the span once, in whatever order they come, and stays small', () => {
    const minutes = fc.array(fc.integer({ min: 0, max: (DAYS_KEPT - 1) * 24 * 60 - 1 }), {
      minLength: 1,
      maxLength: 60,
    });
    fc.assert(
      fc.property(minutes, (after) => {
        const counts = countedAt(after.map((each) => START_MS + each * 60_000));
        const sum = sumDays(counts, START_MS + (DAYS_KEPT - 1) * DAY_MS);
        assert.deepEqual(sum?.columns, [after.length, 10 * after.length]);
        assert.ok(JSON.stringify(counts).length < 200);
      }),
    );
  });
});
