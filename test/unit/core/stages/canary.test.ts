/**
 * The canary of a staged rollout as nodes come and go: a revision is proven by nodes that ran it, and by no others (S16).
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName } from '../../../../src/core/model/identifiers.ts';
import type { RolloutRecord } from '../../../../src/core/model/rollout-record.ts';
import { advanceStages } from '../../../../src/core/stages/advance-stages.ts';
import { withAbleCanary } from '../../../../src/core/stages/canary.ts';
import type { StageNode } from '../../../../src/core/stages/stage-node.ts';
import { NOW_MS } from '../../../support/core-fixtures.ts';
import { policy } from '../../../support/staged-world.ts';
import { stageNode } from '../../../support/stage-nodes.ts';
import { record, stagesInput } from '../../../support/stage-records.ts';

const OTHERS = ['n2', 'n3', 'n4'].map((name) => stageNode(name));
const gone = OTHERS;
const notReady = [stageNode('n1', { isReady: false }), ...OTHERS];

const after = (nodes: readonly StageNode[], of: Partial<RolloutRecord> = {}): RolloutRecord =>
  withAbleCanary(record(of), stagesInput({ nodes }));

describe('S16: a canary', () => {
  for (const [title, nodes] of [
    ['is gone', gone],
    ['is not Ready before its turn', notReady],
    ['is left out by now', [stageNode('n1', { isExcluded: true }), ...OTHERS]],
  ] as const) {
    it(`has another node in the place of one that ${title}`, () => {
      const { canary } = after(nodes);
      assert.equal(canary.length, 1);
      assert.ok(!canary.includes(nodeName('n1')));
    });

    it(`proves nothing by a node that ${title}: the next step waits for another one`, () => {
      const input = stagesInput({ policy: policy({ soakMs: 60_000 }), record: record(), nodes });
      const stages = advanceStages({ ...input, nowMs: NOW_MS });
      assert.deepEqual(stages.gate, { kind: 'updating', pendingNodes: 1 });
      assert.equal(stages.record.step.kind, 'canary');
      assert.notEqual(stages.record.proven?.hash, stages.record.hash);
    });
  }

  it('keeps a node that was begun on, well or not, and those that are able', () => {
    const begun = record();
    for (const is of ['well', 'unwell', 'empty'] as const) {
      const nodes = [stageNode('n1', { is, isReady: false }), ...OTHERS];
      assert.equal(withAbleCanary(begun, stagesInput({ nodes })), begun);
    }
    const two = after(OTHERS, { canary: [nodeName('n1'), nodeName('n3')], baseNodes: 4 });
    assert.ok(two.canary.includes(nodeName('n3')));
  });

  it('stays as it was once another step is open, or a breach stands', () => {
    const { step } = record();
    const group = record({ step: { ...step, kind: 'group', index: 1 } });
    assert.equal(withAbleCanary(group, stagesInput({ nodes: gone })), group);
    const breach = { cause: 'Restarts', atMs: NOW_MS, message: '', nodes: [] } as const;
    const halted = record({ breach });
    assert.equal(withAbleCanary(halted, stagesInput({ nodes: gone })), halted);
  });

  it('of which no node is left, and none is able, opens nothing', () => {
    const nodes = OTHERS.map(({ node }) => stageNode(node.name, { isReady: false }));
    const { gate } = advanceStages(stagesInput({ record: record(), nodes }));
    assert.deepEqual(gate, { kind: 'no-canary' });
  });
});
