/** S15: whether an entry of the node lane still counts, by what its DaemonSet shows (ADR 0058). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isPastClaim, judgeEntry } from '../../../../src/core/lane/judge-entry.ts';
import type { OwnerFacts } from '../../../../src/core/lane/judge-entry.ts';
import type { LaneEntry } from '../../../../src/core/lane/lane.ts';
import { nodeName } from '../../../../src/core/model/identifiers.ts';
import { NOW_MS, OWNER_UID, deleteIntent, namedPod } from '../../../support/core-fixtures.ts';

const OLD = namedPod('n1', 'old');
const NEW = namedPod('n1', 'new');

function entry(deadInMs = 10_000): LaneEntry {
  return {
    node: nodeName('n1'),
    owner: OWNER_UID,
    namespace: 'ns',
    name: 'agent',
    pod: OLD.uid,
    claimedAtMs: NOW_MS - 60_000,
    deadAtMs: NOW_MS + deadInMs,
  };
}

function facts(options: Partial<OwnerFacts>): OwnerFacts {
  return { placement: 'run', pods: [], intents: [], minReadyMs: 0, nowMs: NOW_MS, ...options };
}

describe('S15: an entry of the lane', () => {
  it('counts while a run that has recorded nothing yet may still do so, and not after', () => {
    assert.equal(judgeEntry(entry(1), facts({ pods: [OLD] })), 'held');
    assert.equal(judgeEntry(entry(0), facts({ pods: [OLD] })), 'free');
  });

  it('counts for as long as its delete is on record, however late it is', () => {
    for (const isAccepted of [false, true]) {
      const intents = [deleteIntent(OLD, { isAccepted })];
      assert.equal(judgeEntry(entry(-86_400_000), facts({ pods: [OLD], intents })), 'held');
    }
    const other = [deleteIntent(NEW)];
    assert.equal(judgeEntry(entry(0), facts({ pods: [OLD], intents: other })), 'free');
  });

  it('counts, where a claim came after one that took the daemon down, until that one is available', () => {
    const again = { ...entry(-86_400_000), isDown: true } as const;
    const ill = { ...OLD, isReady: false };
    assert.equal(judgeEntry(again, facts({ pods: [ill] })), 'held');
    assert.equal(judgeEntry(entry(0), facts({ pods: [ill] })), 'free', 'it is ill by itself');
    assert.equal(judgeEntry(again, facts({ pods: [OLD] })), 'free');
    assert.equal(judgeEntry(again, facts({ pods: [ill], placement: 'keep' })), 'free');
    assert.ok(isPastClaim(again, facts({ pods: [ill] })));
  });

  it('counts until another pod is available, however long that takes', () => {
    const going = { ...OLD, isTerminating: true };
    const unready = { ...NEW, isReady: false };
    const leaving = { ...NEW, isTerminating: true };
    for (const pods of [[going], [], [unready], [leaving], [going, NEW]]) {
      assert.equal(judgeEntry(entry(-86_400_000), facts({ pods })), 'held');
    }
    assert.equal(judgeEntry(entry(), facts({ pods: [NEW] })), 'free');
    const young = { ...NEW, readyChangedAtMs: NOW_MS - 1000 };
    assert.equal(judgeEntry(entry(), facts({ pods: [young], minReadyMs: 5000 })), 'held');
  });

  it('counts for nothing where no pod will come, or nobody is left to make one', () => {
    assert.equal(judgeEntry(entry(), undefined), 'free');
    const { placement: _none, ...gone } = facts({});
    assert.equal(judgeEntry(entry(), gone), 'free');
    for (const placement of ['keep', 'leave'] as const) {
      assert.equal(judgeEntry(entry(), facts({ placement })), 'free');
      const going = { ...OLD, isTerminating: true };
      assert.equal(judgeEntry(entry(), facts({ placement, pods: [going] })), 'held');
    }
  });
});

describe('S15: a replacement of the lane', () => {
  it('has begun once its delete is on record or the old pod goes, and has to be ended before anybody goes first', () => {
    const going = { ...OLD, isTerminating: true };
    const ill = { ...NEW, isReady: false };
    for (const pods of [[going], [], [ill], [going, ill]]) {
      assert.ok(isPastClaim(entry(), facts({ pods })), JSON.stringify(pods));
    }
    assert.ok(isPastClaim(entry(), facts({ pods: [OLD], intents: [deleteIntent(OLD)] })));
  });

  it('has not begun while there is no more than a claim', () => {
    assert.ok(!isPastClaim(entry(), facts({ pods: [OLD] })));
    assert.ok(!isPastClaim(entry(), facts({ pods: [OLD, NEW], intents: [deleteIntent(NEW)] })));
  });
});
