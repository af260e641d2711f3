/** When a key is looked at again after a hint was given up: later, bounded, merged, spread (A.4, L2). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lookAfterLostHint } from '../../../../src/core/hints/lost-hint.ts';
import { clusterId } from '../../../../src/core/model/identifiers.ts';

const NOW_MS = 1_800_000_000_000;
const MINUTE_MS = 60_000;
const keyOf = (name: string) => ({ cluster: clusterId('a'), namespace: 'system', name });
const key = keyOf('agents');

describe('lookAfterLostHint', () => {
  it('waits ten minutes at least, fifteen at most: what one timer can wait', () => {
    for (let offsetMs = 0; offsetMs < 10 * MINUTE_MS; offsetMs += 7_919) {
      const nowMs = NOW_MS + offsetMs;
      const waitMs = lookAfterLostHint(key, nowMs) - nowMs;
      assert.ok(waitMs >= 10 * MINUTE_MS && waitMs < 15 * MINUTE_MS, String(waitMs));
    }
  });

  it('gives letters that come close to each other one look, five minutes apart from the next', () => {
    const first = lookAfterLostHint(key, NOW_MS);
    const latestMs = first - 10 * MINUTE_MS;
    assert.equal(lookAfterLostHint(key, latestMs), first);
    assert.equal(lookAfterLostHint(key, latestMs + 1), first + 5 * MINUTE_MS);
    assert.equal(lookAfterLostHint(key, latestMs - 5 * MINUTE_MS + 1), first);
    assert.equal(lookAfterLostHint(key, latestMs - 5 * MINUTE_MS), first - 5 * MINUTE_MS);
  });

  it('spreads the keys of a bad deployment over five minutes', () => {
    const looks = Array.from({ length: 300 }, (_, index) =>
      lookAfterLostHint(keyOf(`set-${String(index)}`), NOW_MS),
    );
    const firsts = Math.min(...looks);
    const halves = looks.filter((look) => look - firsts < 2.5 * MINUTE_MS).length;
    assert.ok(new Set(looks).size > 290);
    assert.ok(halves > 100 && halves < 200, String(halves));
  });
});
