/** The curve of back-off is monotone and bounded (spec 2.7, faults 44). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  BACKOFF_CAP_MS,
  BACKOFF_INITIAL_MS,
  advanceBackoff,
  backoffEndMs,
  isInBackoff,
} from '../../../../src/core/pod/backoff.ts';
import { nodeName } from '../../../../src/core/model/identifiers.ts';
import type { BackoffEntry } from '../../../../src/core/model/state.ts';
import { NOW_MS } from '../../../support/core-fixtures.ts';

test('delays never shrink while failures follow each other, and stay within 1 s and 15 min', () => {
  const pauses = fc.array(fc.integer({ min: 0, max: BACKOFF_CAP_MS }), { maxLength: 20 });
  fc.assert(
    fc.property(pauses, (waits) => {
      let entry: BackoffEntry | undefined;
      let nowMs = NOW_MS;
      for (const waitMs of waits) {
        const before = entry?.delayMs ?? BACKOFF_INITIAL_MS;
        entry = advanceBackoff(entry, { node: nodeName('n'), generation: 1, nowMs });
        assert.ok(entry.delayMs >= before && entry.delayMs <= BACKOFF_CAP_MS);
        assert.ok(isInBackoff(entry, nowMs));
        assert.ok(!isInBackoff(entry, backoffEndMs(entry)));
        nowMs = backoffEndMs(entry) + waitMs;
      }
    }),
    { numRuns: 200 },
  );
});
