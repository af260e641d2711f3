/** Stage 8 of the node agent: how pods end, and what happens when their end goes wrong. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createAgentWorld } from '../../support/agent-world.ts';

const POD = { resource: 'pods', namespace: 'default', name: 'p' } as const;

describe('a deletion', () => {
  it('gives the containers the grace period that the API server has set', async () => {
    const world = await createAgentWorld();
    await world.createPod('p', { spec: { terminationGracePeriodSeconds: 60 } });
    await world.settle();
    await world.admin.delete(POD, { gracePeriodSeconds: 7 });
    await world.settle();
    assert.ok(world.podRuntime.calls.includes('killPod p 7'));
    await world.agent.stop();
  });

  it('shows the pod until its containers have stopped, and is not disturbed by other changes', async () => {
    const world = await createAgentWorld();
    world.podRuntime.killing = () => world.clock.sleep(5000);
    await world.createPod('p');
    await world.settle();
    await world.admin.delete(POD);
    await world.clock.advance(2000);
    await world.admin.patch(POD, { type: 'merge', body: { metadata: { labels: { a: 'b' } } } });
    await world.clock.advance(2999);
    assert.equal(world.status('p').phase, 'Running');
    await world.clock.advance(1);
    assert.equal(world.pod('p'), undefined);
    assert.equal(world.podRuntime.calls.filter((call) => call.startsWith('killPod')).length, 1);
    await world.agent.stop();
  });

  it('that fails is told by an event and tried again', async () => {
    const world = await createAgentWorld();
    world.podRuntime.killErrors.push(new Error('the runtime is busy'));
    await world.createPod('p');
    await world.settle();
    await world.admin.delete(POD);
    await world.settle();
    assert.ok(world.pod('p') !== undefined);
    assert.deepEqual(world.eventsAbout('p'), [
      'Warning FailedKillPod: error killing pod: the runtime is busy',
    ]);
    await world.clock.advance(15_000);
    assert.equal(world.pod('p'), undefined);
    await world.agent.stop();
  });

  it('of a pod that waits for a finalizer leaves the containers ended and the pod in the API', async () => {
    const world = await createAgentWorld();
    await world.createPod('p', { metadata: { finalizers: ['example.com/hold'] } });
    await world.settle();
    await world.admin.delete(POD);
    await world.clock.advance(60_000);
    assert.equal(world.status('p').phase, 'Succeeded');
    assert.deepEqual(world.podRuntime.podUids(), []);
    await world.admin.patch(POD, { type: 'merge', body: { metadata: { finalizers: null } } });
    await world.clock.advance(20_000);
    assert.equal(world.pod('p'), undefined);
    await world.agent.stop();
  });

  it('of a pod whose containers never started marks it as failed and removes it', async () => {
    const world = await createAgentWorld();
    const volumes = [{ name: 'config', configMap: { name: 'none' } }];
    await world.createPod('p', { spec: { volumes }, metadata: { finalizers: ['a.b/hold'] } });
    await world.clock.advance(1000);
    await world.admin.delete(POD);
    await world.clock.advance(1000);
    assert.equal(world.status('p').phase, 'Failed');
    const [container] = world.status('p').containerStatuses ?? [];
    assert.equal(container?.state.terminated?.exitCode, 137);
    await world.agent.stop();
  });
});
