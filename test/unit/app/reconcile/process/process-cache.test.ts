/** The warm memory of slices: bounded, exact, and never of another cluster (spec faults 30, 31). */
import { describe, it } from 'node:test';
import { clusterUid, nodeName, uid } from '../../../../../src/core/model/identifiers.ts';
import type { Stamp } from '../../../../../src/core/model/position.ts';
import type { Projection } from '../../../../../src/core/model/projections.ts';
import {
  SetCache,
  warmKey,
  Paces,
  Resends,
} from '../../../../../src/app/reconcile/process/process-cache.ts';
import { ReconcileWorld } from '../../../../support/reconcile-world.ts';

import assert from 'node:assert/strict';

const stamp = (text: string): Stamp => text as Stamp;
const objects = (count: number): readonly Projection[] =>
  Array.from({ length: count }, (_, index) => ({ name: nodeName(`n${index}`) }) as never);

describe('SetCache', () => {
  it('answers only for the exact stamp', () => {
    const cache = new SetCache(25);
    cache.put('a', {
      changed: stamp('1'),
      objects: objects(1),
      gone: [],
      slices: [],
    });
    assert.equal(cache.get('a', stamp('2')), undefined);
    assert.equal(cache.get('a', stamp('1'))?.objects.length, 1);
  });

  it('drops the least recently used set beyond its bound', () => {
    const cache = new SetCache(25);
    for (const key of ['a', 'b'])
      cache.put(key, {
        changed: stamp('1'),
        objects: objects(8),
        gone: [],
        slices: [],
      });
    cache.get('a', stamp('1'));
    cache.put('c', {
      changed: stamp('1'),
      objects: objects(8),
      gone: [],
      slices: [],
    });
    assert.equal(cache.get('b', stamp('1')), undefined);
    assert.ok(cache.get('a', stamp('1')) !== undefined);
  });

  it('holds no more sets without objects than its bound allows, the latest of them', () => {
    const cache = new SetCache(1000);
    const none = { changed: stamp('1'), objects: [], gone: [], slices: [] };
    const keys = Array.from({ length: 1000 }, (_, index) => `set ${index}`);
    for (const key of keys) cache.put(key, none);
    const held = keys.filter((key) => cache.last(key) !== undefined);
    assert.deepEqual(held, keys.slice(-250));
  });

  it('has keys that begin with the cluster', () => {
    const of = (uid: string): string => warmKey({ clusterUid: clusterUid(uid), set: 'nodes' }, 1);
    assert.notEqual(of('a'), of('b'));
  });
});

describe('a warm process', () => {
  it('reads no slice again while nothing changed in its set, and decides the same', async () => {
    const world = await ReconcileWorld.settled({ nodes: 3 });
    const name = world.pods[0]?.metadata.name ?? '';
    const slices = (): readonly string[] =>
      world.view.calls
        .filter(({ operation }) => operation === 'readSlice')
        .map(({ target }) => target);
    world.cluster.remove('pods', name, 'system');
    await world.mirror.sync();
    const before = slices().length;
    await world.run();
    const read = slices().slice(before);
    assert.equal(read.length, 1, 'the pods');
    assert.ok(read[0]?.includes('pods/'));
    await world.settle();
    assert.equal(world.placed.length, 3);
  });
});

// What a warm process remembers of slow start, and what makes it forget.

const KEY = { clusterUid: 'cluster-a', uid: 'uid-1', generation: 3 };

describe('paces', () => {
  it('start at one, then where a flawless run ended', () => {
    const paces = new Paces();
    assert.equal(paces.firstBatchSize(KEY, 0), 1);
    paces.note(KEY, 32, 0);
    assert.equal(paces.firstBatchSize(KEY, 9_999), 32);
    paces.note(KEY, 250, 0);
    assert.equal(paces.firstBatchSize(KEY, 0), 250);
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

  it('go on where a run was interrupted by another one, not from the start (issue 16)', async () => {
    const world = await ReconcileWorld.settled({ nodes: 7 });
    addNodes(world, 'later', 12);
    const ref = {
      clusterUid: world.mirror.clusterUid,
      uid: uid(world.daemonSet.metadata.uid),
    };
    world.cluster.hooks.afterEffect = async ({ kind }) => {
      if (kind !== 'create-pod') return;
      world.cluster.hooks = {};
      const state = await world.view.readState(ref);
      assert.ok(state !== undefined);
      await world.view.writeState(ref, state);
    };
    assert.deepEqual(await batchesOfRun(world), [8]);
    assert.deepEqual(await batchesOfRun(world), [4]);
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

/** protocol 12: a due time that is near is sent again, but not once per hint. */

describe('protocol 12: due times sent again', () => {
  it('once when many hints of a key arrive together', () => {
    const resends = new Resends();
    const sent = Array.from({ length: 20 }, (_, index) => resends.take('key', 5000, index));
    assert.equal(sent.filter(Boolean).length, 1);
  });

  it('again after a second, so that a timer which came too early is replaced', () => {
    const resends = new Resends();
    assert.ok(resends.take('key', 5000, 0));
    assert.ok(resends.take('key', 5000, 1000));
  });

  it('for each due time and each key of its own', () => {
    const resends = new Resends();
    assert.ok(resends.take('key', 5000, 0));
    assert.ok(resends.take('key', 6000, 1));
    assert.ok(resends.take('other', 5000, 2));
  });
});
