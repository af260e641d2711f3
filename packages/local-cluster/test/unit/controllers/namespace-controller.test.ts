/** How a namespace ends. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiRequest } from '../../../src/api/request/api-request.ts';
import { startNamespaceController } from '../../../src/controllers/namespace-controller.ts';
import type { ApiObject } from '../../../src/objects/api-object.ts';
import { configMapObject, podObject } from '../../support/objects.ts';
import { startOne } from '../../support/start-one.ts';
import type { StartedController } from '../../support/start-one.ts';
import { createLocalWorld, demand } from '../../support/world.ts';
import type { LocalWorld } from '../../support/world.ts';

const namespace = 'ending';

describe('the namespace controller', () => {
  let world: LocalWorld;
  let controller: StartedController;

  beforeEach(async () => {
    world = await createLocalWorld();
    controller = startOne(world, startNamespaceController);
    await world.create('namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace },
    });
    await world.create('serviceaccounts', {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'default', namespace },
    });
    await world.settle();
  });

  afterEach(async () => {
    await controller.stop();
    assert.deepEqual(world.log.at('error'), []);
  });

  async function createMap(name: string, metadata: JsonObject = {}): Promise<void> {
    await world.create('configmaps', configMapObject(name, { namespace, ...metadata }));
  }

  async function end(): Promise<void> {
    demand(await world.admin.delete({ resource: 'namespaces', name: namespace }));
    await world.settle();
  }

  function read(): ApiObject | undefined {
    return world.read({ resource: 'namespaces', name: namespace });
  }

  it('deletes everything in it, events too, and then lets it go', async () => {
    await createMap('a');
    await world.create('secrets', {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's', namespace },
    });
    await world.create('events', {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'e', namespace },
      involvedObject: { kind: 'ConfigMap', name: 'a', namespace },
      reason: 'Test',
      type: 'Normal',
    });
    await end();
    assert.equal(read(), undefined);
    for (const resource of ['configmaps', 'secrets', 'events', 'serviceaccounts'] as const) {
      assert.deepEqual(world.store.list(resource, namespace), []);
    }
  });

  it('leaves other namespaces alone', async () => {
    await world.create('configmaps', configMapObject('a'));
    await end();
    assert.notEqual(
      world.read({ resource: 'configmaps', namespace: 'default', name: 'a' }),
      undefined,
    );
  });

  it('waits for finalizers, and goes on at once when they are gone', async () => {
    await createMap('held', { finalizers: ['example.com/hold'] });
    await createMap('free');
    await end();
    assert.notEqual(read(), undefined);
    demand(
      await world.admin.patch(
        { resource: 'configmaps', namespace, name: 'held' },
        { type: 'merge', body: { metadata: { finalizers: null } } },
      ),
    );
    await world.settle();
    assert.equal(read(), undefined);
  });

  it('ends pods with their grace, and everything else after them', async () => {
    await world.create('pods', podObject('running', { namespace, spec: { nodeName: 'n' } }));
    await createMap('used');
    await end();
    const ref = { resource: 'pods', namespace, name: 'running' } as const;
    assert.equal(world.read(ref)?.metadata.deletionGracePeriodSeconds, 30);
    assert.notEqual(world.read({ resource: 'configmaps', namespace, name: 'used' }), undefined);
    demand(await world.admin.delete(ref, { gracePeriodSeconds: 0 }));
    await world.settle();
    assert.equal(read(), undefined);
  });

  it('tries again what it could not delete', async () => {
    await controller.stop();
    let isBroken = true;
    const isRefused = ({ method, target }: ApiRequest): boolean =>
      isBroken && method === 'DELETE' && target.includes('/configmaps/');
    const clients = world.clientsWithout(isRefused);
    controller = startOne(world, startNamespaceController, { clients });
    await createMap('a');
    await end();
    assert.notEqual(read(), undefined);
    isBroken = false;
    await world.clock.advance(60_000);
    assert.equal(read(), undefined);
  });

  it('takes only its own finalizer off', async () => {
    demand(
      await world.admin.update(
        { resource: 'namespaces', name: namespace },
        {
          apiVersion: 'v1',
          kind: 'Namespace',
          metadata: { name: namespace },
          spec: { finalizers: ['kubernetes', 'example.com/other'] },
        },
        'finalize',
      ),
    );
    await end();
    assert.deepEqual(read()?.['spec'], { finalizers: ['example.com/other'] });
  });
});
