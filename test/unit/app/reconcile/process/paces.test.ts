// What a warm process remembers of slow start, and what makes it forget.
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { Paces } from '../../../../../src/app/reconcile/process/paces.ts';
import { ReconcileWorld } from '../../../../support/reconcile-world.ts';

const KEY = { clusterUid: 'cluster-a', uid: 'uid-1', generation: 3 };

describe('paces', () => {
  it('start at one, then where a flawless run ended, at most with 64', () => {
    const paces = new Paces();
    assert.equal(paces.firstBatchSize(KEY, 0), 1);
    paces.note(KEY, 32, 0);
    assert.equal(paces.firstBatchSize(KEY, 9_999), 32);
    paces.note(KEY, 250, 0);
    assert.equal(paces.firstBatchSize(KEY, 0), 64);
  });

  it('are forgotten after ten seconds, and when something went wrong', () => {
    const paces = new Paces();
    paces.note(KEY, 32, 0);
    assert.equal(paces.firstBatchSize(KEY, 10_000), 1);
    paces.note(KEY, 32, 0);
    paces.note(KEY, undefined, 1);
    assert.equal(paces.firstBatchSize(KEY, 2), 1);
  });

  it('hold for one generation of one DaemonSet of one cluster', () => {
    const paces = new Paces();
    paces.note(KEY, 32, 0);
    for (const other of [{ generation: 4 }, { uid: 'uid-2' }, { clusterUid: 'cluster-b' }]) {
      assert.equal(paces.firstBatchSize({ ...KEY, ...other }, 0), 1, JSON.stringify(other));
    }
  });
});

/** Sizes of the batches of one run: between two of them the DaemonSet is read live. */
async function batchesOfRun(world: ReconcileWorld): Promise<readonly number[]> {
  const from = world.cluster.requests.length;
  await world.step();
  const batches: number[] = [];
  for (const request of world.cluster.requests.slice(from)) {
    if (request.startsWith('LIST daemonset')) batches.push(0);
    else if (request.startsWith('create-pod')) batches.push((batches.pop() ?? 0) + 1);
  }
  return batches.filter((size) => size > 0);
}

function addNodes(world: ReconcileWorld, prefix: string, count: number): void {
  for (let index = 0; index < count; index += 1) world.addNode(`${prefix}-${String(index)}`);
}

describe('the creates of a run', () => {
  it('start slowly, and in the next run where the last one ended (spec 2.8)', async () => {
    const world = new ReconcileWorld({ nodes: 7 });
    assert.deepEqual(await batchesOfRun(world), [1, 2, 4]);
    await world.settle();
    addNodes(world, 'later', 12);
    assert.deepEqual(await batchesOfRun(world), [8, 4]);
    assert.deepEqual(world.cluster.violations, []);
  });

  it('start slowly again after a refusal', async () => {
    const world = new ReconcileWorld({ nodes: 7 });
    await world.step();
    world.cluster.hooks.admitPod = () => ({ code: 'admission' });
    addNodes(world, 'refused', 1);
    await world.step();
    world.cluster.hooks.admitPod = () => undefined;
    addNodes(world, 'later', 3);
    assert.deepEqual(await batchesOfRun(world), [1, 2]);
  });
});
