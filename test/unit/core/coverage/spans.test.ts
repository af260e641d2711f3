/** Which time is unknown, and how days are counted, left and read again. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countCoverage, daysUntil, putOff } from '../../../../src/core/coverage/count-coverage.ts';
import { allDays, leavingDays, withoutDays } from '../../../../src/core/coverage/kept-days.ts';
import { spansSince } from '../../../../src/core/coverage/spans.ts';
import type { CoverageMoment } from '../../../../src/core/coverage/spans.ts';
import { timeToDaemon } from '../../../../src/core/coverage/time-to-daemon.ts';
import type { CoverageRecord } from '../../../../src/core/model/state.ts';
import { STOPS_MAX, withStop } from '../../../../src/core/status/outages.ts';

const DAY = 86_400;
const AT = 20_000 * DAY + 3_600;

const RECORD: CoverageRecord = {
  ...{ at: AT, eligible: 10, covered: 9, newest: 0 },
  days: { since: 0, day: 20_000, rows: [[]] },
};

function moment(seconds: number, more: Partial<CoverageMoment> = {}): CoverageMoment {
  const nowMs = (AT + seconds) * 1000;
  return {
    nowMs,
    untilMs: nowMs,
    lastSentAtMs: nowMs,
    unheardMs: 0,
    broken: 0,
    stops: [],
    ...more,
  };
}

function unknownIn(seconds: number, more: Partial<CoverageMoment>, record = RECORD): number {
  const spans = spansSince(record, moment(seconds, more));
  assert.equal(
    spans.reduce((sum, { from, to }) => sum + to - from, 0),
    seconds,
  );
  return spans.reduce((sum, { from, to, isKnown }) => sum + (isKnown ? 0 : to - from), 0);
}

describe('time that is unknown (S20)', () => {
  const ms = (seconds: number): number => (AT + seconds) * 1000;

  it('is none while runs come and the watcher is heard', () => {
    assert.equal(unknownIn(7_200, { lastSentAtMs: ms(7_200 - 800), dueAtMs: ms(7_100) }), 0);
  });

  it('is what lies after the last message, once the watcher is silent', () => {
    assert.equal(unknownIn(7_200, { lastSentAtMs: ms(3_600) }), 3_600);
  });

  it('is as much as META says was in the dark since, and no second twice', () => {
    assert.equal(unknownIn(7_200, { unheardMs: 1_000_000 }), 1_000);
    assert.equal(
      unknownIn(7_200, { unheardMs: 1_000_000 }, { ...RECORD, unheardMs: 400_000 }),
      600,
    );
    assert.equal(unknownIn(7_200, { unheardMs: 9e9, stops: [[ms(0), ms(10)]] }), 7_200);
  });

  it('is what stops cover, however they overlap, and none of the time before', () => {
    const stops = [
      [ms(-500), ms(100)],
      [ms(50), ms(150)],
      [ms(1_000), ms(1_100)],
    ] as const;
    assert.equal(unknownIn(7_200, { stops }), 250);
    assert.equal(unknownIn(0, { stops }), 0);
  });

  it('is what follows a due time that no run came for', () => {
    assert.equal(unknownIn(7_200, { dueAtMs: ms(7_000) }), 200);
  });

  it('is what follows the first of the runs that were put off for long', () => {
    const record = putOff(putOff(RECORD, ms(100)), ms(5_000));
    assert.equal(unknownIn(7_200, {}, record), 7_100);
    assert.equal(unknownIn(200, {}, record), 0);
  });

  it('is all of it while the view is not whole, and what was before a snapshot that mends a loss', () => {
    assert.equal(unknownIn(7_200, { broken: undefined }), 7_200);
    assert.equal(unknownIn(7_200, { broken: 1, wholeSinceMs: ms(7_000) }), 7_000);
    const record = { ...RECORD, broken: 1 };
    assert.equal(unknownIn(7_200, { broken: 1, wholeSinceMs: ms(7_000) }, record), 0);
  });
});

describe('days of coverage', () => {
  it('take each second in the day that it is of', () => {
    const days = daysUntil(RECORD, moment(2 * DAY));
    assert.deepEqual(days.rows, [
      [9 * 3_600, 3_600],
      [9 * DAY, DAY],
      [9 * 82_800, 82_800],
    ]);
  });

  it('count nothing twice where a clock is behind', () => {
    const nodes = { eligible: 10, covered: 9, newest: 0, joined: [] };
    const { record, spans } = countCoverage(RECORD, nodes, moment(-5));
    assert.deepEqual([record.at, spans], [AT, []]);
  });

  it('leave a state a week at a time, and only those that were over when it was stored', () => {
    const later = { ...RECORD, at: AT + 7 * DAY, days: daysUntil(RECORD, moment(7 * DAY)) };
    assert.equal(leavingDays(RECORD, later), undefined);
    const next = { ...later, at: AT + 7 * DAY + 60, days: daysUntil(later, moment(7 * DAY + 60)) };
    const leaving = leavingDays(later, next);
    assert.deepEqual([leaving?.day, leaving?.rows.length], [20_000, 7]);
    assert.ok(leaving);
    const left = withoutDays(next, leaving);
    assert.equal(left.days.rows.length, 1);
    assert.deepEqual([...leaving.rows, ...allDays(left.days).rows], allDays(next.days).rows);
  });
});

describe('the time that nodes wait', () => {
  it('is told as the upper bound of a range', () => {
    const counts = [90, 0, 8, 0, 2];
    const told = { nodes: 100, p50Ms: 2_000, p95Ms: 10_000, p99Ms: 20_000 };
    assert.deepEqual(timeToDaemon(counts), told);
  });

  it('has no bound beyond the last, and none of no node', () => {
    assert.deepEqual(timeToDaemon([...Array.from({ length: 16 }, () => 0), 1]), { nodes: 1 });
    assert.deepEqual(timeToDaemon([]), { nodes: 0 });
  });
});

describe('stops that are remembered', () => {
  it('are bounded, and those that become one cover what was between them', () => {
    const spans = Array.from(
      { length: STOPS_MAX + 2 },
      (_, index) => [index * 10, index * 10 + 5] as const,
    );
    const stops = spans.reduce(withStop, [] as readonly (readonly [number, number])[]);
    assert.deepEqual([stops.length, stops[0]], [STOPS_MAX, [0, 25]]);
  });
});
