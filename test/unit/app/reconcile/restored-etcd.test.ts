/** protocol 9, 15, row 71: nothing is made by a view of a history that etcd has left (S1, S2). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resourceVersion } from '../../../../src/core/model/identifiers.ts';
import { onDelete, putPod } from '../../../support/foreign-pods.ts';
import { ReconcileWorld } from '../../../support/reconcile-world.ts';
import { nodeOf } from '../../../support/simulated-cluster.ts';

/** With surge a node's pod has another name than without: names alone do not keep it from being doubled. */
function editStrategy(world: ReconcileWorld): void {
  const key = { namespace: 'system', name: 'agents' };
  const updateStrategy = {
    type: 'RollingUpdate',
    rollingUpdate: { maxSurge: 1, maxUnavailable: 0 },
  };
  world.cluster.change('daemonsets', key, (object) => ({
    ...object,
    metadata: { ...object.metadata, generation: (object.metadata.generation ?? 0) + 1 },
    spec: { ...(object['spec'] as object), updateStrategy },
  }));
}

describe('row 71: a view that is of another history than the API server', () => {
  it('makes no pod while the live DaemonSet is older than the one in the view (S2)', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    await world.settle();
    const backup = world.cluster.backup();
    editStrategy(world);
    world.addNode('node-0002');
    await world.mirror.sync();
    world.cluster.restore(backup);
    const result = await world.run();
    assert.equal(result.kind === 'deferred' && result.code, 'daemon-set-changed');
    assert.deepEqual(world.owned, ['node-0001'], 'no pod by a view from before the restore');
  });

  it('whose era is new has its first creates guarded by a live list: answers were forgotten (protocol 9)', async () => {
    const world = new ReconcileWorld({ nodes: 2 });
    await world.settle();
    editStrategy(world);
    world.mirror.hide = () => true;
    world.mirror.era = 2;
    const result = await world.step();
    assert.equal(result.kind === 'deferred' && result.code, 'foreign-pods-unseen');
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
    editStrategy(world);
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
    const world = new ReconcileWorld({ nodes: 2 });
    await world.settle();
    const backup = world.cluster.backup();
    const untouched = structuredClone(world.daemonSet);
    world.addNode('node-0003');
    world.cluster.remove('pods', world.pods[0]?.metadata.name ?? '', 'system');
    await world.mirror.sync();
    world.cluster.restore(backup);
    const result = await world.run();
    assert.equal(result.kind === 'deferred' && result.code, 'daemon-set-changed');
    assert.deepEqual(
      world.owned,
      ['node-0001', 'node-0002'],
      'no pod by a view of the lost history',
    );
    assert.deepEqual(world.daemonSet, untouched, 'nor counts of it');
  });

  it('goes on by the object alone where the list tells no version of the store', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    await world.settle();
    world.addNode('node-0002');
    await world.mirror.sync({ marks: { DaemonSet: resourceVersion('99999') } });
    world.cluster.tellsStoreVersion = false;
    await world.run();
    assert.deepEqual(world.owned, ['node-0001', 'node-0002']);
  });
});
