/** protocol 9, 15, row 71: nothing is made by a view of a history that etcd has left (S1, S2). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resourceVersion } from '../../../../src/core/model/identifiers.ts';
import { onDelete, putPod } from '../../../support/foreign-pods.ts';
import { codeOf, ReconcileWorld } from '../../../support/reconcile-world.ts';
import { nodeOf } from '../../../support/simulated-cluster.ts';

const SURGE = {
  type: 'RollingUpdate',
  rollingUpdate: { maxSurge: 1, maxUnavailable: 0 },
};

describe('row 71: a view that is of another history than the API server', () => {
  it('makes no pod while the live DaemonSet is older than the one in the view (S2)', async () => {
    const world = await ReconcileWorld.settled({ nodes: 1 });
    const backup = world.cluster.backup();
    world.edit(() => ({ updateStrategy: SURGE }));
    world.addNode('node-0002');
    await world.mirror.sync();
    world.cluster.restore(backup);
    assert.equal(codeOf(await world.run()), 'daemon-set-changed');
    assert.deepEqual(world.owned, ['node-0001'], 'no pod by a view from before the restore');
  });

  it('whose era is new has its first creates guarded by a live list: answers were forgotten (protocol 9)', async () => {
    const world = await ReconcileWorld.settled({ nodes: 2 });
    world.edit(() => ({ updateStrategy: SURGE }));
    world.mirror.hide = () => true;
    world.mirror.era = 2;
    assert.equal(codeOf(await world.step()), 'foreign-pods-unseen');
    assert.deepEqual(world.owned, ['node-0001', 'node-0002'], 'no second pod beside an unseen one');
    world.mirror.hide = () => false;
    await world.settle();
    assert.deepEqual(world.owned, ['node-0001', 'node-0002']);
  });

  it('and whose mark has passed an answer is not believed when a live read still shows that pod (S2)', async () => {
    const world = new ReconcileWorld({ nodes: 2, ...onDelete });
    const owner = world.daemonSet.metadata.uid;
    putPod(world, { name: 'agents-x7k2p', node: 'node-0001', owner });
    await world.step();
    assert.deepEqual(world.owned, ['node-0001', 'node-0002']);
    await world.clock.advance(60_000); // protocol 6 holds creates beside a new state for a while
    world.edit(() => ({ updateStrategy: SURGE }));
    world.mirror.hide = (pod) => nodeOf(pod) === 'node-0002';
    world.mirror.epoch = '777' as never;
    await world.step();
    await world.settle();
    const beside = world.pods.filter((pod) => nodeOf(pod) === 'node-0002');
    assert.equal(
      beside.length,
      1,
      'no second pod beside one that we made, however often it is looked at',
    );
  });

  it('makes no pod and writes no status where nobody touched the DaemonSet since the backup (S2, S7)', async () => {
    const world = await ReconcileWorld.settled({ nodes: 2 });
    const backup = world.cluster.backup();
    const untouched = structuredClone(world.daemonSet);
    world.addNode('node-0003');
    world.cluster.remove('pods', world.pods[0]?.metadata.name ?? '', 'system');
    await world.mirror.sync();
    world.cluster.restore(backup);
    assert.equal(codeOf(await world.run()), 'daemon-set-changed');
    assert.deepEqual(
      world.owned,
      ['node-0001', 'node-0002'],
      'no pod by a view of the lost history',
    );
    assert.deepEqual(world.daemonSet, untouched, 'nor counts of it');
  });

  it('goes on by the object alone where the list tells no version of the store', async () => {
    const world = await ReconcileWorld.settled({ nodes: 1 });
    world.addNode('node-0002');
    await world.mirror.sync({ marks: { DaemonSet: resourceVersion('99999') } });
    world.cluster.tellsStoreVersion = false;
    await world.run();
    assert.deepEqual(world.owned, ['node-0001', 'node-0002']);
  });
});

/** What a view tells of a node's pod that went is of the lost history; the store has every pod, and is at this version. */
async function bringPodBack(at: (backupVersion: number) => number): Promise<ReconcileWorld> {
  const world = await ReconcileWorld.settled({ nodes: 2 });
  const backup = world.cluster.backup();
  const seen = resourceVersion(world.cluster.version);
  world.cluster.remove('pods', world.pods[0]?.metadata.name ?? '', 'system');
  const gone = resourceVersion(world.cluster.version);
  await world.mirror.sync({ marks: { DaemonSet: seen, Pod: gone } });
  world.cluster.restore({ ...backup, version: at(backup.version) });
  return world;
}

/** Others write until the store is as far as it was before, and further. */
function grow(world: ReconcileWorld): void {
  for (let each = 0; each < 9; each += 1) world.cluster.put('events', other(each));
}

const other = (index: number): Parameters<ReconcileWorld['cluster']['put']>[1] => ({
  metadata: { namespace: 'system', name: `other-${index}` },
});

describe('row 71: a store that was restored and has passed what was seen of its DaemonSets', () => {
  it('gets no pod beside one that came back, while it is behind what was seen of pods (S2)', async () => {
    const world = await bringPodBack((version) => version);
    assert.equal(codeOf(await world.run()), 'foreign-pods-unseen');
    assert.deepEqual(world.owned, ['node-0001', 'node-0002']);
  });

  it('nor later in that era, once one run had reason to doubt it (S2)', async () => {
    for (const [behind, code] of [
      [0, 'foreign-pods-unseen'],
      [1, 'daemon-set-changed'],
    ] as const) {
      const world = await bringPodBack((version) => version - behind);
      assert.equal(codeOf(await world.run()), code);
      grow(world);
      assert.equal(codeOf(await world.run()), 'foreign-pods-unseen', code);
      assert.equal(codeOf(await world.run()), 'foreign-pods-unseen', code);
      assert.deepEqual(world.owned, ['node-0001', 'node-0002']);
      world.mirror.era = 2;
      await world.settle();
      assert.deepEqual(world.owned, ['node-0001', 'node-0002']);
    }
  });

  it('nor where its version was bumped with the restore, as its guide asks (S2)', async () => {
    const world = await bringPodBack((version) => version + 1_000_000_000);
    assert.equal(codeOf(await world.run()), 'foreign-pods-unseen');
    assert.deepEqual(world.owned, ['node-0001', 'node-0002']);
  });

  it('gets its pods all the same where pods have an etcd of their own, each time after one live list', async () => {
    const world = await ReconcileWorld.settled({ nodes: 1 });
    const lists: string[] = [];
    world.cluster.hooks = {
      onRead: (what) => {
        if (what === 'LIST pods') lists.push(what);
        return Promise.resolve(undefined);
      },
    };
    for (const count of [2, 3]) {
      world.addNode(`node-000${count}`);
      await world.mirror.sync({ marks: { Pod: resourceVersion('99999') } });
      await world.run();
      assert.equal(world.owned.length, count);
      assert.equal(lists.length, count - 1);
    }
  });
});
