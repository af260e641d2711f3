/** Stage 9 of the node agent: registration, Lease, node status; failure and recovery. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isJsonObject } from '@rollcall/base/json.ts';
import { conditionsOf } from '../../../src/node-agent/node/node-status.ts';
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
