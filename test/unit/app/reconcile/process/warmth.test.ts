/** The warm memory of slices: bounded, exact, and never of another cluster (spec faults 30, 31). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterUid, nodeName } from '../../../../../src/core/model/identifiers.ts';
import type { Stamp } from '../../../../../src/core/model/position.ts';
import type { Projection } from '../../../../../src/core/model/projections.ts';
import { SetCache, warmKey } from '../../../../../src/app/reconcile/process/warmth.ts';
import { ReconcileWorld } from '../../../../support/reconcile-world.ts';

const stamp = (text: string): Stamp => text as Stamp;
const objects = (count: number): readonly Projection[] =>
  Array.from({ length: count }, (_, index) => ({ name: nodeName(`n${index}`) }) as never);

describe('SetCache', () => {
  it('answers only for the exact stamp', () => {
    const cache = new SetCache(10);
    cache.put('a', { changed: stamp('1'), objects: objects(1), gone: [] });
    assert.equal(cache.get('a', stamp('2')), undefined);
    assert.equal(cache.get('a', stamp('1'))?.objects.length, 1);
  });

  it('drops the least recently used set beyond its bound', () => {
    const cache = new SetCache(10);
    for (const key of ['a', 'b'])
      cache.put(key, { changed: stamp('1'), objects: objects(5), gone: [] });
    cache.get('a', stamp('1'));
    cache.put('c', { changed: stamp('1'), objects: objects(5), gone: [] });
    assert.equal(cache.get('b', stamp('1')), undefined);
    assert.ok(cache.get('a', stamp('1')) !== undefined);
  });

  it('has keys that begin with the cluster', () => {
    const of = (uid: string): string => warmKey({ clusterUid: clusterUid(uid), set: 'nodes' }, 1);
    assert.notEqual(of('a'), of('b'));
  });
});

describe('a warm process', () => {
  it('reads no slice again while nothing changed in its set, and decides the same', async () => {
    const world = new ReconcileWorld({ nodes: 3 });
    await world.settle();
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
