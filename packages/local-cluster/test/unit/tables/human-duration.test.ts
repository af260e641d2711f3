/** Ages at every step where their form changes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { humanDuration, timeSince } from '../../../src/tables/human-duration.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

const cases: readonly (readonly [durationMs: number, text: string])[] = [
  [-2 * SECOND, '<invalid>'],
  [-1 * SECOND, '0s'],
  [-999, '0s'],
  [0, '0s'],
  [999, '0s'],
  [119 * SECOND, '119s'],
  [2 * MINUTE, '2m'],
  [2 * MINUTE + 10 * SECOND, '2m10s'],
  [10 * MINUTE - 1, '9m59s'],
  [10 * MINUTE + 59 * SECOND, '10m'],
  [3 * HOUR - 1, '179m'],
  [3 * HOUR, '3h'],
  [3 * HOUR + 25 * MINUTE, '3h25m'],
  [8 * HOUR + 25 * MINUTE, '8h'],
  [2 * DAY - 1, '47h'],
  [2 * DAY, '2d'],
  [5 * DAY + 4 * HOUR, '5d4h'],
  [8 * DAY + 4 * HOUR, '8d'],
  [2 * YEAR - 1, '729d'],
  [2 * YEAR, '2y'],
  [2 * YEAR + 30 * DAY, '2y30d'],
  [8 * YEAR + 30 * DAY, '8y'],
];

for (const [durationMs, text] of cases) {
  test(`${String(durationMs)} ms are ${text}`, () => {
    assert.equal(humanDuration(durationMs), text);
  });
}

test('a time that is not there was at an unknown time', () => {
  assert.equal(timeSince(undefined, 0), '<unknown>');
  assert.equal(timeSince(null, 0), '<unknown>');
  assert.equal(timeSince('1970-01-01T00:00:01Z', 6000), '5s');
});
