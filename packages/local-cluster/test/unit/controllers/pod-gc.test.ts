/** Pods that no node agent will end. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiRequest } from '../../../src/api/request/api-request.ts';
import { startPodGc } from '../../../src/controllers/pod-gc.ts';
import type { ApiObject } from '../../../src/objects/api-object.ts';
import { nodeObject, podObject } from '../../support/objects.ts';
import { startOnNode, startOne } from '../../support/start-one.ts';
import type { StartedController } from '../../support/start-one.ts';
import { demand } from '../../support/world.ts';
import type { LocalWorld } from '../../support/world.ts';

describe('the pod garbage collector', () => {
  let world: LocalWorld;
  let controller: StartedController;

  beforeEach(async () => {
    ({ world, controller } = await startOnNode(startPodGc));
  });

  afterEach(async () => {
    await controller.stop();
    assert.deepEqual(world.log.at('error'), []);
  });

  async function createPod(name: string, spec: JsonObject = { nodeName: 'n' }): Promise<void> {
    await world.create('pods', podObject(name, { spec }));
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
