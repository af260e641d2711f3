/** The walk of resync: which time is whose, who holds it, and what is owed (F11, L2, protocol 23). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterId } from '../../../../src/core/model/identifiers.ts';
import {
  FIRST_WALK_MS,
  OWED_MAX,
  beginWalk,
  pauseWalk,
  turnWithin,
} from '../../../../src/core/hints/resync-walk.ts';
import type { ResyncWalk } from '../../../../src/core/hints/resync-walk.ts';

const NOW_MS = 1_800_000_000_000;
const at = (nowMs: number): { nowMs: number; holdMs: number } => ({ nowMs, holdMs: 35_000 });
const OVER: ResyncWalk = {
  version: 7,
  fromMs: NOW_MS - 120_000,
  untilMs: NOW_MS - 60_000,
  isOver: true,
  owed: [],
  failed: [],
};

describe('beginWalk', () => {
  it('begins where the walk before began, however long ago: no time is left out (F11)', () => {
    for (const laterMs of [0, 50_000, 180_000, 7 * 3_600_000]) {
      const begin = beginWalk(OVER, at(NOW_MS + laterMs));
      assert.deepEqual(begin, {
        kind: 'begun',
        walk: {
          version: 7,
          fromMs: NOW_MS - 60_000,
          untilMs: NOW_MS + laterMs,
          isOver: false,
          heldUntilMs: NOW_MS + laterMs + 35_000,
          owed: [],
          failed: [],
        },
      });
    }
  });

  it('owes the clusters that failed in the walk before, and only those', () => {
    const failed = [{ cluster: clusterId('a'), sinceMs: NOW_MS - 120_000 }];
    const owed = [{ cluster: clusterId('b'), sinceMs: NOW_MS - 180_000 }];
    const begin = beginWalk({ ...OVER, failed, owed }, at(NOW_MS));
    assert.ok(begin.kind === 'begun');
    assert.deepEqual(begin.walk.owed, failed);
    assert.deepEqual(begin.walk.failed, []);
  });

  it('goes on with a walk that is not over: same time, same place, same debts', () => {
    const owed = [{ cluster: clusterId('b'), sinceMs: 1 }];
    const failed = [{ cluster: clusterId('c'), sinceMs: 2 }];
    const stored = { ...OVER, isOver: false, cursor: 'k', owed, failed };
    const begin = beginWalk(stored, at(NOW_MS));
    assert.deepEqual(begin, {
      kind: 'begun',
      walk: { ...stored, heldUntilMs: NOW_MS + 35_000 },
    });
  });

  it('lets one invocation walk at a time, and overtakes one that died', () => {
    const held = { ...OVER, isOver: false, heldUntilMs: NOW_MS + 1 };
    assert.deepEqual(beginWalk(held, at(NOW_MS)), { kind: 'held' });
    assert.equal(beginWalk(held, at(NOW_MS + 1)).kind, 'begun');
    const longest = { ...held, heldUntilMs: NOW_MS + 900_000 };
    assert.deepEqual(beginWalk(longest, at(NOW_MS)), { kind: 'held' });
    const wrong = { ...held, heldUntilMs: NOW_MS + 900_001 };
    assert.equal(beginWalk(wrong, at(NOW_MS)).kind, 'begun', 'a clock that was off holds nobody');
  });

  it('without memory looks at the last quarter of an hour: all due times, few hints', () => {
    const begin = beginWalk(undefined, at(NOW_MS));
    assert.deepEqual(begin, {
      kind: 'begun',
      walk: {
        version: 0,
        fromMs: NOW_MS - 900_000,
        untilMs: NOW_MS,
        isOver: false,
        heldUntilMs: NOW_MS + 35_000,
        owed: [],
        failed: [],
      },
    });
    assert.equal(FIRST_WALK_MS, 900_000);
  });

  it('forgets a walk that a wrong clock put far ahead, and replaces it', () => {
    const ahead = { ...OVER, untilMs: NOW_MS + 900_001 };
    const begin = beginWalk(ahead, at(NOW_MS));
    assert.ok(begin.kind === 'begun');
    const { version, fromMs, untilMs } = begin.walk;
    assert.deepEqual([version, fromMs, untilMs], [7, NOW_MS - 900_000, NOW_MS]);
    assert.deepEqual(begin.walk.owed, []);
  });

  it('gives an empty time to a clock that went back a little: nothing is met twice', () => {
    const begin = beginWalk({ ...OVER, untilMs: NOW_MS + 900_000 }, at(NOW_MS));
    assert.ok(begin.kind === 'begun');
    assert.deepEqual([begin.walk.fromMs, begin.walk.untilMs], [NOW_MS + 900_000, NOW_MS + 900_000]);
  });
});

describe('pauseWalk', () => {
  const walk: ResyncWalk = { ...OVER, isOver: false, cursor: 'f', heldUntilMs: NOW_MS };
  const failed = [{ cluster: clusterId('c'), sinceMs: 5 }];

  it('keeps where to go on, and lets go', () => {
    const { heldUntilMs: _held, ...rest } = walk;
    const paused = pauseWalk(walk, { cursor: 'm', failed: [] });
    assert.deepEqual(paused, { ...rest, cursor: 'm', isOver: false });
  });

  it('is over at the end of the directory', () => {
    const { heldUntilMs: _held, cursor: _cursor, ...rest } = walk;
    assert.deepEqual(pauseWalk(walk, { failed: [] }), { ...rest, isOver: true });
  });

  it('gathers what failed in all of its invocations, up to a bound', () => {
    const first = pauseWalk(walk, { cursor: 'm', failed });
    const other = { cluster: clusterId('n'), sinceMs: 5 };
    assert.deepEqual(pauseWalk(first, { failed: [other] }).failed, [...failed, other]);
    const many = Array.from({ length: OWED_MAX + 1 }, () => other);
    assert.equal(pauseWalk(first, { failed: many }).failed.length, OWED_MAX);
    assert.deepEqual(pauseWalk(first, { failed: many }).failed[0], failed[0]);
  });
});

describe('turnWithin', () => {
  const turn = (spread: number, fromMs: number, untilMs: number): number | undefined =>
    turnWithin(1000, { spread, fromMs, untilMs });

  it('counts a boundary after the beginning, and up to the end', () => {
    assert.equal(turn(0, 999, 1000), 1);
    assert.equal(turn(0, 1000, 1000), undefined);
    assert.equal(turn(0, 1000, 1999), undefined);
    assert.equal(turn(0, 1000, 2000), 2);
  });

  it('spreads clusters over the interval', () => {
    assert.equal(turn(250, 700, 749), undefined);
    assert.equal(turn(250, 700, 750), 1);
    assert.equal(turn(5250, 700, 750), 1, 'whatever the size of the number');
  });

  it('answers the last of several: one look is enough for all of them', () => {
    assert.equal(turn(0, 500, 9_500), 9);
  });

  it('has none in a time that goes back', () => {
    assert.equal(turn(0, 5000, 3000), undefined);
  });
});
