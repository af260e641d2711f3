/** ADR 0071: which victims go over the version that the view showed, and what is remembered of those that had moved. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  MOVED_VICTIMS_MAX,
  rememberMoved,
  victimTrust,
} from '../../../../../src/app/reconcile/confirm/confirm-victims.ts';
import { nodeName, resourceVersion, uid } from '../../../../../src/core/model/identifiers.ts';
import type { PlannedDelete } from '../../../../../src/core/model/plan.ts';
import type { MovedVictims } from '../../../../../src/core/model/state.ts';

const MINUTE_MS = 60_000;
const planned: PlannedDelete = {
  node: nodeName('n'),
  name: 'agent-1',
  uid: uid('u'),
  resourceVersion: resourceVersion('7'),
  reason: 'outdated',
  isAvailable: true,
};
const trust = (moved?: MovedVictims, nowMs = 0): string =>
  victimTrust(moved, { isLive: false, nowMs })(planned);

describe('a victim goes as seen', () => {
  it('that is outdated and was available', () => {
    assert.equal(trust(), 'as-seen');
    const asSeen = victimTrust(undefined, { isLive: false, nowMs: 0 });
    assert.equal(asSeen({ ...planned, isAvailable: false }), 'read');
  });

  it('never for another reason, nor when it is tried again', () => {
    const asSeen = victimTrust(undefined, { isLive: false, nowMs: 0 });
    for (const reason of ['replaced', 'vacated', 'not-wanted', 'duplicate', 'node-gone'] as const) {
      assert.equal(asSeen({ ...planned, reason }), 'read', reason);
    }
    assert.equal(asSeen({ ...planned, reason: 'repeat', repeats: 'outdated' }), 'read');
  });

  it('not where the view was not fresh', () => {
    assert.equal(victimTrust(undefined, { isLive: true, nowMs: 0 })(planned), 'read');
  });

  it('not for ten minutes after it had moved, while others do', () => {
    assert.equal(trust({ uidEnds: ['u'], atMs: 0 }, 9 * MINUTE_MS), 'read');
    assert.equal(trust({ uidEnds: ['other'], atMs: 0 }, 9 * MINUTE_MS), 'as-seen');
    assert.equal(trust({ uidEnds: ['u'], atMs: 0 }, 10 * MINUTE_MS), 'as-seen');
    // A clock that went back.
    assert.equal(trust({ uidEnds: ['u'], atMs: 20 * MINUTE_MS }, 0), 'read');
  });

  it('not once many had moved', () => {
    const uids = Array.from({ length: MOVED_VICTIMS_MAX }, (_, index) => `${index}`);
    assert.equal(trust({ uidEnds: uids, atMs: 0 }), 'read');
    assert.equal(trust({ uidEnds: uids.slice(1), atMs: 0 }), 'as-seen');
  });
});

describe('pods that had moved', () => {
  it('are remembered by UID, the newest, and each once', () => {
    const moved = rememberMoved({ uidEnds: ['a', 'b'], atMs: 0 }, [uid('a'), uid('c')], 5);
    assert.deepEqual(moved, { uidEnds: ['b', 'a', 'c'], atMs: 5 });
    const many = Array.from({ length: MOVED_VICTIMS_MAX + 1 }, (_, index) =>
      uid(`u-${10_000_000 + index}`),
    );
    assert.deepEqual(
      rememberMoved(undefined, many, 5)?.uidEnds,
      many.slice(1).map((each) => each.slice(-8)),
    );
  });

  it('begin anew after ten minutes without one, and stay as they are where none had', () => {
    const moved = { uidEnds: ['a'], atMs: 0 };
    assert.deepEqual(rememberMoved(moved, [uid('b')], 10 * MINUTE_MS)?.uidEnds, ['b']);
    assert.equal(rememberMoved(moved, [], 10 * MINUTE_MS), moved);
    assert.equal(rememberMoved(undefined, [], 0), undefined);
  });
});
