/** How long a request may have an effect (protocol 4, 5), and who counts on it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Intent } from '../../../../src/core/model/state.ts';
import {
  REQUEST_TIMEOUT_MS,
  RUN_MAX_MS,
  forgottenUntilMs,
  isPastDeadline,
  requestLifeMs,
  resolvedAtMs,
} from '../../../../src/core/pod/request-life.ts';
import {
  LIFE_MS,
  NOW_MS,
  TIMEOUT_MS,
  answerOf,
  createIntent,
  deleteIntent,
  outrun,
  pod,
  slot,
} from '../../../support/core-fixtures.ts';

const resolved = (intent: Intent): number => resolvedAtMs(intent, TIMEOUT_MS) - NOW_MS;

describe('resolvedAtMs', () => {
  const startsByMs = NOW_MS + 7000;
  const answer = answerOf(slot('n1'));

  it('counts from the effect deadline of the run, not from the record (protocol 5)', () => {
    assert.equal(resolved(createIntent('n1', { startsByMs })), 7000 + 2 * TIMEOUT_MS);
    assert.equal(resolved(deleteIntent(pod('n1'), { startsByMs })), 7000 + 2 * TIMEOUT_MS);
  });

  it('counts the earlier request of the name as well, which may start later than the last one', () => {
    const repeated = createIntent('n1', { startsByMs, ...outrun(NOW_MS - 9000) });
    assert.equal(resolved(repeated), RUN_MAX_MS - 9000 + 2 * TIMEOUT_MS);
    const earlier = { recordedAtMs: NOW_MS - 9000, startsByMs: NOW_MS + 10 };
    const known = { ...repeated, earlier };
    assert.equal(resolved(known), 7000 + 2 * TIMEOUT_MS);
    assert.equal(resolved({ ...known, answer }), 10 + 2 * TIMEOUT_MS);
  });

  it('looks at what was answered twice the time-out after its record', () => {
    assert.equal(resolved(createIntent('n1', { startsByMs, answer })), 2 * TIMEOUT_MS);
    const accepted = deleteIntent(pod('n1'), { startsByMs, isAccepted: true });
    assert.equal(resolved(accepted), 2 * TIMEOUT_MS);
  });
});

describe('isPastDeadline', () => {
  it('says so by whichever clock is first; a caller may know but one', () => {
    const limits = { deadlineMs: 100, wallDeadlineMs: NOW_MS };
    assert.equal(isPastDeadline(limits, { monotonicMs: 99, wallMs: NOW_MS - 1 }), false);
    assert.equal(isPastDeadline(limits, { monotonicMs: 100, wallMs: NOW_MS - 1 }), true);
    assert.equal(isPastDeadline(limits, { monotonicMs: 99, wallMs: NOW_MS }), true);
    assert.equal(isPastDeadline({ deadlineMs: 100 }, { monotonicMs: 99, wallMs: NOW_MS }), false);
  });
});

describe('an open request', () => {
  it('of which nothing is on record is dead a run and twice the time-out later (protocol 6)', () => {
    assert.equal(forgottenUntilMs(NOW_MS, TIMEOUT_MS), NOW_MS + LIFE_MS);
  });
});

describe('the life of a request', () => {
  it('is twice its time-out', () => {
    assert.equal(requestLifeMs(REQUEST_TIMEOUT_MS), 20_000);
  });
});
