/** Where counters that expire would be wrong: what intents make of it (spec 2.2, 2.8; protocol 3–5). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { judgeIntents } from '../../../src/core/intents/intents.ts';
import type { PodProjection } from '../../../src/core/model/projections.ts';
import type { Intent } from '../../../src/core/model/state.ts';
import {
  NOW_MS,
  TIMEOUT_MS,
  answerOf,
  createIntent,
  deleteIntent,
  pod,
  slot,
} from '../../support/core-fixtures.ts';

function unseenOf(
  intents: readonly Intent[],
  pods: readonly PodProjection[],
  nowMs = NOW_MS,
): readonly string[] {
  const state = { intents, written: { era: 1 } };
  const at = { era: 1, nowMs, requestTimeoutMs: TIMEOUT_MS };
  return judgeIntents({ state, pods, marks: {}, ...at }).unseen.map(({ name }) => name);
}

describe('upstream never tests: double deletion observation', () => {
  const [one, two] = [pod('n1'), pod('n2')];
  const open = [one, two].map((each) => deleteIntent(each, { isAccepted: true }));

  it('one pod that is seen terminating, and later seen gone, never settles the other’s delete', () => {
    assert.deepEqual(unseenOf(open, [one, two]), [one.name, two.name]);
    assert.deepEqual(unseenOf(open, [{ ...one, isTerminating: true }, two]), [two.name]);
    assert.deepEqual(unseenOf(open, [two]), [two.name], 'the second observation of the first');
    assert.deepEqual(unseenOf(open, [{ ...two, isTerminating: true }]), []);
  });
});

describe('upstream never tests: expectation expiry', () => {
  const intent = createIntent('n1', { answer: answerOf(slot('n1')) });

  it('does not happen: an answered create is waited for after five minutes, and after a day', () => {
    for (const laterMs of [0, 5 * 60_000 + 1, 86_400_000]) {
      assert.deepEqual(unseenOf([intent], [], NOW_MS + laterMs), [intent.name]);
    }
    assert.deepEqual(unseenOf([intent], [pod('n1')], NOW_MS + 1), []);
  });
});
