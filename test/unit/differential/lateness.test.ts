/**
 * Lateness of the differential suite is judged over a run: as a ratio of what both sides needed, and in counts.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeLateness, measureLateness } from '../../differential/lateness.ts';
import type { Measured, Settling } from '../../differential/lateness.ts';

function run(
  points: readonly (readonly [originalMs: number, rollcallMs: number])[],
  reasons: readonly string[] = [],
): readonly Measured[] {
  const settlings = points.map(([originalMs, rollcallMs], step): Settling => ({
    step,
    originalMs,
    rollcallMs,
  }));
  return [{ settlings, notes: reasons.map((reason) => ({ reason })) }];
}

function times<Value>(count: number, value: Value): readonly Value[] {
  return Array.from({ length: count }, () => value);
}

describe('the lateness of a run', () => {
  it('is no fault where both need about the same', () => {
    const { ratio, faults } = measureLateness(run(times(200, [1000, 1500])));
    assert.deepEqual([ratio, faults], [1, []]);
  });

  it('is a fault where Rollcall needs more than three times what it is granted', () => {
    const { faults } = measureLateness(run(times(200, [1000, 4650])));
    assert.deepEqual(faults, ['Rollcall needs 3.10 times the time that it is granted']);
  });

  it('is told by its middle and its end, for each side', () => {
    const points = [...times(90, [1000, 1000] as const), ...times(10, [2000, 4000] as const)];
    const { original, rollcall } = measureLateness(run(points));
    assert.deepEqual(
      [original.p50Ms, original.p95Ms, rollcall.p50Ms, rollcall.p95Ms],
      [1000, 2000, 1000, 4000],
    );
  });

  it('allows one in fifty points to be far later, and no more', () => {
    const good = times(196, [1000, 1000] as const);
    const far = (count: number): readonly string[] =>
      measureLateness(run([...good, ...times(count, [1000, 15_001] as const)])).faults;
    assert.deepEqual(far(4), []);
    assert.deepEqual(far(5), ['Rollcall is far later at 5 of 201 points']);
  });

  it('allows one in fifty points to change after quiet, and no other reason counts', () => {
    const good = times(100, [1000, 1000] as const);
    const late = (count: number): readonly string[] =>
      measureLateness(run(good, [...times(count, 'rollcall-late'), ...times(9, 'unrest')])).faults;
    assert.deepEqual(late(2), []);
    assert.deepEqual(late(3), ['Rollcall changed after both were quiet at 3 of 100 points']);
  });

  it('is printed with what is too much of it', () => {
    const lines = describeLateness(measureLateness(run(times(200, [1000, 9000]))));
    assert.equal(lines[2], '  rollcall     p50 9.00 s, p95 9.00 s, sum 1800.00 s');
    assert.equal(
      lines.at(-1),
      '  TOO LATE     Rollcall needs 6.00 times the time that it is granted',
    );
  });
});
