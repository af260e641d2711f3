/**
 * What a run sees of a staged rollout's nodes: who is updated, who is bad, how often pods of the revision restarted.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StageNode } from '../../../../src/core/stages/stage-node.ts';
import { countRestarts, trialNodes } from '../../../../src/core/stages/observe.ts';
import { stageNode } from '../../../support/stage-nodes.ts';

function seen(node: StageNode): { readonly isUpdated: boolean; readonly isBad: boolean } {
  const [first] = trialNodes([node]);
  assert.ok(first !== undefined);
  return { isUpdated: first.isUpdated, isBad: first.isBad };
}

describe('nodes as the trial sees them', () => {
  it('are updated once they have a new pod, or lost the old one to the rollout', () => {
    assert.deepEqual(seen(stageNode('n1')), { isUpdated: false, isBad: false });
    assert.deepEqual(seen(stageNode('n1', { is: 'well' })), { isUpdated: true, isBad: false });
    assert.deepEqual(seen(stageNode('n1', { is: 'empty' })), { isUpdated: true, isBad: false });
  });

  it('are bad when they are not Ready, whatever their pods say', () => {
    assert.deepEqual(seen(stageNode('n1', { isReady: false })), { isUpdated: false, isBad: true });
    assert.deepEqual(seen(stageNode('n1', { is: 'unwell' })), { isUpdated: true, isBad: false });
  });

  it('carry their name, stratum and age; no age where nobody told it', () => {
    const old = stageNode('n1');
    const aged = { ...old, node: { ...old.node, createdAtMs: 7_000 } };
    const [first, second] = trialNodes([aged, stageNode('n2')]);
    assert.equal(first?.name, 'n1');
    assert.equal(first.createdAtMs, 7_000);
    assert.equal(typeof first.stratum, 'string');
    assert.ok(second !== undefined && !('createdAtMs' in second));
  });
});

describe('restarts', () => {
  it('are counted of pods of the revision alone', () => {
    const nodes = [
      stageNode('n1', { is: 'well', pod: { trouble: { restarts: 2 } } }),
      stageNode('n2', { is: 'unwell', pod: { trouble: { restarts: 3 } } }),
      stageNode('n3', { pod: { trouble: { restarts: 40 } } }),
      stageNode('n4', { is: 'well' }),
      stageNode('n5', { is: 'well', pod: { trouble: { waiting: 'ImagePullBackOff' } } }),
    ];
    assert.equal(countRestarts(nodes), 5);
    assert.equal(countRestarts([]), 0);
  });
});
