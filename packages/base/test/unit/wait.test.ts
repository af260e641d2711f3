/** For how long a server is left alone: what its answer asks for, bounded, and until when. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createBackPressure, readRetryAfterMs } from '../../src/wait.ts';
import { VirtualClock } from '../../src/testing/virtual-clock.ts';

describe('readRetryAfterMs', () => {
  it('reads seconds and dates', () => {
    const nowMs = Date.parse('2026-01-02T03:04:05Z');
    assert.equal(readRetryAfterMs({ header: '3' }, nowMs), 3000);
    const header = 'Fri, 02 Jan 2026 03:04:15 GMT';
    assert.equal(readRetryAfterMs({ header }, nowMs), 10_000);
    assert.equal(readRetryAfterMs({ header }, undefined), undefined);
    assert.equal(readRetryAfterMs({ header: 'Fri, 02 Jan 2026 03:00:00 GMT' }, nowMs), 0);
    assert.equal(readRetryAfterMs({ header: 'soon' }, nowMs), undefined);
    assert.equal(readRetryAfterMs({}, nowMs), undefined);
  });

  it('takes the seconds of a Status where there is no header', () => {
    assert.equal(readRetryAfterMs({ statusSeconds: 5 }, 0), 5000);
    assert.equal(readRetryAfterMs({ header: '3', statusSeconds: 5 }, 0), 3000);
    for (const statusSeconds of [0, -1, '5', null, {}]) {
      assert.equal(readRetryAfterMs({ statusSeconds }, 0), undefined);
    }
  });

  it('lets no answer silence us for longer than a minute', () => {
    assert.equal(readRetryAfterMs({ header: '86400' }, 0), 60_000);
    assert.equal(readRetryAfterMs({ header: 'Fri, 02 Jan 2026 03:00:00 GMT' }, 0), 60_000);
    assert.equal(readRetryAfterMs({ statusSeconds: 86_400 }, 0), 60_000);
  });
});

describe('createBackPressure', () => {
  it('ends by itself, and keeps the latest end', async () => {
    const clock = new VirtualClock();
    const pressure = createBackPressure(clock);
    assert.equal(pressure.remainingMs(), 0);
    pressure.note(5000);
    pressure.note(1000);
    pressure.note(undefined);
    assert.equal(pressure.remainingMs(), 5000);
    await clock.advance(5000);
    assert.equal(pressure.remainingMs(), 0);
  });
});
