/** The weaker test, where no controls are left (rollouts facts 4, recommended default 4). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HALT_AT } from '../../../../src/core/evidence/e-value.ts';
import {
  advanceHistory,
  historyEValue,
  startHistory,
} from '../../../../src/core/evidence/own-history.ts';
import { advanceTrial, judgeTrial, startTrial } from '../../../../src/core/evidence/trial.ts';
import { NOW_MS } from '../../../support/core-fixtures.ts';
import { trialNodes, withBad } from '../../../support/evidence-fixtures.ts';

const HOUR_MS = 3_600_000;
const NOTHING = { waiting: 0, alone: 0 };

describe('own history', () => {
  const atRisk = { waitingNodes: 100, aloneNodes: 0 };

  it('is the same object while nothing changes, and its time is not lost', () => {
    const history = startHistory(atRisk, NOW_MS);
    const quiet = advanceHistory(history, { atRisk, failed: NOTHING, nowMs: NOW_MS + HOUR_MS });
    assert.equal(quiet, history);
    const updated = { waitingNodes: 0, aloneNodes: 100 };
    const after = advanceHistory(quiet, {
      atRisk: updated,
      failed: NOTHING,
      nowMs: NOW_MS + HOUR_MS,
    });
    assert.equal(after.waitingMs, 100 * HOUR_MS);
    assert.equal(after.sinceMs, NOW_MS + HOUR_MS);
  });

  it('says nothing where nothing failed, or nothing was seen before', () => {
    const history = startHistory({ waitingNodes: 0, aloneNodes: 5 }, NOW_MS);
    assert.equal(historyEValue(history, NOW_MS + HOUR_MS), 1);
    assert.equal(historyEValue({ ...history, aloneFailures: 9 }, NOW_MS + HOUR_MS), 1);
  });

  it('a clock that is behind takes no time away', () => {
    const history = startHistory(atRisk, NOW_MS);
    const failed = { waiting: 1, alone: 0 };
    const behind = advanceHistory(history, { atRisk, failed, nowMs: NOW_MS - HOUR_MS });
    assert.equal(behind.waitingMs, 0);
    assert.equal(behind.sinceMs, NOW_MS);
  });

  it('grows with failures that the time before does not explain, and shrinks with those it does', () => {
    const quiet = { ...startHistory(atRisk, NOW_MS), waitingMs: 200 * HOUR_MS, waitingNodes: 0 };
    const at = { aloneMs: 20 * HOUR_MS, aloneFailures: 4 };
    const rare = historyEValue({ ...quiet, ...at }, NOW_MS);
    const usual = historyEValue({ ...quiet, ...at, waitingFailures: 40 }, NOW_MS);
    assert.ok(rare >= HALT_AT, String(rare));
    assert.ok(usual < 1, String(usual));
  });

  it('halts a rollout whose last nodes die one after the other, labelled as the weaker test', () => {
    const waiting = trialNodes(50, 0);
    let trial = startTrial(waiting, NOW_MS);
    const updated = trialNodes(50, 50);
    let nowMs = NOW_MS + 4 * HOUR_MS;
    trial = advanceTrial(trial, updated, nowMs);
    for (const last of [0, 1, 2, 3]) {
      nowMs += 120_000;
      const bad = Array.from({ length: last + 1 }, (_, index) => index);
      trial = advanceTrial(trial, withBad(updated, bad), nowMs);
    }
    const verdict = judgeTrial(trial, nowMs);
    assert.equal(verdict.kind === 'halt' && verdict.basis, 'own-history');
    assert.equal(verdict.eValue, 1);
  });
});
