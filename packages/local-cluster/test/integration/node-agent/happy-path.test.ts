/** A pod's way through all stages of the node agent and back: order, status writes, log lines. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createAgentWorld } from '../../support/agent-world.ts';

/** The log line of each stage, in the order in which a pod meets them. */
const STAGES_UP = [
  'receive',
  'SyncLoop ADD',
  'admission',
  'syncPod',
  'generated status',
  'cgroup',
  'waiting for volumes',
  'volumes mounted',
  'runtime sync',
  'SyncLoop (PLEG)',
  'syncPod',
  'generated status',
];

describe('the way of a pod through its node agent', () => {
  it('passes every stage in order and becomes Ready with two status writes', async () => {
    const world = await createAgentWorld();
    const since = world.log.lines.length;

    await world.createPod('p');
    await world.settle();

    const status = world.status('p');
    assert.equal(status.phase, 'Running');
    const [container] = status.containerStatuses ?? [];
    assert.equal(container?.ready, true);
    assert.equal(container.containerID, 'containerd://main-0');
    assert.deepEqual(
      status.conditions?.map((condition) => [condition.type, condition.status]),
      [
        ['PodReadyToStartContainers', 'True'],
        ['Initialized', 'True'],
        ['Ready', 'True'],
        ['ContainersReady', 'True'],
        ['PodScheduled', 'True'],
      ],
    );
    assert.deepEqual(
      [status['hostIP'], status['podIP'], status.qosClass, status.observedGeneration],
      ['172.16.0.1', '10.0.0.7', 'BestEffort', 1],
    );
    assert.deepEqual(world.podWrites, ['patch pods/status p 200', 'patch pods/status p 200']);
    assertInOrder(world.messages().slice(since), STAGES_UP);
    await world.agent.stop();
  });

  it('ends with the final deletion, after containers and volumes are gone', async () => {
    const world = await createAgentWorld();
    await world.createPod('p');
    await world.settle();
    const writesBefore = world.podWrites.length;
    const since = world.log.lines.length;

    await world.admin.delete({ resource: 'pods', namespace: 'default', name: 'p' });
    await world.settle();

    assert.equal(world.pod('p'), undefined);
    assert.deepEqual(world.podRuntime.calls.slice(1), [
      ...['syncPod p', 'killPod p 30', 'removePod'],
      ...['forget', 'removePod'],
    ]);
    assert.deepEqual(world.podWrites.slice(writesBefore), [
      // The deletion counts as a generation that the agent has seen.
      'patch pods/status p 200',
      'patch pods/status p 200',
      'delete pods p 200',
    ]);
    assertInOrder(world.messages().slice(since), [
      'SyncLoop DELETE',
      'terminating pod',
      'pod terminated',
      'pod deleted',
      'SyncLoop REMOVE',
    ]);
    await world.agent.stop();
  });

  it('costs an idle node one lease renewal in ten seconds and nothing else', async () => {
    const world = await createAgentWorld();
    await world.createPod('p');
    await world.clock.advance(10_000);
    const before = world.requests.length;

    await world.clock.advance(100_000);

    const requests = world.requests.slice(before);
    assert.ok(requests.length >= 9 && requests.length <= 11, `${requests.length} requests`);
    assert.ok(requests.every((line) => line === 'update leases node-1 200'));
    await world.agent.stop();
  });

  it('leaves no timer behind when it stops', async () => {
    const world = await createAgentWorld();
    await world.createPod('p');
    await world.settle();
    const before = world.requests.length;

    await world.agent.stop();
    await world.clock.advance(600_000);

    assert.equal(world.requests.length, before);
  });
});

/** The expected messages occur in this order, whatever is between them. */
function assertInOrder(messages: readonly string[], expected: readonly string[]): void {
  let from = 0;
  for (const message of expected) {
    const at = messages.indexOf(message, from);
    assert.ok(at >= 0, `"${message}" is missing after ${from} in ${messages.join(', ')}`);
    from = at + 1;
  }
}
