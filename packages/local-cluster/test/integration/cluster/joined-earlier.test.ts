/** A local cluster whose Nodes joined earlier: by their creation, and with machines as any other. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { jsonItems, jsonMember } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { startLocalCluster } from '../../../src/cluster/start-local-cluster.ts';
import { zonedMachines } from '../../../src/machines/machines.ts';
import { createTestHttpsClient } from '../../support/https-client.ts';

const HOUR_MS = 3_600_000;
const NODE_WITHIN_MS = 30_000;

function nodesOf(text: string): readonly Json[] {
  return jsonItems(jsonMember(JSON.parse(text) as JsonObject, 'items'));
}

function kernelOf(node: Json): Json | undefined {
  return jsonMember(jsonMember(jsonMember(node, 'status'), 'nodeInfo'), 'kernelVersion');
}

function isReady(node: Json): boolean {
  return jsonItems(jsonMember(jsonMember(node, 'status'), 'conditions')).some(
    (one) => jsonMember(one, 'type') === 'Ready' && jsonMember(one, 'status') === 'True',
  );
}

it('has Nodes of an hour ago, which become Ready with their zones and kernels', async () => {
  const clock = createSystemClock();
  const startedAtMs = clock.nowMs();
  const cluster = await startLocalCluster({
    name: 'earlier',
    port: 0,
    machines: zonedMachines(3),
    joinedMsAgo: HOUR_MS,
    clock,
    random: createSystemRandom(),
    log: new MemoryLog(),
  });
  const client = createTestHttpsClient(cluster);
  try {
    const authorization = `Bearer ${cluster.tokens.admin}`;
    let nodes: readonly Json[] = [];
    while (!(nodes.length === 3 && nodes.every(isReady))) {
      assert.ok(clock.nowMs() - startedAtMs < NODE_WITHIN_MS, 'the machines did not boot');
      const { text } = await client.fetch({ path: '/api/v1/nodes', headers: { authorization } });
      nodes = nodesOf(text);
    }
    for (const node of nodes) {
      const createdAt = jsonMember(jsonMember(node, 'metadata'), 'creationTimestamp');
      assert.ok(typeof createdAt === 'string');
      assert.ok(Date.parse(createdAt) <= clock.nowMs() - HOUR_MS, createdAt);
    }
    assert.deepEqual(nodes.map(kernelOf), [
      '5.10.0-simulated',
      '5.10.0-simulated',
      '6.12.0-simulated',
    ]);
  } finally {
    client.close();
    await cluster.stop();
  }
});
