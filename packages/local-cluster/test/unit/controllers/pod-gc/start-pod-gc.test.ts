/** Pods that no node agent will end. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiRequest } from '../../../../src/api/request/api-request.ts';
import { startPodGc } from '../../../../src/controllers/pod-gc/start-pod-gc.ts';
import type { ApiObject } from '../../../../src/objects/api-object.ts';
import { nodeObject, podObject } from '../../../support/objects.ts';
import { startOne } from '../../../support/start-one.ts';
import type { StartedController } from '../../../support/start-one.ts';
import { createLocalWorld, demand } from '../../../support/world.ts';
import type { LocalWorld } from '../../../support/world.ts';

describe('the pod garbage collector', () => {
  let world: LocalWorld;
  let controller: StartedController;

  beforeEach(async () => {
    world = await createLocalWorld();
    await world.create('serviceaccounts', {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'default', namespace: 'default' },
    });
    await world.create('nodes', nodeObject('n'));
    controller = startOne(world, startPodGc, { settings: { terminatedPodsMax: 2 } });
    await world.settle();
  });

  afterEach(async () => {
    await controller.stop();
    assert.deepEqual(world.log.at('error'), []);
  });

  async function createPod(name: string, spec: JsonObject = { nodeName: 'n' }): Promise<void> {
    await world.create('pods', podObject(name, { spec }));
    await world.settle();
  }

  async function setStatus(name: string, status: JsonObject): Promise<void> {
    const ref = { resource: 'pods', namespace: 'default', name } as const;
    const patch = { type: 'merge', body: { status }, subresource: 'status' } as const;
    demand(await world.admin.patch(ref, patch));
    await world.settle();
  }

  function read(name: string): ApiObject | undefined {
    return world.read({ resource: 'pods', namespace: 'default', name });
  }

  it('ends the pods of a node that is gone after 40 s, as failed and disrupted', async () => {
    await createPod('orphan');
    await world.create('configmaps', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'witness', namespace: 'default' },
    });
    demand(
      await world.admin.patch(
        { resource: 'pods', namespace: 'default', name: 'orphan' },
        { type: 'merge', body: { metadata: { finalizers: ['example.com/hold'] } } },
      ),
    );
    demand(await world.admin.delete({ resource: 'nodes', name: 'n' }));
    await world.clock.advance(39_999);
    assert.equal(read('orphan')?.metadata.deletionTimestamp, undefined);
    await world.clock.advance(1);
    const pod = read('orphan');
    assert.notEqual(pod?.metadata.deletionTimestamp, undefined);
    const status = pod?.['status'] as { phase?: string; conditions?: readonly JsonObject[] };
    assert.equal(status.phase, 'Failed');
    const disruption = status.conditions?.find(({ type }) => type === 'DisruptionTarget');
    assert.equal(disruption?.['reason'], 'DeletionByPodGC');
    assert.equal(disruption['message'], 'PodGC: node no longer exists');
  });

  it('spares them when the node is back in time', async () => {
    await createPod('lucky');
    demand(await world.admin.delete({ resource: 'nodes', name: 'n' }));
    await world.clock.advance(30_000);
    await world.create('nodes', nodeObject('n'));
    await world.clock.advance(60_000);
    assert.notEqual(read('lucky'), undefined);
  });

  it('ends a pod that was bound to a node that never was', async () => {
    await createPod('lost', { nodeName: 'nowhere' });
    await world.clock.advance(40_000);
    assert.equal(read('lost'), undefined);
  });

  it('keeps the newest terminated pods, and evicted ones least of all', async () => {
    for (const name of ['a', 'b', 'c']) {
      await createPod(name);
      await world.clock.advance(1000);
    }
    await setStatus('a', { phase: 'Succeeded' });
    await setStatus('b', { phase: 'Succeeded' });
    assert.notEqual(read('a'), undefined);
    await setStatus('c', { phase: 'Failed', reason: 'Evicted' });
    assert.equal(read('c'), undefined);
    await createPod('d');
    await setStatus('d', { phase: 'Failed' });
    assert.equal(read('a'), undefined);
    assert.notEqual(read('b'), undefined);
    assert.notEqual(read('d'), undefined);
  });

  it('ends terminating pods on a node that is out of service, but not on one that is ready', async () => {
    await createPod('stuck');
    demand(await world.admin.delete({ resource: 'pods', namespace: 'default', name: 'stuck' }));
    const ref = { resource: 'nodes', name: 'n' } as const;
    const taints = [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }];
    demand(await world.admin.patch(ref, { type: 'merge', body: { spec: { taints } } }));
    await world.settle();
    assert.notEqual(read('stuck'), undefined);
    const conditions = [{ type: 'Ready', status: 'Unknown' }];
    const body = { status: { conditions } };
    demand(await world.admin.patch(ref, { type: 'strategic', body, subresource: 'status' }));
    await world.settle();
    assert.equal(read('stuck'), undefined);
  });

  it('asks the API server before it believes that a node is gone, and tries again if that fails', async () => {
    await controller.stop();
    let questions = 0;
    const isRefused = ({ method, target }: ApiRequest): boolean => {
      if (method !== 'GET' || !target.includes('/nodes/')) return false;
      questions += 1;
      return questions === 1;
    };
    controller = startOne(world, startPodGc, { clients: world.clientsWithout(isRefused) });
    await createPod('lost', { nodeName: 'nowhere' });
    await world.clock.advance(40_000);
    assert.notEqual(read('lost'), undefined);
    await world.clock.advance(5);
    assert.equal(read('lost'), undefined);
    assert.equal(questions, 2);
  });
});
