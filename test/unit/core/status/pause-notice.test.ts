/** The notice on a DaemonSet that Rollcall has stopped. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DaemonSetStatus } from '@rollcall/base/objects.ts';
import {
  isPaused,
  noticeEvent,
  pauseNotice,
  rivalNotice,
  withPauseNotice,
  withoutPauseNotice,
} from '../../../../src/core/status/pause-notice.ts';

import { pauseText } from '../../../../src/core/status/status-writers.ts';

const NOTICE = rivalNotice({ seenAtMs: 1, evidence: 'it was seen' });
const PAUSE = pauseNotice('somebody wrote it');
const NOW_MS = 1_500;
const COUNTS = {
  currentNumberScheduled: 3,
  numberMisscheduled: 1,
  desiredNumberScheduled: 4,
  numberReady: 2,
  collisionCount: 7,
};

describe('withPauseNotice', () => {
  it('adds the condition, and leaves counters and other conditions as they are', () => {
    const foreign = { type: 'Foreign', status: 'True' };
    const { conditions, ...rest } = withPauseNotice(
      { ...COUNTS, conditions: [foreign] },
      NOTICE,
      NOW_MS,
    );
    assert.deepEqual(rest, COUNTS);
    const { message, ...notice } = conditions?.[1] ?? {};
    assert.deepEqual(conditions?.[0], foreign);
    assert.deepEqual(notice, {
      type: 'RollcallPaused',
      status: 'True',
      reason: 'BuiltInControllerSeen',
      lastTransitionTime: '1970-01-01T00:00:01Z',
    });
    assert.equal(message, noticeEvent(NOTICE).message);
  });

  it('replaces an older notice, and stands on zero where there is no status', () => {
    const twice = withPauseNotice(withPauseNotice(undefined, PAUSE, NOW_MS), NOTICE, NOW_MS);
    assert.equal(twice.conditions?.length, 1);
    assert.equal(twice.desiredNumberScheduled, 0);
    assert.equal(isPaused(twice), true);
    assert.deepEqual([isPaused(twice, NOTICE), isPaused(twice, PAUSE)], [true, false]);
  });
});

describe('withoutPauseNotice', () => {
  it('takes exactly the notice away', () => {
    const foreign = { type: 'Foreign', status: 'True' };
    const before: DaemonSetStatus = { ...COUNTS, conditions: [foreign] };
    assert.deepEqual(withoutPauseNotice(withPauseNotice(before, NOTICE, NOW_MS)), before);
    assert.deepEqual(withoutPauseNotice(withPauseNotice(COUNTS, NOTICE, NOW_MS)), COUNTS);
  });

  it('answers the very same status when there is none', () => {
    assert.equal(withoutPauseNotice(COUNTS), COUNTS);
    assert.equal(isPaused(COUNTS), false);
    assert.equal(isPaused(undefined), false);
  });
});

describe('noticeEvent', () => {
  it('says what was seen, what that means, and both ways out', () => {
    const event = noticeEvent(NOTICE);
    assert.equal(event.type, 'Warning');
    assert.equal(event.reason, 'ConflictingController');
    assert.match(event.message, /it was seen.*has stopped.*-daemonset-controller.*--release/);
    assert.ok(event.message.length < 1024, 'an Event takes no more');
  });

  it('says of a pause who wrote the status when, that it ends, and what to do', () => {
    const manager = 'm'.repeat(128);
    const event = noticeEvent(pauseNotice(pauseText({ manager, atMs: 0, untilMs: 1 })));
    assert.equal(event.reason, 'StatusWrittenByAnother');
    assert.match(event.message, /"m+" wrote .* at 1970-01-01T00:00:00Z .*ten minutes.* stop it\./);
    assert.ok(event.message.length < 1024, 'an Event takes no more');
  });
});
