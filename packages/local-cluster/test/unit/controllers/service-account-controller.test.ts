/** What every namespace is furnished with. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { ApiRequest } from '../../../src/api/request/api-request.ts';
import { startServiceAccountController } from '../../../src/controllers/service-account-controller.ts';
import type { ApiObject } from '../../../src/objects/api-object.ts';
import { startOne } from '../../support/start-one.ts';
import type { StartedController } from '../../support/start-one.ts';
import { createLocalWorld, demand } from '../../support/world.ts';
import type { LocalWorld } from '../../support/world.ts';

const settings = { caPem: 'the authority' };

describe('the service account controller', () => {
  let world: LocalWorld;
  let controller: StartedController;

  beforeEach(async () => {
    world = await createLocalWorld();
    controller = startOne(world, startServiceAccountController, { settings });
    await world.settle();
  });

  afterEach(async () => {
    await controller.stop();
    assert.deepEqual(world.log.at('error'), []);
  });

  function account(namespace: string): ApiObject | undefined {
    return world.read({ resource: 'serviceaccounts', namespace, name: 'default' });
  }

  function rootCa(namespace: string): ApiObject | undefined {
    return world.read({ resource: 'configmaps', namespace, name: 'kube-root-ca.crt' });
  }

  async function createNamespace(name: string): Promise<void> {
    await world.create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    await world.settle();
  }

  it('furnishes the namespaces that were there, and new ones', async () => {
    await createNamespace('new');
    for (const namespace of ['default', 'kube-system', 'kube-public', 'kube-node-lease', 'new']) {
      assert.notEqual(account(namespace), undefined, namespace);
      assert.deepEqual(rootCa(namespace)?.['data'], { 'ca.crt': 'the authority' });
    }
    assert.notEqual(rootCa('new')?.metadata.annotations?.['kubernetes.io/description'], undefined);
  });

  it('makes again what is deleted, and puts right what is changed', async () => {
    const before = account('default')?.metadata.uid;
    const at = { namespace: 'default' } as const;
    demand(await world.admin.delete({ resource: 'serviceaccounts', ...at, name: 'default' }));
    const ref = { resource: 'configmaps', ...at, name: 'kube-root-ca.crt' } as const;
    demand(
      await world.admin.patch(ref, { type: 'merge', body: { data: { 'ca.crt': 'x', y: 'z' } } }),
    );
    await world.settle();
    assert.notEqual(account('default'), undefined);
    assert.notEqual(account('default')?.metadata.uid, before);
    assert.deepEqual(rootCa('default')?.['data'], { 'ca.crt': 'the authority' });
    demand(await world.admin.delete(ref));
    await world.settle();
    assert.notEqual(rootCa('default'), undefined);
  });

  it('leaves a terminating namespace empty', async () => {
    await createNamespace('ending');
    demand(await world.admin.delete({ resource: 'namespaces', name: 'ending' }));
    const ref = { resource: 'serviceaccounts', namespace: 'ending', name: 'default' } as const;
    demand(await world.admin.delete(ref));
    await world.settle();
    assert.equal(account('ending'), undefined);
  });

  it('publishes no authority where it has none', async () => {
    await controller.stop();
    controller = startOne(world, startServiceAccountController);
    await createNamespace('plain');
    assert.notEqual(account('plain'), undefined);
    assert.equal(rootCa('plain'), undefined);
  });

  it('tries again when the API server fails', async () => {
    await controller.stop();
    let failures = 2;
    const isRefused = ({ method, target }: ApiRequest): boolean => {
      if (method !== 'POST' || !target.includes('/serviceaccounts') || failures === 0) return false;
      failures -= 1;
      return true;
    };
    const clients = world.clientsWithout(isRefused);
    controller = startOne(world, startServiceAccountController, { clients, settings });
    await createNamespace('new');
    assert.equal(account('new'), undefined);
    await world.clock.advance(5 + 10);
    assert.notEqual(account('new'), undefined);
  });
});
