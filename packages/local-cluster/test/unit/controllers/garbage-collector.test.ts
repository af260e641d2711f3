/** The garbage collector on a real store: what it deletes, in which order, and what it leaves alone. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiRequest } from '../../../src/api/request/api-request.ts';
import type { ControllerContext } from '../../../src/controllers/shared/controller-context.ts';
import { startGarbageCollector } from '../../../src/controllers/garbage-collector.ts';
import type { ApiObject, ResourceName } from '../../../src/objects/api-object.ts';
import { startOne } from '../../support/start-one.ts';
import type { StartedController } from '../../support/start-one.ts';
import { configMapObject } from '../../support/objects.ts';
import { createLocalWorld, demand } from '../../support/world.ts';
import type { LocalWorld } from '../../support/world.ts';

const start = (context: ControllerContext): ReturnType<typeof startGarbageCollector> =>
  startGarbageCollector(context);

describe('the garbage collector', () => {
  let world: LocalWorld;
  let collector: StartedController;
  /** Timers of the watches, which always run. */
  let watchTimers: number;

  beforeEach(async () => {
    world = await createLocalWorld();
    collector = startOne(world, start);
    await world.settle();
    watchTimers = world.clock.pendingTimers;
  });

  afterEach(async () => {
    await collector.stop();
    assert.deepEqual(world.log.at('error'), []);
  });

  /** A ConfigMap with these owners. */
  async function make(
    name: string,
    owners: readonly JsonObject[] = [],
    more: JsonObject = {},
  ): Promise<ApiObject> {
    return world.create('configmaps', configMapObject(name, { ownerReferences: owners, ...more }));
  }

  function read(name: string, namespace = 'default'): ApiObject | undefined {
    return world.read({ resource: 'configmaps', namespace, name });
  }

  async function remove(
    name: string,
    propagation: 'Background' | 'Foreground' | 'Orphan',
    resource: ResourceName = 'configmaps',
  ): Promise<void> {
    demand(await world.admin.delete({ resource, namespace: 'default', name }, { propagation }));
    await world.settle();
  }

  /** Two objects, `first` and `second`, each of which owns the other. */
  async function makeCircle(): Promise<void> {
    const first = await make('first');
    const second = await make('second', [refTo(first)]);
    demand(
      await world.admin.patch(
        { resource: 'configmaps', namespace: 'default', name: 'first' },
        { type: 'merge', body: { metadata: { ownerReferences: [refTo(second)] } } },
      ),
    );
  }

  it('deletes the dependents of an owner that was deleted in the background, and theirs', async () => {
    const owner = await make('owner');
    const child = await make('child', [refTo(owner)]);
    await make('grandchild', [refTo(child)]);
    await make('stranger');
    await remove('owner', 'Background');
    assert.equal(read('child'), undefined);
    assert.equal(read('grandchild'), undefined);
    assert.notEqual(read('stranger'), undefined);
  });

  it('is idle when nothing happens', async () => {
    const owner = await make('owner');
    await make('child', [refTo(owner)]);
    await world.settle();
    const version = world.store.version();
    assert.equal(world.clock.pendingTimers, watchTimers);
    await world.clock.advance(3_600_000);
    assert.equal(world.store.version(), version);
  });

  it('deletes what is created with an owner that is gone, or never was', async () => {
    const owner = await make('owner');
    await remove('owner', 'Background');
    await make('late', [refTo(owner)]);
    await make('odd', [{ ...refTo(owner), name: 'never', uid: 'never-there' }]);
    await world.settle();
    assert.equal(read('late'), undefined);
    assert.equal(read('odd'), undefined);
  });

  it('takes an owner that was made again under its name for another one', async () => {
    const owner = await make('owner');
    await remove('owner', 'Background');
    await make('owner');
    await make('late', [refTo(owner)]);
    await world.settle();
    assert.equal(read('late'), undefined);
    assert.notEqual(read('owner'), undefined);
  });

  it('keeps what another owner still holds, and drops the reference to the one that went', async () => {
    const [first, second] = [await make('first'), await make('second')];
    await make('child', [refTo(first), refTo(second)]);
    await remove('first', 'Background');
    assert.deepEqual(
      read('child')?.metadata.ownerReferences?.map(({ name }) => name),
      ['second'],
    );
    await remove('second', 'Background');
    assert.equal(read('child'), undefined);
  });

  it('orphans on request: the reference goes, the dependent stays, the owner ends', async () => {
    const owner = await make('owner');
    await make('child', [refTo(owner)]);
    await remove('owner', 'Orphan');
    assert.equal(read('owner'), undefined);
    assert.deepEqual(read('child')?.metadata.ownerReferences ?? [], []);
  });

  it('deletes blocking dependents first in the foreground, and only then the owner', async () => {
    const owner = await make('owner');
    await make('child', [refTo(owner)], { finalizers: ['example.com/hold'] });
    await make('free', [{ ...refTo(owner), blockOwnerDeletion: false }], {
      finalizers: ['example.com/hold'],
    });
    await remove('owner', 'Foreground');
    assert.deepEqual(read('owner')?.metadata.finalizers, ['foregroundDeletion']);
    assert.notEqual(read('child')?.metadata.deletionTimestamp, undefined);
    assert.notEqual(read('free')?.metadata.deletionTimestamp, undefined);
    demand(
      await world.admin.patch(
        { resource: 'configmaps', namespace: 'default', name: 'child' },
        { type: 'merge', body: { metadata: { finalizers: null } } },
      ),
    );
    await world.settle();
    assert.equal(read('owner'), undefined);
    assert.notEqual(read('free'), undefined);
  });

  it('does not lock up over a circle that is deleted in the foreground', async () => {
    await makeCircle();
    await remove('first', 'Foreground');
    await world.clock.advance(1000);
    assert.equal(read('first'), undefined);
    assert.equal(read('second'), undefined);
  });

  it('leaves a circle alone while nobody deletes it', async () => {
    await makeCircle();
    await world.settle();
    assert.notEqual(read('first'), undefined);
    assert.notEqual(read('second'), undefined);
  });

  it('looks for a namespaced owner in the namespace of the dependent only', async () => {
    const owner = await make('owner');
    await world.create('configmaps', {
      ...configMapObject('elsewhere', {
        namespace: 'kube-public',
        ownerReferences: [refTo(owner)],
      }),
    });
    await world.settle();
    assert.equal(read('elsewhere', 'kube-public'), undefined);
    assert.deepEqual(world.eventsAbout('elsewhere'), []);
    assert.notEqual(read('owner'), undefined);
  });

  it('lets a cluster-scoped object own in any namespace', async () => {
    const owner = await world.create('priorityclasses.scheduling.k8s.io', {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name: 'owner' },
      value: 1,
    });
    await make('child', [refTo(owner)]);
    await world.settle();
    assert.notEqual(read('child'), undefined);
    demand(
      await world.admin.delete({ resource: 'priorityclasses.scheduling.k8s.io', name: 'owner' }),
    );
    await world.settle();
    assert.equal(read('child'), undefined);
  });

  it('concludes nothing from a cluster-scoped object that names a namespaced owner, or an unknown kind', async () => {
    const owner = await make('owner');
    const classWith = (name: string, reference: JsonObject): Promise<ApiObject> =>
      world.create('priorityclasses.scheduling.k8s.io', {
        apiVersion: 'scheduling.k8s.io/v1',
        kind: 'PriorityClass',
        metadata: { name, ownerReferences: [reference] },
        value: 1,
      });
    await classWith('lost', { ...refTo(owner), uid: 'nowhere' });
    await classWith('strange', { ...refTo(owner), apiVersion: 'example.com/v1', kind: 'Thing' });
    await world.clock.advance(600_000);
    for (const name of ['lost', 'strange']) {
      assert.notEqual(
        world.read({ resource: 'priorityclasses.scheduling.k8s.io', name }),
        undefined,
      );
    }
    assert.equal(world.clock.pendingTimers, watchTimers);
  });

  it('believes the dependent whose reference is right when two disagree about an owner', async () => {
    const owner = await make('owner');
    const wrong = { ...refTo(owner), name: 'misspelt' };
    await make('right', [refTo(owner)]);
    await make('wrong', [wrong]);
    await world.settle();
    assert.equal(read('wrong'), undefined);
    assert.notEqual(read('right'), undefined);
  });

  it('finds its work after a start, among objects that were there before', async () => {
    await collector.stop();
    const owner = await make('owner');
    await make('child', [refTo(owner)]);
    await make('deleting');
    demand(
      await world.admin.delete(
        { resource: 'configmaps', namespace: 'default', name: 'deleting' },
        { propagation: 'Foreground' },
      ),
    );
    demand(
      await world.admin.delete(
        { resource: 'configmaps', namespace: 'default', name: 'owner' },
        { propagation: 'Background' },
      ),
    );
    collector = startOne(world, start);
    await world.settle();
    assert.equal(read('child'), undefined);
    assert.equal(read('deleting'), undefined);
  });

  it('tries again when the API server fails, and then goes on', async () => {
    await collector.stop();
    let failures = 3;
    const isRefused = ({ method }: ApiRequest): boolean => {
      if (method !== 'DELETE' || failures === 0) return false;
      failures -= 1;
      return true;
    };
    collector = startOne(world, start, { clients: world.clientsWithout(isRefused) });
    await world.settle();
    const owner = await make('owner');
    await make('child', [refTo(owner)]);
    await remove('owner', 'Background');
    assert.notEqual(read('child'), undefined);
    await world.clock.advance(5 + 10 + 20);
    assert.equal(read('child'), undefined);
    assert.equal(world.clock.pendingTimers, watchTimers);
  });
});

function refTo(owner: ApiObject): JsonObject {
  const { apiVersion, kind, metadata } = owner;
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, blockOwnerDeletion: true };
}
