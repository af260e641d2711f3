/**
 * A release that kills its nodes. A control plane taints a node that turned NotReady, and daemon pods do not tolerate that: the node
 * should run none any more. It is evidence all the same (what goes in its place: lost-canaries.test.ts).
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName, type NodeName } from '../../../../src/core/model/identifiers.ts';
import { advanceStages } from '../../../../src/core/stages/advance-stages.ts';
import { withAbleCanary } from '../../../../src/core/stages/canary.ts';
import { node } from '../../../support/core-fixtures.ts';
import { stageNode } from '../../../support/stage-nodes.ts';
import { StagedWorld, policy } from '../../../support/staged-world.ts';
import { record, stagesInput } from '../../../support/stage-records.ts';

const MINUTE_MS = 60_000;
const ZONE = 'topology.kubernetes.io/zone';
const ZONES = ['zone-a', 'zone-b', 'zone-c'] as const;
const LOST = {
  isReady: false,
  taints: [
    { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' as const },
    { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' as const },
  ],
};

/** 24 nodes in three zones, and a canary of three. */
function start(): StagedWorld {
  const nodes = Array.from({ length: 24 }, (_, index) =>
    node(nodeName(`n${String(index)}`), { labels: { [ZONE]: ZONES[index % 3] ?? '' } }),
  );
  return new StagedWorld({
    nodes,
    policy: policy({
      maxUnavailable: { kind: 'count', count: 3 },
      canary: { kind: 'share', share: { kind: 'count', count: 3 }, spread: [] },
      soakMs: 10 * MINUTE_MS,
    }),
  });
}

/** Nodes that run the new revision, and are in one of these zones. */
function doomed(world: StagedWorld, zones: readonly string[]): readonly NodeName[] {
  const hashes = world.hashes();
  return [...world.nodes.values()]
    .filter(({ name, labels }) => hashes[name] === 'bbbb' && zones.includes(labels[ZONE] ?? ''))
    .map(({ name }) => name);
}

describe('a node that is lost after its update', () => {
  it('halts the rollout with its like: they went bad, and their peers did not', () => {
    const world = start();
    world.hash = 'bbbb';
    world.until(() => world.count('bbbb') === 3);
    world.until(() => false, { maxMs: MINUTE_MS });
    for (const name of doomed(world, ['zone-a', 'zone-b'])) world.setNode(name, LOST);
    world.until(() => world.record?.breach !== undefined, { maxMs: 5 * MINUTE_MS });
    assert.equal(world.record?.breach?.cause, 'NodesFailed');
    assert.match(world.record.breach.message, /2 of 3 updated nodes went bad, 0 of 21 others/);
    assert.equal(world.count('bbbb'), 3, 'no other node was given it');
  });

  it('stays in the canary beside one that has to be chosen anew', () => {
    const before = record({ canary: [nodeName('n1'), nodeName('n9')], baseNodes: 4 });
    const input = stagesInput({
      nodes: ['n2', 'n3', 'n4'].map((name) => stageNode(name)),
      keptNodes: [stageNode('n1', { is: 'well', isReady: false })],
    });
    const { canary } = withAbleCanary(before, input);
    assert.ok(canary.includes(nodeName('n1')));
    assert.ok(!canary.includes(nodeName('n9')), 'that one is gone');
  });

  it('was outside of the comparison if it was lost before the rollout began', () => {
    const { record: begun } = advanceStages(
      stagesInput({
        nodes: ['n2', 'n3', 'n4'].map((name) => stageNode(name)),
        keptNodes: [stageNode('n1', { isReady: false })],
      }),
    );
    assert.deepEqual(begun.trial.outside, [nodeName('n1')]);
  });
});
