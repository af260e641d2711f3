/** Which nodes the status of a rollout names (issue 17): who uses the budget. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { shownBudget } from '../../../../src/app/rollout/rollout-status.ts';
import { nodeName } from '../../../../src/core/model/identifiers.ts';
import type { NodeCode, Verdict } from '../../../../src/core/model/verdict.ts';

function verdict(node: string, code: NodeCode): Verdict {
  const message = `Node ${node} is ${code}`;
  return { node: nodeName(node), placement: 'run', reason: { code: 'Eligible' }, code, message };
}

const progress = {
  desiredNodes: 50,
  updatedNodes: 3,
  unavailableNodes: 2,
  unavailable: ['n1', 'n2'].map(nodeName),
  surgingNodes: 0,
  unavailableNodesMax: 10,
  surgeNodesMax: 0,
  waitingNodes: 40,
};

describe('the budget that is shown', () => {
  it('names who uses it and why, and how much is free', () => {
    const shown = shownBudget({ rollout: progress }, [
      verdict('n1', 'NotReady'),
      verdict('n2', 'Creating'),
      verdict('n3', 'Running'),
    ]);
    assert.equal(shown?.freeNodes, 8);
    assert.deepEqual(
      shown.users.map(({ node, code }) => [node, code]),
      [
        ['n1', 'NotReady'],
        ['n2', 'Creating'],
      ],
    );
    assert.ok(!('unavailable' in shown) && !('desiredNodes' in shown));
  });

  it('has nothing free where more is used than it allows, and counts by maxSurge with surge', () => {
    const over = shownBudget({ rollout: { ...progress, unavailableNodes: 12 } }, []);
    assert.equal(over?.freeNodes, 0);
    const surging = { ...progress, unavailableNodesMax: 0, surgeNodesMax: 5, surgingNodes: 2 };
    assert.equal(shownBudget({ rollout: surging }, [])?.freeNodes, 3);
    assert.equal(shownBudget({}, []), undefined);
  });
});
