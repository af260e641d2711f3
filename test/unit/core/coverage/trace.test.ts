/** Traces of the log: in order, and each once though it left twice. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { daysOfTraces, tracesInOrder } from '../../../../src/core/coverage/trace.ts';
import type { CoverageTrace } from '../../../../src/core/model/log-entry.ts';

const AT = 1_728_000_000;
const FIRST: CoverageTrace = { at: AT, eligible: 3, covered: 2, spans: [60, 0, 1] };
const SECOND: CoverageTrace = { at: AT + 60, eligible: 3, covered: 3, spans: [30, 0, 0] };

describe('traces of coverage', () => {
  it('are in the order of time, whatever order they are read in', () => {
    assert.deepEqual(tracesInOrder([SECOND, FIRST]), [FIRST, SECOND]);
    assert.deepEqual(daysOfTraces([SECOND, FIRST])?.rows, [[210, 60]]);
  });

  it('count once where one left again with what was counted since', () => {
    const again = { ...FIRST, spans: [60, 0, 1, 40, 0, 0] };
    assert.deepEqual(tracesInOrder([again, FIRST, FIRST]), [again]);
    assert.deepEqual(daysOfTraces([FIRST, again])?.rows, [[240, 60]]);
  });

  it('count both where one of no length ends in the second in which the next begins', () => {
    const joined: CoverageTrace = { ...FIRST, spans: [], joined: [0, 2] };
    assert.deepEqual(tracesInOrder([FIRST, joined]), [joined, FIRST]);
    assert.deepEqual(daysOfTraces([FIRST, joined])?.rows, [[120, 60, 0, 0, 0, 1]]);
  });
});
