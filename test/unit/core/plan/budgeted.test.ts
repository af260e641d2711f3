/** S3: which deletions spend availability, and what counts as fresh for them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { arePodsFresh, spendsBudget } from '../../../../src/core/plan/budgeted.ts';
import type { DeleteReason, PlannedDelete } from '../../../../src/core/model/plan.ts';
import { NOW_MS, pod } from '../../../support/core-fixtures.ts';

function planned(reason: DeleteReason, repeats?: PlannedDelete['repeats']): PlannedDelete {
  const { name, uid, resourceVersion } = pod('n1');
  const again = repeats === undefined ? {} : { repeats };
  return { name, uid, resourceVersion, reason, isAvailable: true, ...again };
}

describe('a deletion spends availability (S3)', () => {
  for (const reason of ['outdated', 'replaced', 'duplicate'] as const) {
    it(`where a pod goes as ${reason}, also when that is repeated`, () => {
      assert.equal(spendsBudget(planned(reason)), true);
      assert.equal(spendsBudget(planned('repeat', reason)), true);
    });
  }
  for (const reason of ['failed', 'succeeded', 'not-wanted', 'node-gone', 'vacated'] as const) {
    it(`not where one goes as ${reason}: pod and node say so themselves`, () => {
      assert.equal(spendsBudget(planned(reason)), false);
      assert.equal(spendsBudget(planned('repeat', reason)), false);
    });
  }
  it('in doubt: a repetition that does not say of what', () => {
    assert.equal(spendsBudget(planned('repeat')), true);
  });
});

describe('pods are fresh (protocol 1)', () => {
  const at = { nowMs: NOW_MS, withinMs: 90_000 };
  it('up to the bound, by what was heard of pods alone', () => {
    assert.equal(arePodsFresh({ heardAtMs: { Pod: NOW_MS - 90_000 } }, at), true);
    assert.equal(arePodsFresh({ heardAtMs: { Pod: NOW_MS - 90_001, Node: NOW_MS } }, at), false);
    assert.equal(arePodsFresh({ heardAtMs: { Node: NOW_MS } }, at), false);
  });
});
