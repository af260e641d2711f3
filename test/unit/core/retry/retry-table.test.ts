/** The one table of what is tried again (L5): waits grow up to a bound, and Retry-After counts within it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RETRY_TABLE, nextDelayMs } from '../../../../src/core/retry/retry-table.ts';
import { nextRetry } from '../../../../src/core/retry/retry.ts';

describe('the table of retries', () => {
  for (const [reason, row] of Object.entries(RETRY_TABLE)) {
    it(`waits for ${reason} at first, then longer or as long, and never beyond its bound`, () => {
      assert.ok(row.firstMs > 0 && row.firstMs <= row.maxMs);
      let delayMs = nextDelayMs(row, undefined);
      assert.equal(delayMs, row.firstMs);
      for (let times = 0; times < 20; times += 1) {
        const next = nextDelayMs(row, delayMs);
        assert.ok(next >= delayMs && next <= row.maxMs);
        delayMs = next;
      }
      assert.equal(delayMs, row.factor > 1 ? row.maxMs : row.firstMs);
    });
  }

  it('waits as long as an API server asks for, within the bound', () => {
    const { key } = RETRY_TABLE;
    assert.equal(nextDelayMs(key, undefined, 60_000), 60_000);
    assert.equal(nextDelayMs(key, 4_000, 1_000), 8_000);
    assert.equal(nextDelayMs(key, undefined, 86_400_000), key.maxMs);
  });
});

describe('the back-off of a key', () => {
  const at = { nowMs: 1_000_000, jittered: (delayMs: number) => delayMs };
  const reason = { code: 'cluster-unavailable', holdsCreates: false };

  it('doubles for the same reason and generation, and begins anew for another', () => {
    const first = nextRetry(undefined, reason, at);
    assert.deepEqual(first, { ...reason, delayMs: 2_000, notBeforeMs: 1_002_000 });
    assert.equal(nextRetry(first, reason, at).delayMs, 4_000);
    assert.equal(nextRetry(first, { ...reason, code: 'no-access' }, at).delayMs, 2_000);
    assert.equal(nextRetry(first, { ...reason, generation: 2 }, at).delayMs, 2_000);
  });
});
