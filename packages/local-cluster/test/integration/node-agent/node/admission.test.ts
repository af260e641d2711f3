/** Stage 3 and 4b of the node agent: what a node admits, and what becomes of what it does not. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createAgentWorld } from '../../../support/agent-world.ts';
import type { AgentWorld } from '../../../support/agent-world.ts';

async function worldWithTaint(effect: string): Promise<AgentWorld> {
  const world = await createAgentWorld();
  await world.admin.patch(
    { resource: 'nodes', name: 'node-1' },
    { type: 'merge', body: { spec: { taints: [{ key: 'special', value: 'yes', effect }] } } },
  );
  await world.settle();
  return world;
}

describe('admission', () => {
  it('rejects what does not fit: Failed with the reason, an event, nothing started', async () => {
    const world = await createAgentWorld();
    await world.createPod('big', { requests: { cpu: '3' } });
    await world.settle();
    const status = world.status('big');
    assert.equal(status.phase, 'Failed');
    assert.equal(status.reason, 'OutOfcpu');
    assert.equal(
      status.message,
      "Pod was rejected: Node didn't have enough resource: cpu, requested: 3000, used: 0, capacity: 2000",
    );
    assert.deepEqual(world.eventsAbout('big'), [
      "Warning OutOfcpu: Node didn't have enough resource: cpu, requested: 3000, used: 0, capacity: 2000",
    ]);
    assert.deepEqual(world.podRuntime.calls, []);
    assert.deepEqual(world.podWrites, ['patch pods/status big 200']);
    const line = world.log.lines.find(({ message }) => message === 'admission');
    assert.deepEqual(line?.fields, { pod: 'default/big', verdict: 'rejected', reason: 'OutOfcpu' });
    await world.agent.stop();
  });

  it('admits in order of creation: of two that exclude each other the elder runs', async () => {
    const world = await createAgentWorld();
    await world.createPod('elder', { requests: { cpu: '1500m' } });
    await world.createPod('younger', { requests: { cpu: '1500m' } });
    await world.settle();
    assert.equal(world.status('elder').phase, 'Running');
    assert.equal(world.status('younger').reason, 'OutOfcpu');
    await world.agent.stop();
  });

  it('has room again once a pod has ended', async () => {
    const world = await createAgentWorld();
    const elder = await world.createPod('elder', {
      requests: { cpu: '1500m' },
      spec: { restartPolicy: 'Never' },
    });
    await world.settle();
    world.podRuntime.end(elder.metadata.uid, 'main', 0);
    await world.settle();
    assert.equal(world.status('elder').phase, 'Succeeded');
    await world.createPod('younger', { requests: { cpu: '1500m' } });
    await world.settle();
    assert.equal(world.status('younger').phase, 'Running');
    await world.agent.stop();
  });

  it('rejects taken host ports and foreign labels', async () => {
    const world = await createAgentWorld();
    await world.createPod('first', { hostPort: 8080 });
    await world.settle();
    await world.createPod('second', { hostPort: 8080 });
    await world.createPod('third', { spec: { nodeSelector: { zone: 'b' } } });
    await world.createPod('fourth', { spec: { nodeSelector: { zone: 'a' } } });
    await world.settle();
    assert.equal(world.status('second').reason, 'NodePorts');
    assert.equal(
      world.status('second').message,
      "Pod was rejected: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
    );
    assert.equal(world.status('third').reason, 'NodeAffinity');
    assert.equal(world.status('fourth').phase, 'Running');
    await world.agent.stop();
  });

  it('rejects an untolerated NoExecute taint', async () => {
    const world = await worldWithTaint('NoExecute');
    await world.createPod('p');
    await world.settle();
    assert.equal(world.status('p').reason, 'TaintToleration');
    await world.agent.stop();
  });

  it('leaves NoSchedule taints to the scheduler', async () => {
    const world = await worldWithTaint('NoSchedule');
    await world.createPod('p');
    await world.settle();
    assert.equal(world.status('p').phase, 'Running');
    await world.agent.stop();
  });

  it('rejects one pod more than the node takes', async () => {
    const world = await createAgentWorld({
      machine: { capacity: { cpu: '2', memory: '4Gi', pods: '1', 'ephemeral-storage': '1Gi' } },
    });
    await world.createPod('first');
    await world.createPod('second');
    await world.settle();
    assert.equal(world.status('first').phase, 'Running');
    assert.equal(world.status('second').reason, 'OutOfpods');
    await world.agent.stop();
  });
});
