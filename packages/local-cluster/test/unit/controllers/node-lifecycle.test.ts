/** Nodes that fall silent, come back, and what their conditions do to them. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiRequest } from '../../../src/api/request/api-request.ts';
import { conditionOf, viewNode, viewPod } from '../../../src/controllers/shared/object-views.ts';
import { startNodeLifecycle } from '../../../src/controllers/node-lifecycle.ts';
import { formatMicroTime } from '../../../src/objects/timestamps.ts';
import { nodeCondition, nodeObject, podObject } from '../../support/objects.ts';
import { startOne } from '../../support/start-one.ts';
import type { StartedController } from '../../support/start-one.ts';
import { createLocalWorld, demand } from '../../support/world.ts';
import type { LocalWorld } from '../../support/world.ts';

const LEASE_NAMESPACE = 'kube-node-lease';

describe('the node lifecycle controller', () => {
  let world: LocalWorld;
  let controller: StartedController;

  beforeEach(async () => {
    world = await createLocalWorld();
    controller = startOne(world, startNodeLifecycle);
    await world.settle();
  });

  afterEach(async () => {
    await controller.stop();
    assert.deepEqual(world.log.at('error'), []);
  });

  async function createNodes(...objects: readonly JsonObject[]): Promise<void> {
    for (const object of objects) await world.create('nodes', object);
    await world.settle();
  }

  /** A node with a Lease. */
  async function createLeased(name: string): Promise<void> {
    await world.create('leases.coordination.k8s.io', {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, namespace: LEASE_NAMESPACE },
      spec: { holderIdentity: name, renewTime: formatMicroTime(world.clock.nowMs()) },
    });
    await createNodes(nodeObject(name));
  }

  async function renew(name: string): Promise<void> {
    const renewTime = formatMicroTime(world.clock.nowMs());
    demand(
      await world.admin.patch(
        { resource: 'leases.coordination.k8s.io', namespace: LEASE_NAMESPACE, name },
        { type: 'merge', body: { spec: { renewTime } } },
      ),
    );
    await world.settle();
  }

  /** Lets time pass, with these nodes renewing their Leases every ten seconds. */
  async function pass(seconds: number, renewing: readonly string[] = []): Promise<void> {
    for (let left = seconds; left > 0; left -= 10) {
      await world.clock.advance(Math.min(10, left) * 1000);
      for (const name of renewing) await renew(name);
    }
  }

  async function setCondition(name: string, type: string, status: string): Promise<void> {
    const body = { status: { conditions: [nodeCondition(type, status)] } };
    const patch = { type: 'strategic', body, subresource: 'status' } as const;
    demand(await world.admin.patch({ resource: 'nodes', name }, patch));
    await world.settle();
  }

  function taints(name: string): readonly string[] {
    const node = world.read({ resource: 'nodes', name });
    assert(node !== undefined);
    return (viewNode(node).spec.taints ?? []).map(
      ({ key, effect }) => `${key.replace('node.kubernetes.io/', '')}:${effect}`,
    );
  }

  function ready(name: string): string | undefined {
    const node = world.read({ resource: 'nodes', name });
    const condition = node && conditionOf(viewNode(node).status.conditions, 'Ready');
    return condition && `${condition.status} ${condition.reason ?? ''}`;
  }

  it('takes the taint of registration off a ready node, and notes the node', async () => {
    await createNodes(nodeObject('n'));
    assert.deepEqual(taints('n'), []);
    assert.deepEqual(world.eventsAbout('n'), [
      'Normal RegisteredNode: Node n event: Registered Node n in Controller',
    ]);
    demand(await world.admin.delete({ resource: 'nodes', name: 'n' }));
    await world.settle();
    assert.equal(
      world.eventsAbout('n')[1],
      'Normal RemovingNode: Node n event: Removing Node n from Controller',
    );
  });

  it('follows conditions and the cordon with taints, both ways', async () => {
    await createNodes(nodeObject('n'), nodeObject('other'));
    await setCondition('n', 'MemoryPressure', 'True');
    assert.deepEqual(taints('n'), ['memory-pressure:NoSchedule']);
    await setCondition('n', 'MemoryPressure', 'False');
    demand(
      await world.admin.patch(
        { resource: 'nodes', name: 'n' },
        { type: 'merge', body: { spec: { unschedulable: true } } },
      ),
    );
    await world.settle();
    assert.deepEqual(taints('n'), ['unschedulable:NoSchedule']);
    await setCondition('n', 'Ready', 'False');
    assert.deepEqual(taints('n'), [
      'unschedulable:NoSchedule',
      'not-ready:NoSchedule',
      'not-ready:NoExecute',
    ]);
    await setCondition('n', 'Ready', 'True');
    assert.deepEqual(taints('n'), ['unschedulable:NoSchedule']);
  });

  it('calls a node unknown when its Lease is not renewed for more than 50 s', async () => {
    await createLeased('silent');
    await createLeased('alive');
    await pass(50, ['alive']);
    assert.equal(ready('silent'), 'True Test');
    await world.clock.advance(1);
    assert.equal(ready('silent'), 'Unknown NodeStatusUnknown');
    assert.deepEqual(taints('silent'), ['unreachable:NoSchedule', 'unreachable:NoExecute']);
    assert.equal(
      world.eventsAbout('silent')[1],
      'Normal NodeNotReady: Node silent status is now: NodeNotReady',
    );
    await pass(600, ['alive']);
    assert.equal(ready('alive'), 'True Test');
    assert.deepEqual(taints('alive'), []);
  });

  it('believes the node again as soon as it speaks', async () => {
    await createLeased('n');
    await createLeased('alive');
    await pass(60, ['alive']);
    assert.equal(ready('n'), 'Unknown NodeStatusUnknown');
    await renew('n');
    await setCondition('n', 'Ready', 'True');
    assert.deepEqual(taints('n'), []);
    await pass(40, ['alive']);
    assert.equal(ready('n'), 'True Test');
  });

  it('marks the pods of a silent node not ready, once, with an event', async () => {
    await world.create('serviceaccounts', {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'default', namespace: 'default' },
    });
    await createLeased('n');
    await world.create('pods', podObject('p', { spec: { nodeName: 'n' } }));
    const ref = { resource: 'pods', namespace: 'default', name: 'p' } as const;
    const conditions = [{ type: 'Ready', status: 'True', reason: 'Fine' }];
    const body = { status: { phase: 'Running', conditions } };
    demand(await world.admin.patch(ref, { type: 'strategic', body, subresource: 'status' }));
    await pass(120);
    const pod = world.read(ref);
    assert(pod !== undefined);
    const condition = conditionOf(viewPod(pod).status.conditions, 'Ready');
    assert.equal(condition?.status, 'False');
    assert.equal(condition.reason, 'Fine');
    assert.deepEqual(world.eventsAbout('p'), ['Warning NodeNotReady: Node is not ready']);
  });

  it('gives a node that never spoke 60 s, and says so', async () => {
    await createNodes(nodeObject('mute', { ready: 'none' }), nodeObject('other'));
    await world.clock.advance(60_000);
    assert.equal(ready('mute'), undefined);
    await world.clock.advance(1);
    assert.equal(ready('mute'), 'Unknown NodeStatusNeverUpdated');
    assert.equal(taints('mute').includes('unreachable:NoSchedule'), true);
  });

  it('tries again when the API server fails', async () => {
    await controller.stop();
    let isBroken = true;
    const isRefused = ({ method }: ApiRequest): boolean => isBroken && method === 'PATCH';
    controller = startOne(world, startNodeLifecycle, { clients: world.clientsWithout(isRefused) });
    await createLeased('n');
    await createLeased('alive');
    assert.deepEqual(taints('n'), ['not-ready:NoSchedule']);
    await pass(60, ['alive']);
    assert.equal(ready('n'), 'True Test');
    isBroken = false;
    await pass(60, ['alive']);
    assert.equal(ready('n'), 'Unknown NodeStatusUnknown');
    assert.deepEqual(taints('alive'), []);
  });
});
