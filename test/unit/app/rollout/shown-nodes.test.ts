/** Which nodes the status of a rollout names (issue 17): who uses the budget, who waits for whom, who has its turn. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LaneStanding } from '../../../../src/app/reconcile/lane/find-lane.ts';
import {
  SHOWN_NODES_MAX,
  shownBudget,
  shownLane,
} from '../../../../src/app/rollout/shown-nodes.ts';
import type { LaneEntry } from '../../../../src/core/lane/lane.ts';
import { nodeName, uid } from '../../../../src/core/model/identifiers.ts';
import type { NodeName } from '../../../../src/core/model/identifiers.ts';
import type { LaneBlock } from '../../../../src/core/model/plan.ts';
import type { NodeCode, Verdict } from '../../../../src/core/model/verdict.ts';

const OWN = uid('own');

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

function entry(node: string, owner = OWN): LaneEntry {
  const of = { namespace: 'ops', name: 'agent', pod: uid(`pod-${node}`) };
  return { node: nodeName(node), owner, ...of, claimedAtMs: 7, deadAtMs: 8 };
}

function standing(
  options: Partial<LaneStanding> & { entries?: readonly LaneEntry[] },
): LaneStanding {
  const { entries = [], ...rest } = options;
  const lane = { version: 1, entries, waiters: [] };
  return { lane, freed: [], blocked: new Map(), circles: [], ...rest };
}

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

describe('the lane that is shown', () => {
  const taken = { kind: 'replaced', by: 'ops/cni', message: '' } as const;

  it('names the node, the daemon that it waits for, and why; and own turns', () => {
    const blocked = new Map<NodeName, LaneBlock>([
      [nodeName('n1'), taken],
      [nodeName('n2'), { ...taken, kind: 'first' } as const],
      // Its step is not open: it waits for that, and not for the lane.
      [nodeName('n3'), taken],
    ]);
    const shown = shownLane(
      standing({ blocked, entries: [entry('n9'), entry('n8', uid('other'))] }),
      OWN,
      [
        verdict('n1', 'WaitingForLane'),
        verdict('n2', 'WaitingForLane'),
        verdict('n3', 'WaitingForRollout'),
      ],
    );
    assert.deepEqual(shown, {
      waitingNodes: 2,
      waits: [
        { node: 'n1', kind: 'replaced', by: 'ops/cni' },
        { node: 'n2', kind: 'first', by: 'ops/cni' },
      ],
      holds: [{ node: 'n9', sinceMs: 7 }],
    });
  });

  it('leaves out turns that do not count any more, and is absent where there is nothing to say', () => {
    const old = entry('n9');
    assert.equal(shownLane(standing({ entries: [old], freed: [old] }), OWN, []), undefined);
  });

  it('is bounded, and counts all', () => {
    const names = Array.from({ length: 40 }, (_, index) => `n${String(index)}`);
    const blocked = new Map(names.map((name) => [nodeName(name), taken]));
    const verdicts = names.map((name) => verdict(name, 'WaitingForLane'));
    const shown = shownLane(standing({ blocked }), OWN, verdicts);
    assert.equal(shown?.waits.length, SHOWN_NODES_MAX);
    assert.equal(shown.waitingNodes, 40);
  });
});
