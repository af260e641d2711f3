/** The words for a staged rollout: one sentence for each gate, with who, when and what next. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeEvidence, evidenceOf } from '../../../../src/core/rollout/shown-evidence.ts';
import {
  describeStep,
  subjectOf,
  summarizeRecord,
} from '../../../../src/core/rollout/describe-record.ts';
import { gateOf } from '../../../../src/core/rollout/recorded-gate.ts';
import { describeGate } from '../../../../src/core/rollout/gate-words.ts';
import type { Gate } from '../../../../src/core/model/staged-progress.ts';
import {
  LOOKED_MS,
  breachOf,
  policyOf,
  recordOf,
  stepOf,
} from '../../../support/rollout-records.ts';

function summary(changes: Parameters<typeof recordOf>[0]): string {
  const record = recordOf(changes);
  return summarizeRecord(record, gateOf({ record, policy: policyOf(), nowMs: LOOKED_MS }));
}

describe('a rollout in words', () => {
  it('names step, nodes and gate in one line', () => {
    assert.equal(
      summary({}),
      'canary of 3 nodes, 3 of 50 nodes updated: soaks until 2026-11-25T09:11:00Z',
    );
    const step = stepOf({ kind: 'group', index: 2, name: 'zone-a/pool-b', updatedNodes: 20 });
    assert.match(
      summary({ step }),
      /^step 2 of 3 \(zone-a\/pool-b\), 20 of 50 nodes updated: soaks/,
    );
    assert.equal(describeStep(recordOf({ step: stepOf({ kind: 'done' }) })), 'all steps are done');
  });

  it('names cause, numbers and nodes of a breach', () => {
    assert.match(
      summary({ breach: breachOf() }),
      /^OOMKilled at 2026-11-25T09:02:00Z: 1 of 3 canaries was killed for its memory; canary of /,
    );
  });

  it('names who holds it, or asked for the way back', () => {
    const note = { by: 'ann', atMs: LOOKED_MS };
    assert.match(summary({ orders: { paused: note } }), /: paused by ann at 2026-11-25T09:05:00Z$/);
    assert.equal(
      summary({ orders: { undo: { ...note, to: 'old' } } }),
      'nodes go back to revision old, asked for by ann at 2026-11-25T09:05:00Z',
    );
  });

  it('counts nodes where a plan tells them', () => {
    const record = recordOf();
    const words = (gate: Gate): string => describeGate(gate, subjectOf(record));
    assert.equal(
      words({ kind: 'updating', pendingNodes: 1 }),
      '1 node of its open steps is to be updated',
    );
    assert.equal(words({ kind: 'settling', unwellNodes: 2 }), 'waits for 2 nodes to be well');
    assert.equal(
      words({ kind: 'done', keptNodes: 5 }),
      'revision new is rolled out; 5 nodes kept as the policy says',
    );
  });

  it('has words without a number or a note, whatever a record lacks', () => {
    const record = recordOf();
    const gates: readonly Gate[] = [
      { kind: 'settling' },
      { kind: 'window' },
      { kind: 'breach' },
      { kind: 'returning' },
      { kind: 'view' },
      { kind: 'no-canary' },
      { kind: 'invalid' },
      { kind: 'unseen' },
      { kind: 'next' },
      { kind: 'done' },
      { kind: 'lost', lostNodes: 1 },
      { kind: 'lost', lostNodes: 2, addsAtMs: LOOKED_MS },
    ];
    const words = gates.map((gate) => describeGate(gate, subjectOf(record)));
    assert.equal(new Set(words).size, gates.length);
    assert.ok(words.every((text) => !/undefined|NaN/.test(text)));
    assert.match(
      describeGate({ kind: 'paused', by: 'order' }, subjectOf(record)),
      /paused by an operator/,
    );
    assert.match(describeGate({ kind: 'paused', by: 'policy' }, subjectOf(record)), /paused: true/);
  });

  it('tells of lost nodes only where no other cause halted it', () => {
    const evidence = evidenceOf(recordOf({ breach: breachOf() }));
    assert.deepEqual(describeEvidence(evidence, breachOf()), []);
    assert.notDeepEqual(describeEvidence(evidence, breachOf({ cause: 'NodesFailed' })), []);
  });

  it('says that three silent nodes prove little, and that controls have run out', () => {
    const record = recordOf();
    const lines = describeEvidence(evidenceOf(record), undefined).join('\n');
    assert.match(lines, /^nodes lost: 0 of 3 updated, 0 of 47 others; E = 1\.0, halts at 25$/m);
    assert.match(
      lines,
      /^that 3 updated nodes are not lost proves only that fewer than 63 % would be \(95 % certain\)$/m,
    );
    const alone = recordOf({ trial: { ...record.trial, isWithoutControls: true } });
    assert.match(
      describeEvidence(evidenceOf(alone), undefined).join('\n'),
      /^an updated node was lost where no other is left to compare it with: .* counts it for nothing$/m,
    );
    const isVoid = recordOf({ trial: { ...record.trial, isVoid: true } });
    assert.match(
      describeEvidence(evidenceOf(isVoid), undefined).join('\n'),
      /the test of nodes stands still, and proves nothing more in this rollout/,
    );
  });
});
