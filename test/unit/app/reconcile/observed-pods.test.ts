/**
 * How pods are seen to come and go (spec 2.2, 2.8): what the built-in controller counts in
 * expectations, this one knows by identity.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeOf } from '../../../support/simulated-cluster.ts';
import { codeOf, ReconcileWorld } from '../../../support/reconcile-world.ts';

const MINUTE_MS = 60_000;

const podOn = (world: ReconcileWorld, node: string): string =>
  world.pods.find((pod) => nodeOf(pod) === node)?.metadata.name ?? '';

describe('upstream never tests: double deletion observation', () => {
  it('a graceful delete is seen twice and settles once: its successor is made once', async () => {
    const world = await ReconcileWorld.settled({ nodes: 3 });
    world.cluster.podsLinger = true;
    const before = world.sent('create-pod ');
    world.addNode('node-0002', { taints: [{ key: 'k', effect: 'NoExecute' }] });
    await world.step();
    assert.equal(world.sent('delete-pod '), 1);
    world.addNode('node-0002');
    // First observation: it is terminating, and still holds its node.
    await world.step();
    await world.step();
    assert.equal(world.sent('create-pod '), before);
    // Second observation: gone.
    world.cluster.finishTermination();
    await world.step();
    await world.step();
    assert.equal(world.sent('create-pod '), before + 1);
    assert.equal(world.sent('delete-pod '), 1);
    await world.settle();
    assert.deepEqual(world.owned, ['node-0001', 'node-0002', 'node-0003']);
    assert.deepEqual(world.cluster.violations, []);
  });

  it('a user’s delete that overtakes ours counts for one pod, not for another', async () => {
    const world = await ReconcileWorld.settled({ nodes: 3 });
    const [first, second] = [podOn(world, 'node-0001'), podOn(world, 'node-0002')];
    for (const name of [first, second]) world.setPhase(name, 'Failed');
    await world.mirror.sync();
    world.cluster.hooks = {
      beforeEffect: (effect) => {
        if (effect.kind !== 'delete-pod' || effect.name !== first) return undefined;
        world.cluster.remove('pods', first, 'system');
        return undefined;
      },
    };
    await world.run();
    world.cluster.hooks = {};
    await world.settle();
    assert.deepEqual(world.owned, ['node-0001', 'node-0002', 'node-0003']);
    assert.deepEqual(world.cluster.violations, []);
  });
});

describe('upstream never tests: expectation expiry', () => {
  it('a create that the view does not show is never made again, however long it takes', async () => {
    const world = new ReconcileWorld({ nodes: 3 });
    await world.mirror.sync();
    await world.run();
    const marks = (await world.view.readMeta(world.mirror.clusterUid))?.marks;
    assert.ok(marks !== undefined);
    world.mirror.hide = () => true;
    // The expectations of the built-in controller expire after five minutes: then it doubles pods.
    for (let minute = 0; minute < 12; minute += 1) {
      await world.clock.advance(MINUTE_MS);
      await world.mirror.sync({ marks });
      await world.run();
      assert.equal(world.pods.length, 3, `after ${minute + 1} minutes`);
    }
    world.mirror.hide = () => false;
    await world.settle();
    assert.deepEqual(world.owned, ['node-0001', 'node-0002', 'node-0003']);
    assert.deepEqual(world.cluster.violations, []);
  });

  it('nor does a delete whose answer was lost stop counting as one while its pod stands', async () => {
    const world = await ReconcileWorld.settled({ nodes: 2 });
    world.cluster.podsLinger = true;
    const name = podOn(world, 'node-0001');
    world.setPhase(name, 'Failed');
    await world.mirror.sync();
    world.meet('delete-pod', { kind: 'lose-answer' });
    assert.equal(codeOf(await world.run()), 'outcome-open');
    world.cluster.hooks = {};
    for (let minute = 0; minute < 8; minute += 1) {
      await world.clock.advance(MINUTE_MS);
      await world.step();
    }
    assert.equal(world.sent('delete-pod '), 1, 'seen terminating: settled by identity');
    assert.deepEqual(world.cluster.violations, []);
  });
});

describe('upstream never tests: tombstone of pods', () => {
  it('a pod whose deletion nobody reported is missing from the next view, and is replaced once', async () => {
    const world = await ReconcileWorld.settled({ nodes: 3 });
    const before = world.sent('create-pod ');
    const name = podOn(world, 'node-0002');
    const { uid } = world.cluster.find('pods', name, 'system')?.metadata ?? {};
    // Gone while no watch was open: no event; the relist simply does not name it.
    world.cluster.remove('pods', name, 'system');
    world.mirror.epoch = '777' as never;
    await world.settle();
    assert.equal(world.sent('create-pod '), before + 1);
    assert.deepEqual(world.owned, ['node-0001', 'node-0002', 'node-0003']);
    assert.notEqual(world.cluster.find('pods', name, 'system')?.metadata.uid, uid);
    assert.deepEqual(world.cluster.violations, []);
  });

  it('a pod that was re-made under its name meanwhile is another pod (#132182)', async () => {
    const world = await ReconcileWorld.settled({ nodes: 2 });
    const before = world.sent('create-pod ');
    const name = podOn(world, 'node-0001');
    const former = world.cluster.find('pods', name, 'system');
    assert.ok(former !== undefined);
    world.setPhase(name, 'Failed');
    await world.mirror.sync();
    world.cluster.remove('pods', name, 'system');
    const { uid: _former, ...metadata } = former.metadata;
    world.cluster.put('pods', { ...former, metadata });
    await world.run();
    assert.equal(world.sent('delete-pod '), 0, 'the one that failed is not there any more');
    await world.settle();
    assert.equal(world.sent('create-pod '), before);
    assert.deepEqual(world.owned, ['node-0001', 'node-0002']);
  });
});
