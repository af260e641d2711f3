/** Back-off keeps its bounds, whatever fails when. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  BACK_OFF_FIRST_MS,
  BACK_OFF_MAX_MS,
  BACK_OFF_RESET_MS,
  nextBackOff,
  remainingBackOffMs,
} from '../../../../src/node-agent/containers/back-off.ts';
import type { BackOff } from '../../../../src/node-agent/containers/back-off.ts';

test('delays stay between 10 s and 5 min, double, and start anew after ten quiet minutes', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 2_000_000 }), { maxLength: 40 }),
      (quietTimesMs) => {
        let backOff: BackOff | undefined;
        let nowMs = 0;
        for (const quietMs of quietTimesMs) {
          const before = backOff;
          nowMs += quietMs;
          backOff = nextBackOff(before, { failedAtMs: nowMs, nowMs });
          assert.ok(backOff.delayMs >= BACK_OFF_FIRST_MS && backOff.delayMs <= BACK_OFF_MAX_MS);
          const expectedMs =
            before === undefined || quietMs > BACK_OFF_RESET_MS
              ? BACK_OFF_FIRST_MS
              : Math.min(before.delayMs * 2, BACK_OFF_MAX_MS);
          assert.equal(backOff.delayMs, expectedMs);
        }
      },
    ),
  );
});

test('what remains is never more than the delay, shrinks with time, and ends', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: BACK_OFF_FIRST_MS, max: BACK_OFF_MAX_MS }),
      fc.integer({ min: -1_000_000, max: 1_000_000 }),
      fc.integer({ min: 0, max: 1_000_000 }),
      (delayMs, sinceMs, laterMs) => {
        const backOff = { delayMs, updatedAtMs: 1_000_000 };
        const failedAtMs = backOff.updatedAtMs + sinceMs;
        const remainingMs = remainingBackOffMs(backOff, { failedAtMs, nowMs: failedAtMs });
        const afterMs = remainingBackOffMs(backOff, { failedAtMs, nowMs: failedAtMs + laterMs });
        assert.ok(remainingMs <= delayMs);
        assert.ok(afterMs <= remainingMs);
        assert.equal(remainingBackOffMs(backOff, { failedAtMs, nowMs: failedAtMs + delayMs }), 0);
      },
    ),
  );
});

test('without a failure there is nothing to wait for', () => {
  assert.equal(remainingBackOffMs(undefined, { failedAtMs: 0, nowMs: 0 }), 0);
});
