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
    assert.equal(evidenceOf(recordOf()).eValue, 1);
    const logRatios = [Math.log(2), Math.log(4), Math.log(6), Math.log(8)] as const;
    const { eValue } = evidenceOf(recordOf({ trial: { ...trial, logRatios } }));
    assert.ok(Math.abs(eValue - 5) < 1e-9);
    const huge = evidenceOf(recordOf({ trial: { ...trial, logRatios: [0, 0, 0, 5000] } }));
    assert.ok(Number.isFinite(huge.eValue));
  });

  it('counts each node on its side, and those that were bad before on neither', () => {
    const failures = [failure('a'), failure('x', { isUpdated: false })];
    const told = evidenceOf(recordOf({ trial: { ...trial, failures, outside: [nodeName('y')] } }));
    assert.deepEqual(told.updated, { bad: 1, good: 2 });
    assert.deepEqual(told.others, { bad: 1, good: 45 });
    assert.equal(told.outside, 1);
    assert.equal(told.silence, undefined);
  });

  it('leaves out what came before the rollout, or before it was resumed', () => {
    const failures = [failure('a', { atMs: STARTED_MS - 1 }), failure('b')];
    const orders = { resumed: { by: 'ann', atMs: STARTED_MS + 2000, breach: breachOf() } };
    assert.equal(evidenceOf(recordOf({ trial: { ...trial, failures } })).failures.length, 1);
    assert.equal(
      evidenceOf(recordOf({ trial: { ...trial, failures }, orders })).failures.length,
      0,
    );
  });

  it('says what silence proves: three canaries, less than 63 %', () => {
    assert.deepEqual(evidenceOf(recordOf()).silence, { nodes: 3, sharePercentMax: 63 });
    assert.equal(silenceOf(1).sharePercentMax, 95);
    assert.equal(silenceOf(30).sharePercentMax, 10);
    assert.equal(evidenceOf(recordOf({ breach: breachOf() })).silence, undefined);
    const over = recordOf({ step: stepOf({ kind: 'done', updatedNodes: 50 }) });
    assert.equal(evidenceOf(over).silence, undefined, 'nothing is tried any more');
  });

  it('says that a test is void, and that nobody was left to compare with', () => {
    const weak = { ...trial, isVoid: true, isWithoutControls: true };
    const { isVoid, isWithoutControls } = evidenceOf(recordOf({ trial: weak }));
    assert.deepEqual([isVoid, isWithoutControls], [true, true]);
  });
});
