/** Releases that are good: which template is a return, and what leaves the list. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  judgeRelease,
  leaveFor,
  noteGood,
  olderWords,
} from '../../../../src/core/rollout/good-releases.ts';
import type { GoodRelease } from '../../../../src/core/model/rollout-record.ts';
import type { ReleaseJudgement } from '../../../../src/core/rollout/good-releases.ts';

const DAY_MS = 86_400_000;
const NOW_MS = 100 * DAY_MS;

function release(id: string, other: Partial<GoodRelease> = {}): GoodRelease {
  return { id, goodAtMs: NOW_MS, isBaseline: false, ...other };
}

function idsOf(good: readonly GoodRelease[]): string {
  return good.map(({ id }) => id).join('');
}

function reasonOf(judged: ReleaseJudgement<GoodRelease>): string {
  return judged.kind === 'older' ? judged.reason : judged.kind;
}

describe('good releases', () => {
  it('keeps the newest four, newest first', () => {
    let good: readonly GoodRelease[] = [];
    for (const id of 'abcde') good = noteGood(good, release(id));
    assert.equal(idsOf(good), 'edcb');
  });

  it('stays as it is when its newest release is noted again', () => {
    const good = [release('b', { goodAtMs: 1 }), release('a')];
    assert.equal(noteGood(good, release('b')), good);
  });

  it('says when a release was left for a new one', () => {
    const good = leaveFor([release('b'), release('a')], { from: 'b', to: 'c', nowMs: NOW_MS });
    assert.deepEqual(good, [release('b', { leftAtMs: NOW_MS }), release('a')]);
  });

  it('keeps a good release that a half-way release takes the place of, and that one is left', () => {
    const good = [release('b', { leftAtMs: NOW_MS - DAY_MS }), release('a')];
    assert.deepEqual(leaveFor(good, { from: 'c', to: 'd', nowMs: NOW_MS }), good);
    assert.deepEqual(leaveFor(good, { from: 'c', to: 'b', nowMs: NOW_MS }), good);
  });

  it('takes off a release that is left for an older good one: A, B, A, B has a canary', () => {
    const good = leaveFor([release('b'), release('a')], { from: 'b', to: 'a', nowMs: NOW_MS });
    assert.equal(idsOf(good), 'a');
    assert.equal(judgeRelease(good, 'b', NOW_MS).kind, 'new');
  });

  it('takes off a good release that is left through a half-way one', () => {
    const good = [release('b'), release('a')];
    assert.equal(idsOf(leaveFor(good, { from: 'c', to: 'a', nowMs: NOW_MS })), 'a');
  });

  it('changes nothing where nothing is left', () => {
    const good = [release('b'), release('a')];
    assert.equal(leaveFor(good, { from: 'b', to: 'b', nowMs: NOW_MS }), good);
  });

  it('returns to the newest two, left less than 14 days ago or never', () => {
    const recent = { leftAtMs: NOW_MS - 14 * DAY_MS + 1 };
    const good = [release('c'), release('b', recent), release('a')];
    assert.deepEqual(judgeRelease(good, 'c', NOW_MS), { kind: 'return', release: good[0] });
    assert.deepEqual(judgeRelease(good, 'b', NOW_MS), { kind: 'return', release: good[1] });
    assert.deepEqual(judgeRelease(good, 'z', NOW_MS), { kind: 'new' });
  });

  it('says why an older release is rolled out like a new one', () => {
    const good = [release('c'), release('b', { leftAtMs: NOW_MS - 14 * DAY_MS }), release('a')];
    assert.equal(reasonOf(judgeRelease(good, 'b', NOW_MS)), 'too-old');
    assert.equal(reasonOf(judgeRelease(good, 'a', NOW_MS)), 'too-far-back');
    assert.match(olderWords('too-old'), /^it was good, but was left 14 days ago or earlier$/);
    assert.match(
      olderWords('too-far-back'),
      /^it was good, but is not one of the last 2 good releases$/,
    );
  });

  it('takes an older release off until it is good again, and whatever is newer with it', () => {
    const good = [release('d'), release('c'), release('b'), release('a')];
    assert.equal(idsOf(leaveFor(good, { from: 'd', to: 'b', nowMs: NOW_MS })), 'a');
  });
});
