/** What a staged rollout waits for, by its record and policy (issue 17). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RolloutRecord } from '../../../../src/core/model/rollout-record.ts';
import type { PolicyReading } from '../../../../src/core/policy/rollout-policy.ts';
import { gateOf, phaseOf } from '../../../../src/core/rollout/recorded-gate.ts';
import type { Gate } from '../../../../src/core/model/staged-progress.ts';
import type { Generations, PodCounts } from '../../../../src/core/rollout/pod-counts.ts';
import {
  LOOKED_MS,
  SOAK_MS,
  STARTED_MS,
  breachOf,
  policyOf,
  recordOf,
  stepOf,
} from '../../../support/rollout-records.ts';

const NOTE = { by: 'ann', atMs: 1 };
const SOAKED_MS = STARTED_MS + 60_000 + SOAK_MS;

function gate(
  changes: Partial<RolloutRecord>,
  policy: PolicyReading = policyOf(),
  nowMs = LOOKED_MS,
): Gate {
  return gateOf({ record: recordOf(changes), policy, nowMs });
}

const ENDED = { keptNodes: 0, notReadyNodes: 0, unwellNodes: 0 };

function countsOf(changes: Partial<PodCounts & Generations>): PodCounts & Generations {
  return { desired: 8, updated: 8, available: 8, generation: 1, observedGeneration: 1, ...changes };
}

describe('the gate of a rollout, as its record tells it', () => {
  it('is its nodes, then the soak, then nothing', () => {
    const { wellSinceMs: _ill, ...step } = recordOf().step;
    assert.deepEqual(gate({ step }), { kind: 'settling' });
    assert.deepEqual(gate({}), { kind: 'soaking', untilMs: SOAKED_MS });
    assert.deepEqual(gate({}, policyOf(), SOAKED_MS), { kind: 'next' });
  });

  it('is an approval once the soak is over, and until somebody gives it', () => {
    const policy = policyOf({ approval: 'after-canary' });
    assert.equal(gate({}, policy).kind, 'soaking');
    assert.deepEqual(gate({}, policy, SOAKED_MS), { kind: 'approval', stepIndex: 1 });
    const approved = { orders: { approved: { ...NOTE, stepIndex: 1 } } };
    assert.deepEqual(gate(approved, policy, SOAKED_MS), { kind: 'next' });
  });

  it('is whoever holds it: policy, operator, or a policy that cannot be read', () => {
    assert.deepEqual(gate({}, policyOf({ isPaused: true })), { kind: 'paused', by: 'policy' });
    const order = { orders: { paused: NOTE } };
    assert.deepEqual(gate(order), { kind: 'paused', by: 'order' });
    const both = gate(order, policyOf({ isPaused: true }));
    assert.deepEqual(both, { kind: 'paused', by: 'policy' });
    const problems = [{ field: 'soak', message: 'is no duration' }] as const;
    assert.deepEqual(gate({}, { kind: 'invalid', problems }), { kind: 'invalid' });
  });

  it('is a policy that cannot be read also of an undo, until all nodes are back', () => {
    const problems = [{ field: 'soak', message: 'is no duration' }] as const;
    const policy = { kind: 'invalid', problems } as const;
    const record = recordOf({ orders: { undo: { ...NOTE, to: 'old' } } });
    const kindOf = (updated: number): string =>
      gateOf({ record, policy, nowMs: LOOKED_MS, counts: countsOf({ updated }) }).kind;
    assert.deepEqual([kindOf(3), kindOf(0)], ['invalid', 'returning']);
  });

  it('is an undo before all that, as a plan judges it, and then a breach', () => {
    const undone = { orders: { paused: NOTE, undo: { ...NOTE, to: 'old' } } };
    assert.deepEqual(gate(undone, policyOf({ isPaused: true })), { kind: 'returning' });
    assert.deepEqual(gate({ ...undone, breach: breachOf() }), { kind: 'returning' });
    assert.deepEqual(gate({ breach: breachOf() }, policyOf({ isPaused: true })), {
      kind: 'breach',
    });
  });

  it('is done at the end, unless a newer template has not been looked at', () => {
    const record = recordOf({ step: stepOf({ kind: 'done' }) });
    const input = { record, policy: policyOf(), nowMs: LOOKED_MS, counts: countsOf({}) };
    assert.deepEqual(gateOf(input), { kind: 'done' });
    assert.deepEqual(gateOf({ ...input, isBehind: true }), { kind: 'unseen' });
  });

  const ends: readonly (readonly [string, Parameters<typeof countsOf>[0], object, Gate])[] = [
    [
      'the status is of another generation',
      { generation: 2 },
      {},
      { kind: 'unavailable', missing: 'waits until its newest generation is looked at' },
    ],
    [
      'pods are not updated',
      { updated: 7 },
      {},
      { kind: 'unavailable', missing: '7 of 8 pods have been updated' },
    ],
    [
      'pods are not available',
      { available: 0 },
      {},
      { kind: 'unavailable', missing: '0 of 8 updated pods are available' },
    ],
    [
      'a pod that is not among those which the policy keeps is not available',
      { updated: 7, available: 7 },
      { keptNodes: 1, unwellNodes: 1 },
      { kind: 'unavailable', missing: '1 of its pods is not available' },
    ],
    [
      'a node has no place for the pod, as before',
      { available: 7 },
      { placelessNodes: 1 },
      {
        kind: 'unavailable',
        missing:
          'all others are rolled out; on 1 node no place is found for the pod, as before this revision',
      },
    ],
    [
      'a node with an old pod is not Ready',
      { updated: 7 },
      { notReadyNodes: 1 },
      { kind: 'nodes-not-ready', notReadyNodes: 1 },
    ],
  ];
  for (const [why, counts, end, gate] of ends) {
    it(`is not done while ${why}`, () => {
      const planned = { kind: 'done', ...ENDED, ...end } as const;
      const input = { record: recordOf(), policy: policyOf(), nowMs: LOOKED_MS, planned };
      assert.deepEqual(gateOf({ ...input, counts: countsOf(counts) }), gate);
      assert.notEqual(phaseOf(gate, { isRollingBack: false, isBack: false }), 'Done');
    });
  }

  it('is done although the policy keeps nodes, and not while nothing is known of the object', () => {
    const planned = { kind: 'done', ...ENDED, keptNodes: 3 } as const;
    const input = { record: recordOf(), policy: policyOf(), nowMs: LOOKED_MS, planned };
    assert.deepEqual(gateOf({ ...input, counts: countsOf({ updated: 5 }) }), planned);
    assert.equal(gateOf(input).kind, 'unavailable');
  });

  it('is what a plan says, but a breach that no run has recorded yet', () => {
    const input = { record: recordOf(), policy: policyOf(), nowMs: LOOKED_MS };
    const planned = { kind: 'settling', unwellNodes: 2 } as const;
    assert.deepEqual(gateOf({ ...input, planned }), planned);
    assert.equal(gateOf({ ...input, planned: { kind: 'breach' } }).kind, 'soaking');
    assert.deepEqual(gateOf({ ...input, planned, isBehind: true }), { kind: 'unseen' });
  });

  it('has one word for how it stands', () => {
    const still = { isRollingBack: false, isBack: false };
    assert.equal(phaseOf(gate({}), still), 'Progressing');
    assert.equal(phaseOf({ kind: 'approval', stepIndex: 1 }, still), 'Waiting');
    assert.equal(phaseOf({ kind: 'returning' }, still), 'Returning');
    assert.equal(phaseOf({ kind: 'returning' }, { ...still, isBack: true }), 'Returned');
    assert.equal(phaseOf({ kind: 'breach' }, still), 'Halted');
    assert.equal(phaseOf({ kind: 'breach' }, { ...still, isRollingBack: true }), 'Returning');
    assert.equal(phaseOf({ kind: 'breach' }, { isRollingBack: true, isBack: true }), 'Halted');
  });
});
