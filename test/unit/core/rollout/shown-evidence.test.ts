/** The numbers of a trial as people see them (rollouts facts 4). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName } from '../../../../src/core/model/identifiers.ts';
import type { NodeFailure } from '../../../../src/core/model/rollout-record.ts';
import { evidenceOf, silenceOf } from '../../../../src/core/rollout/shown-evidence.ts';
import { STARTED_MS, breachOf, recordOf, stepOf } from '../../../support/rollout-records.ts';

function failure(node: string, changes: Partial<NodeFailure> = {}): NodeFailure {
  const atMs = STARTED_MS + 1000;
  return { node: nodeName(node), stratum: 'z', isUpdated: true, atMs, isCounted: true, ...changes };
}

const { trial } = recordOf();

describe('shown evidence', () => {
  it('is the mean of the likelihood ratios, finite whatever is stored', () => {
    assert.equal(evidenceOf(recordOf(), STARTED_MS).eValue, 1);
    const logRatios = [Math.log(2), Math.log(4), Math.log(6), Math.log(8)] as const;
    const { eValue } = evidenceOf(recordOf({ trial: { ...trial, logRatios } }), STARTED_MS);
    assert.ok(Math.abs(eValue - 5) < 1e-9);
    const huge = evidenceOf(
      recordOf({ trial: { ...trial, logRatios: [0, 0, 0, 5000] } }),
      STARTED_MS,
    );
    assert.ok(Number.isFinite(huge.eValue));
  });

  it('counts each node once, on its side, and those that were bad before on neither', () => {
    const failures = [failure('a'), failure('a'), failure('x', { isUpdated: false })];
    const told = evidenceOf(
      recordOf({ trial: { ...trial, failures, outside: [nodeName('y')] } }),
      STARTED_MS,
    );
    assert.deepEqual(told.updated, { bad: 1, good: 2 });
    assert.deepEqual(told.others, { bad: 1, good: 45 });
    assert.equal(told.outside, 1);
    assert.equal(told.silence, undefined);
  });

  it('leaves out what came before the rollout, or before it was resumed', () => {
    const failures = [failure('a', { atMs: STARTED_MS - 1 }), failure('b')];
    const orders = { resumed: { by: 'ann', atMs: STARTED_MS + 2000, breach: breachOf() } };
    assert.equal(
      evidenceOf(recordOf({ trial: { ...trial, failures } }), STARTED_MS).failures.length,
      1,
    );
    assert.equal(
      evidenceOf(recordOf({ trial: { ...trial, failures }, orders }), STARTED_MS).failures.length,
      0,
    );
  });

  it('says what silence proves: three canaries, less than 63 %', () => {
    assert.deepEqual(evidenceOf(recordOf(), STARTED_MS).silence, { nodes: 3, sharePercentMax: 63 });
    assert.equal(silenceOf(1).sharePercentMax, 95);
    assert.equal(silenceOf(30).sharePercentMax, 10);
    assert.equal(evidenceOf(recordOf({ breach: breachOf() }), STARTED_MS).silence, undefined);
    const over = recordOf({ step: stepOf({ kind: 'done', updatedNodes: 50 }) });
    assert.equal(evidenceOf(over, STARTED_MS).silence, undefined, 'nothing is tried any more');
  });

  it("has Fisher's p of its four counts", () => {
    const one = evidenceOf(recordOf({ trial: { ...trial, failures: [failure('a')] } }), STARTED_MS);
    assert.ok(Math.abs(one.p - 3 / 50) < 1e-9, String(one.p));
    assert.equal(evidenceOf(recordOf(), STARTED_MS).p, 1);
  });

  it('says that a test is void, and tells the weaker one where controls ran out', () => {
    const isVoid = evidenceOf(recordOf({ trial: { ...trial, isVoid: true } }), STARTED_MS);
    assert.equal(isVoid.isVoid, true);
    assert.equal(isVoid.ownHistoryEValue, undefined);
    const history = {
      ...trial.history,
      ...{ waitingMs: 100 * 3_600_000, waitingFailures: 0, aloneMs: 60_000, aloneFailures: 2 },
    };
    const alone = { ...trial, isWithoutControls: true, history };
    const { ownHistoryEValue = 0 } = evidenceOf(recordOf({ trial: alone }), STARTED_MS);
    assert.ok(ownHistoryEValue > 20, String(ownHistoryEValue));
  });
});
