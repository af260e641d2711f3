/** All controllers together: what a cluster does by itself, and what it leaves to Rollcall. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startControllers } from '../../../src/controllers/start-controllers.ts';
import { startScheduler } from '../../../src/scheduler/start-scheduler.ts';
import { nodeObject, podObject } from '../../support/objects.ts';
import { ADMINISTRATOR, createLocalWorld, demand } from '../../support/world.ts';
import type { LocalWorld } from '../../support/world.ts';

/** A world with everything that a control plane runs. */
async function startWorld(): Promise<{
  readonly world: LocalWorld;
  readonly stop: () => Promise<void>;
}> {
  const world = await createLocalWorld();
  const { clients, clock, log } = world;
  const controllers = startControllers({ clients, clock, log, settings: { caPem: 'authority' } });
  const scheduler = startScheduler({ client: clients.clientFor(ADMINISTRATOR), clock, log });
  await world.settle();
  return {
    world,
    stop: async () => {
      await scheduler.stop();
      await controllers.stop();
      assert.deepEqual(log.at('error'), []);
    },
  };
}

describe('the controllers together', () => {
  it('leave no timer behind when they stop', async () => {
    const { world, stop } = await startWorld();
    await world.create('nodes', nodeObject('n', { ready: 'False' }));
    await world.create('pods', podObject('p'));
    await world.settle();
    await stop();
    assert.equal(world.clock.pendingTimers, 0);
  });

  it('bring a pod to a new node, and end it with its namespace', async () => {
    const { world, stop } = await startWorld();
    const namespace = 'app';
    await world.create('namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace },
    });
    await world.settle();
    await world.create('pods', podObject('p', { namespace }));
    await world.create('nodes', nodeObject('n'));
    await world.clock.advance(2000);
    const ref = { resource: 'pods', namespace, name: 'p' } as const;
    assert.equal((world.read(ref)?.['spec'] as { nodeName?: string }).nodeName, 'n');
    demand(await world.admin.delete({ resource: 'namespaces', name: namespace }));
    await world.settle();
    demand(await world.admin.delete(ref, { gracePeriodSeconds: 0 }));
    await world.settle();
    assert.equal(world.read({ resource: 'namespaces', name: namespace }), undefined);
    await stop();
  });

  it('evict the pods of a node that stays silent, after the time that every pod tolerates', async () => {
    const { world, stop } = await startWorld();
    await world.create('nodes', nodeObject('n'));
    await world.settle();
    await world.create('pods', podObject('p'));
    await world.settle();
    // Another node speaks now and then, or nobody would be blamed.
    for (let elapsed = 0; elapsed < 360; elapsed += 10) {
      if (elapsed === 0) await world.create('nodes', nodeObject('alive'));
      const lastHeartbeatTime = new Date(world.clock.nowMs()).toISOString().slice(0, 19) + 'Z';
      const body = {
        status: { conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime }] },
      };
      demand(
        await world.admin.patch(
          { resource: 'nodes', name: 'alive' },
          { type: 'strategic', body, subresource: 'status' },
        ),
      );
      const pod = world.read({ resource: 'pods', namespace: 'default', name: 'p' });
      assert.equal(pod?.metadata.deletionTimestamp, undefined, `after ${elapsed} s`);
      await world.clock.advance(10_000);
    }
    const pod = world.read({ resource: 'pods', namespace: 'default', name: 'p' });
    assert.notEqual(pod?.metadata.deletionTimestamp, undefined);
    await stop();
  });

  it('make no pod for a DaemonSet: that is not their part', async () => {
    const { world, stop } = await startWorld();
    await world.create('nodes', nodeObject('n'));
    const labels = { app: 'agent' };
    await world.create('daemonsets.apps', {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'agent', namespace: 'default' },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'x' }] } },
      },
    });
    await world.clock.advance(60_000);
    assert.deepEqual(world.store.list('pods'), []);
    await stop();
  });
});
