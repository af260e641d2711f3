/** Stage 1 and 2 of the node agent: where pods come from and what their changes are taken for. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createAgentWorld } from '../../support/agent-world.ts';
import type { AgentWorld } from '../../support/agent-world.ts';

const POD = { resource: 'pods', namespace: 'default', name: 'p' } as const;

function loopLines(world: AgentWorld): readonly string[] {
  return world.messages().filter((message) => /^SyncLoop [A-Z]/.test(message));
}

describe('the API source', () => {
  it('takes only pods that are bound to its node', async () => {
    const world = await createAgentWorld();
    await world.createPod('elsewhere', { spec: { nodeName: 'node-2' } });
    await world.settle();
    assert.deepEqual(world.podRuntime.calls, []);
    await world.createPod('here');
    await world.settle();
    assert.equal(world.podRuntime.calls[0], 'syncPod here');
    await world.agent.stop();
  });

  it('takes a change of spec or labels for UPDATE, of the status alone for RECONCILE, a deletion for DELETE, the end for REMOVE', async () => {
    const world = await createAgentWorld();
    await world.createPod('p');
    await world.settle();
    await world.admin.patch(POD, { type: 'merge', body: { metadata: { labels: { a: 'b' } } } });
    await world.settle();
    await world.admin.delete(POD);
    await world.settle();
    const kinds = loopLines(world).filter((line, index, all) => line !== all[index - 1]);
    assert.deepEqual(kinds, [
      'SyncLoop ADD',
      'SyncLoop RECONCILE',
      'SyncLoop UPDATE',
      'SyncLoop DELETE',
      'SyncLoop RECONCILE',
      'SyncLoop REMOVE',
    ]);
    await world.agent.stop();
  });

  it('ends a pod that was deleted by force while it ran, and forgets it', async () => {
    const world = await createAgentWorld();
    await world.createPod('p');
    await world.settle();
    await world.admin.delete(POD, { gracePeriodSeconds: 0 });
    await world.settle();
    assert.deepEqual(loopLines(world).at(-1), 'SyncLoop REMOVE');
    await world.clock.advance(10_000);
    assert.ok(world.podRuntime.calls.includes('killPod p 1'));
    assert.deepEqual(world.podRuntime.podUids(), []);
    assert.ok(world.messages().includes('SyncLoop (housekeeping)'));
    await world.agent.stop();
  });

  it('takes a pod of the same name for another pod', async () => {
    const world = await createAgentWorld();
    const first = await world.createPod('p');
    await world.settle();
    await world.admin.delete(POD, { gracePeriodSeconds: 0 });
    const second = await world.createPod('p');
    await world.settle();
    assert.notEqual(first.metadata.uid, second.metadata.uid);
    assert.equal(world.status('p').phase, 'Running');
    assert.equal(world.podRuntime.status(second.metadata.uid).containers[0]?.state, 'running');
    await world.agent.stop();
  });
});
