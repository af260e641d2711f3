/** Nodes that run the new revision ahead of their step (issue 17, copilot). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName } from '../../../../src/core/model/identifiers.ts';
import { findStrays } from '../../../../src/core/stages/former.ts';
import { node } from '../../../support/core-fixtures.ts';
import { stageNode } from '../../../support/stage-nodes.ts';
import { StagedWorld, policy } from '../../../support/staged-world.ts';
import { recordOf, stepOf } from '../../../support/rollout-records.ts';

const NAMES = ['n1', 'n2', 'n3', 'n4', 'n5'];

function world(mode: 'copilot' | 'takeover'): StagedWorld {
  const nodes = NAMES.map((name) => node(name));
  const made = new StagedWorld({ nodes, policy: policy({ soakMs: 600_000 }), mode });
  made.hash = 'bbbb';
  made.until(() => made.count('bbbb') === 1);
  return made;
}

describe('strays', () => {
  it('are the nodes whose pod somebody removed during the canary, and no canary', () => {
    const made = world('copilot');
    const [canary] = made.record?.canary ?? [];
    const other = NAMES.map(nodeName).find((name) => name !== canary) ?? nodeName('?');
    assert.deepEqual(made.plan?.stages?.strays, []);
    made.evict(other);
    made.tick(1_000);
    assert.deepEqual(made.plan.stages.strays, [other]);
  });

  it('are none in takeover: such a node gets the good revision', () => {
    const made = world('takeover');
    const [canary] = made.record?.canary ?? [];
    made.evict(NAMES.map(nodeName).find((name) => name !== canary) ?? nodeName('?'));
    made.tick(10_000);
    assert.equal(made.count('bbbb'), 1);
    assert.deepEqual(made.plan?.stages?.strays, []);
  });

  it('are none of a rollout that is done, or goes back', () => {
    const ahead = { nodes: [stageNode('x', { is: 'well' })], policy: policy() };
    assert.deepEqual(findStrays(recordOf(), ahead), ['x']);
    assert.deepEqual(findStrays(recordOf({ step: stepOf({ kind: 'done' }) }), ahead), []);
    assert.deepEqual(findStrays(recordOf({ isReturn: true }), ahead), []);
  });
});
