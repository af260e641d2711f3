/** protocol 12, L5: which looks are on their way, which of them serves, and how they grow apart. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  findPendingLook,
  pendingLooks,
  rememberLooks,
  lookAfterLostHint,
} from '../../../../src/core/hints/looks.ts';
import { nextLook } from '../../../../src/core/retry/retry.ts';
import type { WantedLook } from '../../../../src/core/hints/looks.ts';
import { clusterId } from '../../../../src/core/model/identifiers.ts';

const NOW_MS = 1_000_000;

describe('protocol 12: looks on their way', () => {
  it('are all that were sent and are not past, soonest first, each once', () => {
    const state = {
      dueSentAtMs: NOW_MS + 5,
      // No timer is sent for it.
      expiryAtMs: NOW_MS + 9,
      timersSentAtMs: [NOW_MS + 7, NOW_MS + 5, NOW_MS - 1, NOW_MS],
    };
    assert.deepEqual(pendingLooks(state, NOW_MS), [NOW_MS + 5, NOW_MS + 7]);
    assert.deepEqual(pendingLooks({}, NOW_MS), []);
  });

  const find = (
    pending: readonly number[],
    inMs: number,
    waitsFor: WantedLook['waitsFor'] = 'moment',
  ): number | undefined => {
    const found = findPendingLook(
      pending.map((each) => NOW_MS + each),
      { atMs: NOW_MS + inMs, nowMs: NOW_MS, waitsFor },
    );
    return found === undefined ? undefined : found - NOW_MS;
  };

  it('serve a near one when they come earlier, or a second later; the latest of them', () => {
    assert.equal(find([100], 1_000), 100);
    assert.equal(find([100, 900, 2_000, 2_001], 1_000), 2_000);
    assert.equal(find([2_001], 1_000), undefined);
    assert.equal(find([1], 4_999), 1);
  });

  it('serve a moment that is known only if they do not come before it', () => {
    assert.equal(find([4_999], 5_000), undefined);
    assert.equal(find([5_000], 5_000), 5_000);
    assert.equal(find([100, 61_000], 60_000), 61_000);
    assert.equal(find([61_001], 60_000), undefined);
  });

  it('serve what others change meanwhile whenever they come before, and the last of them (L5)', () => {
    assert.equal(find([250, 4_750], 5_000, 'change'), 4_750);
    assert.equal(find([1], 300_000, 'change'), 1);
    assert.equal(find([6_000], 5_000, 'change'), 6_000);
    assert.equal(find([6_001], 5_000, 'change'), undefined);
  });

  it('are remembered, the soonest sixteen', () => {
    assert.deepEqual(rememberLooks([3, 1], 2), [1, 2, 3]);
    assert.deepEqual(rememberLooks([2], 2), [2]);
    const many = Array.from({ length: 20 }, (_, index) => index);
    assert.deepEqual(rememberLooks(many, 99), many.slice(0, 16));
  });
});

describe('L5: a look at what is about to change', () => {
  const at = { code: 'x', nowMs: NOW_MS, hasProgressed: false, row: 'soon' } as const;
  const first = { code: 'x', delayMs: 1_000, atMs: NOW_MS + 1_000 };

  it('is soon at first, for another reason, and while a run gets further', () => {
    assert.deepEqual(nextLook(undefined, at), first);
    assert.deepEqual(nextLook({ ...first, code: 'y', delayMs: 9 }, at), first);
    const late = { ...first, atMs: NOW_MS, delayMs: 2_000 };
    assert.deepEqual(nextLook(late, { ...at, hasProgressed: true }), first);
  });

  it('stays as it is while it lasts, whoever asks', () => {
    const former = { ...first, atMs: NOW_MS + 1 };
    assert.equal(nextLook(former, at), former);
  });

  it('is twice as far away once it was had in vain, up to the longest wait', () => {
    const second = nextLook({ ...first, atMs: NOW_MS }, at);
    assert.deepEqual(second, { code: 'x', delayMs: 2_000, atMs: NOW_MS + 2_000 });
    const late = { ...second, delayMs: 200_000 };
    assert.equal(nextLook(late, { ...at, nowMs: second.atMs }).delayMs, 300_000);
  });
});

/** When a key is looked at again after a hint was given up: later, bounded, merged, spread (A.4, L2). */

const LETTER_AT_MS = 1_800_000_000_000;
const MINUTE_MS = 60_000;
const keyOf = (name: string) => ({ cluster: clusterId('a'), namespace: 'system', name });
const key = keyOf('agents');

describe('lookAfterLostHint', () => {
  it('waits ten minutes at least, fifteen at most: what one timer can wait', () => {
    for (let offsetMs = 0; offsetMs < 10 * MINUTE_MS; offsetMs += 7_919) {
      const nowMs = LETTER_AT_MS + offsetMs;
      const waitMs = lookAfterLostHint(key, nowMs) - nowMs;
      assert.ok(waitMs >= 10 * MINUTE_MS && waitMs < 15 * MINUTE_MS, String(waitMs));
    }
  });

  it('gives letters that come close to each other one look, five minutes apart from the next', () => {
    const first = lookAfterLostHint(key, LETTER_AT_MS);
    const latestMs = first - 10 * MINUTE_MS;
    assert.equal(lookAfterLostHint(key, latestMs), first);
    assert.equal(lookAfterLostHint(key, latestMs + 1), first + 5 * MINUTE_MS);
    assert.equal(lookAfterLostHint(key, latestMs - 5 * MINUTE_MS + 1), first);
    assert.equal(lookAfterLostHint(key, latestMs - 5 * MINUTE_MS), first - 5 * MINUTE_MS);
  });

  it('spreads the keys of a bad deployment over five minutes', () => {
    const looks = Array.from({ length: 300 }, (_, index) =>
      lookAfterLostHint(keyOf(`set-${String(index)}`), LETTER_AT_MS),
    );
    const firsts = Math.min(...looks);
    const halves = looks.filter((look) => look - firsts < 2.5 * MINUTE_MS).length;
    assert.ok(new Set(looks).size > 290);
    assert.ok(halves > 100 && halves < 200, String(halves));
  });
});
