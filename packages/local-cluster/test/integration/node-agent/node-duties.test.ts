/** Stage 9 of the node agent: registration, Lease, node status, eviction, graceful shutdown; failure and recovery. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isJsonObject } from '@rollcall/base/json.ts';
import { conditionsOf } from '../../../src/node-agent/node/node-conditions.ts';
import type { Condition } from '../../../src/node-agent/shared/pod-object.ts';
import { createAgentWorld } from '../../support/agent-world.ts';
import type { AgentWorld } from '../../support/agent-world.ts';

const NODE = { resource: 'nodes', name: 'node-1' } as const;
const LEASE = {
  resource: 'leases.coordination.k8s.io',
  namespace: 'kube-node-lease',
  name: 'node-1',
} as const;

function nodeCondition(world: AgentWorld, type: string): Condition | undefined {
  return conditionsOf(world.node()?.['status']).find((condition) => condition.type === type);
}

function renewedAt(world: AgentWorld): unknown {
  const spec = world.read(LEASE)?.['spec'];
  return isJsonObject(spec) ? spec['renewTime'] : undefined;
}

async function askPressure(world: AgentWorld, pressure: string | null): Promise<void> {
  const annotations = { 'simulate.rollcall.dev/pressure': pressure };
  await world.admin.patch(NODE, { type: 'merge', body: { metadata: { annotations } } });
  await world.settle();
}

describe('registration', () => {
  it('creates the node as the machine is', async () => {
    const world = await createAgentWorld({
      machine: {
        isCordoned: true,
        taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }],
        annotations: { 'example.com/rack': '7' },
      },
    });
    const node = world.node();
    assert.equal(node?.metadata.labels?.['zone'], 'a');
    assert.equal(node.metadata.labels['kubernetes.io/hostname'], 'node-1');
    assert.equal(node.metadata.annotations?.['example.com/rack'], '7');
    const spec = node['spec'];
    assert.ok(isJsonObject(spec) && spec['unschedulable'] === true);
    const taints = JSON.stringify(spec['taints']);
    assert.match(taints, /"gpu"/);
    assert.equal(nodeCondition(world, 'Ready')?.status, 'True');
    assert.deepEqual(world.eventsAbout('node-1'), [
      'Normal Starting: Starting kubelet.',
      'Normal NodeReady: Node node-1 status is now: NodeReady',
    ]);
    await world.agent.stop();
  });

  it('adopts a node that is there, with its labels, and fills in its status', async () => {
    const first = await createAgentWorld();
    await first.agent.stop();
    await first.admin.delete(NODE);
    await first.create('nodes', { metadata: { name: 'node-1', labels: { made: 'by-hand' } } });
    const again = await reboot(first);
    assert.equal(first.node()?.metadata.labels?.['made'], 'by-hand');
    assert.equal(first.node()?.metadata.labels?.['kubernetes.io/os'], 'linux');
    assert.equal(nodeCondition(first, 'Ready')?.status, 'True');
    const status = first.node()?.['status'];
    assert.ok(isJsonObject(status) && isJsonObject(status['capacity']));
    await again();
  });

  it('of a machine that is never ready says why', async () => {
    const world = await createAgentWorld({ machine: { readiness: 'never' } });
    const ready = nodeCondition(world, 'Ready');
    assert.deepEqual([ready?.status, ready?.reason], ['False', 'KubeletNotReady']);
    await world.agent.stop();
  });
});

async function reboot(world: AgentWorld): Promise<() => Promise<void>> {
  const agent = world.boot();
  await agent.ready;
  await world.settle();
  return () => agent.stop();
}

describe('the Lease', () => {
  it('is made at once and renewed every ten seconds', async () => {
    const world = await createAgentWorld();
    assert.equal(renewedAt(world), '2026-01-01T00:00:00.000000Z');
    await world.clock.advance(10_400);
    const before = renewedAt(world);
    assert.notEqual(before, '2026-01-01T00:00:00.000000Z');
    await world.clock.advance(10_400);
    assert.notEqual(renewedAt(world), before);
    await world.agent.stop();
  });

  it('is made anew when somebody deletes it, and taken over when somebody writes it', async () => {
    const world = await createAgentWorld();
    await world.admin.delete(LEASE);
    await world.clock.advance(10_400);
    assert.ok(renewedAt(world) !== undefined);
    await world.admin.patch(LEASE, { type: 'merge', body: { metadata: { labels: { a: 'b' } } } });
    const before = renewedAt(world);
    await world.clock.advance(10_400);
    assert.notEqual(renewedAt(world), before);
    assert.equal(world.read(LEASE)?.metadata.labels?.['a'], 'b');
    await world.agent.stop();
  });
});

describe('the node status', () => {
  it('is written every five minutes although nothing changes', async () => {
    const world = await createAgentWorld();
    await world.clock.advance(299_000);
    assert.equal(nodeCondition(world, 'Ready')?.['lastHeartbeatTime'], '2026-01-01T00:00:00Z');
    await world.clock.advance(13_000);
    assert.notEqual(nodeCondition(world, 'Ready')?.['lastHeartbeatTime'], '2026-01-01T00:00:00Z');
    assert.equal(nodeCondition(world, 'Ready')?.lastTransitionTime, '2026-01-01T00:00:00Z');
    await world.agent.stop();
  });

  it('of a node without a network says so', async () => {
    const world = await createAgentWorld({ machine: { network: 'daemon' } });
    assert.match(
      nodeCondition(world, 'Ready')?.message ?? '',
      /^container runtime network not ready: NetworkReady=false/,
    );
    assert.ok(
      world
        .eventsAbout('node-1')
        .includes('Normal NodeNotReady: Node node-1 status is now: NodeNotReady'),
    );
    await world.agent.stop();
  });
});

describe('eviction', () => {
  it('under memory pressure takes one pod after another, those that asked for least first', async () => {
    const world = await createAgentWorld();
    const critical = { priority: 2_000_001_000, priorityClassName: 'system-node-critical' };
    await world.createPod('burstable', { requests: { memory: '1Gi' } });
    await world.createPod('critical', { spec: critical });
    await world.createPod('best-effort');
    await world.settle();
    await askPressure(world, 'memory');
    assert.equal(nodeCondition(world, 'MemoryPressure')?.status, 'True');
    assert.equal(world.status('best-effort').phase, 'Failed');
    assert.equal(world.status('best-effort').reason, 'Evicted');
    assert.match(world.status('best-effort').message ?? '', /low on resource: memory/);
    const target = world
      .status('best-effort')
      .conditions?.find(({ type }) => type === 'DisruptionTarget');
    assert.equal(target?.reason, 'TerminationByKubelet');
    assert.ok(world.podRuntime.calls.includes('killPod best-effort 1'));
    assert.equal(world.status('burstable').phase, 'Running');
    await world.clock.advance(10_000);
    assert.equal(world.status('burstable').reason, 'Evicted');
    await world.clock.advance(60_000);
    assert.equal(world.status('critical').phase, 'Running');
    assert.ok(world.eventsAbout('best-effort').some((text) => text.startsWith('Warning Evicted')));
    await world.agent.stop();
  });

  it('ends with the pressure; the condition stays for five minutes', async () => {
    const world = await createAgentWorld();
    await askPressure(world, 'disk');
    await world.clock.advance(20_000);
    await askPressure(world, null);
    await world.createPod('early');
    await world.settle();
    assert.equal(world.status('early').reason, 'Evicted', 'not admitted under disk pressure');
    assert.equal(nodeCondition(world, 'DiskPressure')?.status, 'True');
    await world.clock.advance(300_000);
    assert.equal(nodeCondition(world, 'DiskPressure')?.status, 'False');
    await world.createPod('late');
    await world.settle();
    assert.equal(world.status('late').phase, 'Running');
    await world.agent.stop();
  });
});

describe('a graceful shutdown', () => {
  it('ends ordinary pods, then critical ones, and says why; the node is not ready', async () => {
    const world = await createAgentWorld();
    world.podRuntime.killing = () => world.clock.sleep(2000);
    const critical = { priority: 2_000_001_000, priorityClassName: 'system-node-critical' };
    await world.createPod('critical', { spec: critical });
    await world.createPod('ordinary', { spec: { terminationGracePeriodSeconds: 5 } });
    await world.settle();
    const done = world.agent.shutDown(30);
    await world.settle();
    assert.equal(nodeCondition(world, 'Ready')?.message, 'node is shutting down');
    assert.deepEqual(
      world.podRuntime.calls.filter((call) => call.startsWith('killPod')),
      ['killPod ordinary 5'],
    );
    await world.createPod('newcomer');
    await world.clock.advance(5000);
    await done;
    assert.ok(world.podRuntime.calls.includes('killPod critical 10'));
    for (const name of ['ordinary', 'critical']) {
      assert.equal(world.status(name).phase, 'Failed');
      assert.equal(world.status(name).reason, 'Terminated');
      assert.equal(
        world.status(name).message,
        'Pod was terminated in response to imminent node shutdown.',
      );
    }
    assert.equal(world.status('newcomer').reason, 'NodeShutdown');
    await world.agent.stop();
  });

  it('does not wait longer than it was given', async () => {
    const world = await createAgentWorld();
    world.podRuntime.killing = () => world.clock.sleep(600_000);
    await world.createPod('p');
    await world.settle();
    let isDone = false;
    const done = world.agent.shutDown(30).then(() => {
      isDone = true;
    });
    await world.clock.advance(19_999);
    assert.equal(isDone, false);
    await world.clock.advance(1);
    await done;
    await world.agent.stop();
  });
});
