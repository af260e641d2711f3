/** Times as the API writes them, and every form in which it reads them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  canonicalMicroTime,
  canonicalTime,
  formatMicroTime,
  formatTime,
  parseTime,
} from '../../../src/objects/timestamps.ts';

const NEW_YEAR_MS = Date.UTC(2026, 0, 1);

test('times are written in UTC, in whole seconds or in microseconds', () => {
  assert.equal(formatTime(NEW_YEAR_MS + 1999), '2026-01-01T00:00:01Z');
  assert.equal(formatMicroTime(NEW_YEAR_MS + 1999), '2026-01-01T00:00:01.999000Z');
});

test('times are read in any zone and precision', () => {
  assert.equal(parseTime('2026-01-01T01:00:00+01:00'), NEW_YEAR_MS);
  assert.equal(parseTime('2026-01-01T00:00:00.123456789Z'), NEW_YEAR_MS + 123);
  assert.equal(canonicalTime('2026-01-01T01:00:00.9+01:00'), '2026-01-01T00:00:00Z');
  assert.equal(
    canonicalMicroTime('2026-01-01T01:00:00.1234567+01:00'),
    '2026-01-01T00:00:00.123456Z',
  );
  assert.equal(canonicalMicroTime('2026-01-01T00:00:00Z'), '2026-01-01T00:00:00.000000Z');
});

test('what is no RFC 3339 time is refused', () => {
  for (const text of ['', 'x', '2026-01-01', '2026-13-01T00:00:00Z', '2026-01-01T00:00:00']) {
    assert.equal(parseTime(text), undefined, text);
    assert.equal(canonicalTime(text), undefined, text);
  }
});
