/** How less important pods make room, on a real store. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import {
  conditionOf,
  nodeNameOf,
  viewPod,
} from '../../../../src/controllers/shared/object-views.ts';
import type { ApiObject } from '../../../../src/objects/api-object.ts';
import { startScheduler } from '../../../../src/scheduler/start-scheduler.ts';
import { nodeObject, pinnedTo, podObject } from '../../../support/objects.ts';
import { createLocalWorld, demand } from '../../../support/world.ts';
import type { LocalWorld } from '../../../support/world.ts';

describe('preemption', () => {
  let world: LocalWorld;
  let scheduler: { readonly stop: () => Promise<void> };

  beforeEach(async () => {
    world = await createLocalWorld();
    await world.create('serviceaccounts', {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'default', namespace: 'default' },
    });
    for (const [name, value, preemptionPolicy] of [
      ['high', 1000, 'PreemptLowerPriority'],
      ['middle', 500, 'PreemptLowerPriority'],
      ['polite', 1000, 'Never'],
    ] as const) {
      await world.create('priorityclasses.scheduling.k8s.io', {
        apiVersion: 'scheduling.k8s.io/v1',
        kind: 'PriorityClass',
        metadata: { name },
        value,
        preemptionPolicy,
      });
    }
    scheduler = startScheduler({ client: world.admin, clock: world.clock, log: world.log });
  });

  afterEach(async () => {
    await scheduler.stop();
    assert.deepEqual(world.log.at('error'), []);
  });

  async function createNode(name: string): Promise<void> {
    const allocatable = { cpu: '1', memory: '1Gi', pods: '10' };
    await world.create('nodes', nodeObject(name, { allocatable }));
    demand(
      await world.admin.patch(
        { resource: 'nodes', name },
        { type: 'merge', body: { spec: { taints: null } } },
      ),
    );
    await world.settle();
  }

  async function createPod(
    name: string,
    of: { readonly cpu: string; readonly priority?: string; readonly pinned?: string },
  ): Promise<void> {
    const spec = {
      ...(of.priority === undefined ? {} : { priorityClassName: of.priority }),
      ...(of.pinned === undefined ? {} : { affinity: pinnedTo(of.pinned) }),
    };
    await world.create('pods', podObject(name, { requests: { cpu: of.cpu }, spec }));
    await world.settle();
  }

  function read(name: string): ApiObject | undefined {
    return world.read({ resource: 'pods', namespace: 'default', name });
  }

  function isLeaving(name: string): boolean {
    const pod = read(name);
    return pod === undefined || pod.metadata.deletionTimestamp !== undefined;
  }

  /** The node agent's last word. */
  async function finish(name: string): Promise<void> {
    const ref = { resource: 'pods', namespace: 'default', name } as const;
    demand(await world.admin.delete(ref, { gracePeriodSeconds: 0 }));
    await world.settle();
  }

  it('takes as few pods as possible, the least important, and waits for their end', async () => {
    await createNode('n');
    await createPod('small', { cpu: '300m' });
    await createPod('large', { cpu: '500m' });
    await createPod('vital', { cpu: '200m', priority: 'high' });
    await createPod('urgent', { cpu: '400m', priority: 'middle' });
    assert.deepEqual(
      [isLeaving('small'), isLeaving('large'), isLeaving('vital')],
      [false, true, false],
    );
    const victim = read('large');
    assert(victim !== undefined);
    const condition = conditionOf(viewPod(victim).status.conditions, 'DisruptionTarget');
    assert.equal(condition?.reason, 'PreemptionByScheduler');
    const urgent = read('urgent');
    assert(urgent !== undefined);
    assert.equal(viewPod(urgent).status.nominatedNodeName, 'n');
    assert.equal(
      world.eventsAbout('large').at(-1),
      `Normal Preempted: Preempted by pod ${urgent.metadata.uid} on node n`,
    );
    assert.deepEqual(world.eventsAbout('urgent'), [
      'Warning FailedScheduling: 0/1 nodes are available: 1 Insufficient cpu.',
    ]);
    await world.clock.advance(5000);
    assert.equal(nodeNameOf(urgent), undefined);
    await finish('large');
    assert.equal(nodeNameOf(read('urgent') ?? urgent), 'n');
  });

  it('keeps the room from less important pods, and takes no second victim', async () => {
    await createNode('n');
    await createPod('a', { cpu: '600m' });
    await createPod('b', { cpu: '400m' });
    await createPod('urgent', { cpu: '600m', priority: 'high' });
    assert.deepEqual([isLeaving('a'), isLeaving('b')], [true, false]);
    await finish('a');
    await createPod('thief', { cpu: '600m', priority: 'middle' });
    await world.clock.advance(1000);
    const urgent = read('urgent');
    assert(urgent !== undefined);
    assert.equal(nodeNameOf(urgent), 'n');
    assert.equal(isLeaving('b'), false);
    const thief = read('thief');
    assert(thief !== undefined);
    assert.equal(nodeNameOf(thief), undefined);
  });

  it('spares pods where the newcomer could not go anyway, or that are as important', async () => {
    await createNode('n');
    await createNode('m');
    await createPod('here', { cpu: '800m', pinned: 'n' });
    await createPod('there', { cpu: '800m', priority: 'high', pinned: 'm' });
    await createPod('pinned', { cpu: '800m', priority: 'high', pinned: 'm' });
    await createPod('giant', { cpu: '2', priority: 'high' });
    for (const name of ['here', 'there']) assert.equal(isLeaving(name), false, name);
    assert.match(world.eventsAbout('pinned')[0] ?? '', /1 No preemption victims found/);
  });

  it('takes the nomination back when the node is lost before there is room', async () => {
    await createNode('n');
    await createPod('a', { cpu: '800m' });
    await createPod('urgent', { cpu: '800m', priority: 'high' });
    const nominated = (): string | undefined => {
      const pod = read('urgent');
      return pod && viewPod(pod).status.nominatedNodeName;
    };
    assert.equal(nominated(), 'n');
    demand(await world.admin.delete({ resource: 'nodes', name: 'n' }));
    await world.clock.advance(300_000);
    assert.equal(nominated(), undefined);
  });

  it('is not for pods whose priority class says never', async () => {
    await createNode('n');
    await createPod('a', { cpu: '800m' });
    await createPod('waits', { cpu: '800m', priority: 'polite' });
    assert.equal(isLeaving('a'), false);
    assert.match(
      world.eventsAbout('waits')[0] ?? '',
      /no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never\.$/,
    );
  });
});
