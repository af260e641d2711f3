/**
 * Nodes that went bad by themselves: whom `budget: attributed` excuses, and up to how many.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName } from '../../../../src/core/model/identifiers.ts';
import { excuseNodes, excusedNodesMax } from '../../../../src/core/stages/excused.ts';
import type { StageNode } from '../../../../src/core/stages/stage-node.ts';
import { policy } from '../../../support/staged-world.ts';
import { record } from '../../../support/stage-records.ts';
import { stageNode } from '../../../support/stage-nodes.ts';

const ATTRIBUTED = policy({ budget: 'attributed' });

function bad(...names: readonly string[]): readonly StageNode[] {
  return names.map((name) => stageNode(name, { isReady: false }));
}

function excused(
  nodes: readonly StageNode[],
  options: { readonly outside?: readonly string[]; readonly baseNodes?: number } = {},
): readonly string[] {
  const { outside = [], baseNodes = 10 } = options;
  const { trial } = record();
  const at = record({
    baseNodes,
    trial: { ...trial, outside: outside.map((each) => nodeName(each)) },
  });
  return [...excuseNodes(at, nodes, ATTRIBUTED)];
}

describe('nodes that are excused', () => {
  it('are none under parity, whatever broke them, but for those that no rollout gets at', () => {
    const { trial } = record();
    const at = record({ trial: { ...trial, outside: [nodeName('n1')] } });
    assert.equal(excuseNodes(at, bad('n1', 'n2'), policy({ budget: 'parity' })).size, 0);
    const out = [stageNode('n1', { isExcluded: true }), stageNode('n2', { hasNoPlace: true })];
    assert.equal(excuseNodes(at, out, policy({ budget: 'parity' })).size, 2);
  });

  it('are those that are not Ready, those that the policy leaves out, and those without a place', () => {
    const nodes = [
      ...bad('n1'),
      stageNode('n2'),
      stageNode('n3', { isReady: false, isExcluded: true }),
      stageNode('n4', { hasNoPlace: true }),
    ];
    assert.deepEqual(excused(nodes).toSorted(), ['n1', 'n3', 'n4']);
  });

  it('that were bad before their turn are all excused, and use up nothing of the cap', () => {
    const outside = ['n1', 'n2', 'n3', 'n4'];
    const nodes = bad(...outside, 'n5', 'n6', 'n7');
    assert.deepEqual(excused(nodes, { outside }), [...outside, 'n5', 'n6']);
  });

  it('are two at most, or five percent of the fewer nodes of then and now, rounded down', () => {
    assert.deepEqual(
      [0, 10, 40, 59, 60, 99, 100, 1_000].map((nodes) =>
        excusedNodesMax({ then: nodes, now: 1_000 }),
      ),
      [2, 2, 2, 2, 3, 4, 5, 50],
    );
    assert.equal(excusedNodesMax({ then: 1_000, now: 60 }), 3);
    const names = Array.from({ length: 9 }, (_each, index) => `n${String(index)}`);
    const good = Array.from({ length: 91 }, (_each, index) => stageNode(`g${String(index)}`));
    assert.equal(excused([...bad(...names), ...good], { baseNodes: 100 }).length, 5);
    assert.equal(excused([...bad(...names), ...good], { baseNodes: 20 }).length, 2);
  });
});
