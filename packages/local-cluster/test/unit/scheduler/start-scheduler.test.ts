/** The scheduler on a real store: where pods go, what it says when they cannot, and what wakes them. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiRequest } from '../../../src/api/request/api-request.ts';
import { conditionOf, nodeNameOf, viewPod } from '../../../src/controllers/shared/object-views.ts';
import { startScheduler } from '../../../src/scheduler/start-scheduler.ts';
import { nodeObject, pinnedTo, podObject } from '../../support/objects.ts';
import { ADMINISTRATOR, createPodWorld, demand } from '../../support/world.ts';
import type { LocalWorld } from '../../support/world.ts';

describe('the scheduler', () => {
  let world: LocalWorld;
  let scheduler: { readonly stop: () => Promise<void> };

  beforeEach(async () => {
    world = await createPodWorld();
    start();
  });

  afterEach(async () => {
    await scheduler.stop();
    assert.deepEqual(world.log.at('error'), []);
  });

  function start(isRefused: (request: ApiRequest) => boolean = () => false): void {
    const client = world.clientsWithout(isRefused).clientFor(ADMINISTRATOR);
    scheduler = startScheduler({ client, clock: world.clock, log: world.log });
  }

  /** Nodes as they are when the taint of registration is off. */
  async function createNode(
    name: string,
    of: Parameters<typeof nodeObject>[1] = {},
  ): Promise<void> {
    await world.create('nodes', nodeObject(name, of));
    await patchNode(name, { spec: { taints: of.spec?.['taints'] ?? null } });
  }

  async function patchNode(name: string, body: JsonObject): Promise<void> {
    demand(await world.admin.patch({ resource: 'nodes', name }, { type: 'merge', body }));
    await world.settle();
  }

  async function createPod(name: string, of: Parameters<typeof podObject>[1] = {}): Promise<void> {
    await world.create('pods', podObject(name, of));
    await world.settle();
  }

  async function deletePod(name: string): Promise<void> {
    const ref = { resource: 'pods', namespace: 'default', name } as const;
    demand(await world.admin.delete(ref, { gracePeriodSeconds: 0 }));
    await world.settle();
  }

  function boundTo(name: string): string | undefined {
    const pod = world.read({ resource: 'pods', namespace: 'default', name });
    assert(pod !== undefined, `${name} is there`);
    return nodeNameOf(pod);
  }

  function message(name: string): string | undefined {
    const pod = world.read({ resource: 'pods', namespace: 'default', name });
    const condition = pod && conditionOf(viewPod(pod).status.conditions, 'PodScheduled');
    if (condition?.status !== 'False') return undefined;
    assert.equal(condition.reason, 'Unschedulable');
    return condition.message;
  }

  it('binds a pod and says so', async () => {
    await createNode('n');
    await createPod('p');
    assert.equal(boundTo('p'), 'n');
    assert.deepEqual(world.eventsAbout('p'), [
      'Normal Scheduled: Successfully assigned default/p to n',
    ]);
  });

  it('leaves pods alone that are gated, for another scheduler, or bound by their creator', async () => {
    await createNode('n');
    await createPod('gated', { spec: { schedulingGates: [{ name: 'example.com/wait' }] } });
    await createPod('foreign', { spec: { schedulerName: 'other' } });
    await createPod('chosen', { spec: { nodeName: 'elsewhere' } });
    assert.equal(boundTo('gated'), undefined);
    assert.equal(boundTo('foreign'), undefined);
    assert.equal(boundTo('chosen'), 'elsewhere');
    for (const name of ['gated', 'foreign', 'chosen'])
      assert.deepEqual(world.eventsAbout(name), []);
  });

  it('says why no node will do, with an event and a condition, and nothing twice', async () => {
    await createNode('tainted', { spec: { taints: [{ key: 'gpu', effect: 'NoSchedule' }] } });
    await createNode('evicting', { spec: { taints: [{ key: 'out', effect: 'NoExecute' }] } });
    await createNode('cordoned', { spec: { unschedulable: true } });
    await createNode('other');
    await createPod('p', { spec: { nodeSelector: { disk: 'fast' } } });
    const expected =
      "0/4 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, " +
      `1 node(s) were unschedulable, 2 node(s) had untolerated taint(s).`;
    assert.equal(message('p'), expected);
    assert.deepEqual(world.eventsAbout('p'), [`Warning FailedScheduling: ${expected}`]);
    const version = world.store.version();
    await world.clock.advance(60_000);
    assert.equal(world.store.version(), version);
  });

  it('tries again when a node changes, but not before the back-off', async () => {
    await createNode('n', { spec: { taints: [{ key: 'gpu', effect: 'NoSchedule' }] } });
    await createPod('p');
    assert.notEqual(message('p'), undefined);
    await patchNode('n', { spec: { taints: null } });
    assert.equal(boundTo('p'), undefined);
    await world.clock.advance(1000);
    assert.equal(boundTo('p'), 'n');
  });

  it('is not woken by heartbeats', async () => {
    await createNode('n', { spec: { taints: [{ key: 'gpu', effect: 'NoSchedule' }] } });
    await createPod('p');
    await world.clock.advance(20_000);
    const before = world.eventsAbout('p').length;
    const body = { status: { conditions: [{ type: 'Ready', status: 'True', reason: 'Again' }] } };
    const patch = { type: 'strategic', body, subresource: 'status' } as const;
    demand(await world.admin.patch({ resource: 'nodes', name: 'n' }, patch));
    const version = world.store.version();
    await world.clock.advance(10_000);
    assert.equal(world.store.version(), version);
    assert.equal(world.eventsAbout('p').length, before);
  });

  it('fills a node up to its resources and uses the room of a pod that ends', async () => {
    await createNode('n', { allocatable: { cpu: '1', memory: '1Gi', pods: '10' } });
    await createPod('a', { requests: { cpu: '600m' } });
    await createPod('b', { requests: { cpu: '600m', memory: '2Gi' } });
    await createPod('c', { requests: { cpu: '600m' } });
    assert.equal(boundTo('a'), 'n');
    assert.equal(message('c'), '0/1 nodes are available: 1 Insufficient cpu.');
    assert.equal(
      message('b'),
      `0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory.`,
    );
    await world.clock.advance(5000);
    await deletePod('a');
    assert.equal(boundTo('c'), 'n');
  });

  it('counts init containers, overheads and host ports', async () => {
    await createNode('n', { allocatable: { cpu: '1', memory: '1Gi', pods: '10' } });
    const initContainers = [{ name: 'init', image: 'x', resources: { requests: { cpu: '900m' } } }];
    await createPod('big', { spec: { initContainers }, hostPort: 80 });
    await createPod('small', { requests: { cpu: '200m' } });
    await createPod('port', { hostPort: 80 });
    assert.equal(boundTo('big'), 'n');
    assert.match(message('small') ?? '', /1 Insufficient cpu/);
    assert.match(
      message('port') ?? '',
      /1 node\(s\) didn't have free ports for the requested pod ports/,
    );
  });

  it('spreads pods over the nodes that can take them', async () => {
    for (const name of ['a', 'b', 'c']) await createNode(name);
    for (const name of ['p', 'q', 'r']) await createPod(name);
    assert.deepEqual(new Set(['p', 'q', 'r'].map(boundTo)), new Set(['a', 'b', 'c']));
  });

  it('holds a pinned pod against its node only', async () => {
    await createNode('mine', { spec: { taints: [{ key: 'gpu', effect: 'NoSchedule' }] } });
    await createNode('other');
    await createPod('p', { spec: { affinity: pinnedTo('mine') } });
    await createPod('lost', { spec: { affinity: pinnedTo('nowhere') } });
    assert.equal(
      message('p'),
      "0/2 nodes are available: 1 node(s) didn't satisfy plugin(s) [NodeAffinity], " +
        `1 node(s) had untolerated taint(s).`,
    );
    assert.equal(
      message('lost'),
      `0/2 nodes are available: 2 node(s) didn't satisfy plugin(s) [NodeAffinity].`,
    );
    await world.clock.advance(5000);
    await createNode('nowhere');
    assert.equal(boundTo('lost'), 'nowhere');
    assert.equal(boundTo('p'), undefined);
  });

  it('counts what was bound before it started, and schedules what waited', async () => {
    await scheduler.stop();
    await createNode('n', { allocatable: { cpu: '1', memory: '1Gi', pods: '10' } });
    await createPod('bound', { spec: { nodeName: 'n' }, requests: { cpu: '800m' } });
    await createPod('big', { requests: { cpu: '500m' } });
    await createPod('small', { requests: { cpu: '100m' } });
    start();
    await world.settle();
    assert.equal(boundTo('small'), 'n');
    assert.match(message('big') ?? '', /1 Insufficient cpu/);
  });

  it('waits without a word of failure for a node that comes with the first pods', async () => {
    await createPod('early');
    assert.equal(message('early'), 'no nodes available to schedule pods');
    await createNode('n');
    await world.clock.advance(1000);
    assert.equal(boundTo('early'), 'n');
  });

  it('takes its decision back when the binding fails, and tries again', async () => {
    await scheduler.stop();
    let failures = 2;
    start(({ method, target }) => {
      if (method !== 'POST' || !target.includes('/binding') || failures === 0) return false;
      failures -= 1;
      return true;
    });
    await createNode('n', { allocatable: { cpu: '1', memory: '1Gi', pods: '10' } });
    await createPod('p', { requests: { cpu: '1' } });
    assert.equal(boundTo('p'), undefined);
    await world.clock.advance(5 + 10);
    assert.equal(boundTo('p'), 'n');
    assert.equal(world.log.at('warn').length, 2);
  });

  it('forgets a pod that is deleted while it waits', async () => {
    await createPod('p');
    await deletePod('p');
    await createNode('n');
    await world.clock.advance(600_000);
    assert.equal(world.read({ resource: 'pods', namespace: 'default', name: 'p' }), undefined);
  });
});
