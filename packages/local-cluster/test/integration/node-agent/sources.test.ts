/** Stage 1 and 2 of the node agent: where pods come from and what their changes are taken for. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
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

  it('takes pods that are there when it starts, in order of creation', async () => {
    const world = await createAgentWorld();
    await world.agent.stop();
    await world.createPod('b-first');
    await world.clock.advance(2000);
    await world.createPod('a-second');
    const again = await restart(world);
    assert.deepEqual(again.filter((call) => call.startsWith('syncPod')).slice(0, 2), [
      'syncPod b-first',
      'syncPod a-second',
    ]);
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

/** Another agent takes over the machine. */
async function restart(world: AgentWorld): Promise<readonly string[]> {
  const agent = world.boot();
  await agent.ready;
  await world.settle();
  await agent.stop();
  return world.podRuntime.calls;
}

describe('static pods', () => {
  const MANIFEST: JsonObject = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'proxy', namespace: 'default', labels: { app: 'proxy' } },
    spec: { containers: [{ name: 'main', image: 'example/proxy:1' }] },
  };

  function manifests(list: JsonObject[]): {
    readonly files: { list: () => readonly JsonObject[]; onChange: (on: () => void) => () => void };
    readonly change: (next: JsonObject[]) => void;
  } {
    let held = list;
    let tell: () => void = () => undefined;
    return {
      files: {
        list: () => held,
        onChange: (listener) => {
          tell = listener;
          return () => undefined;
        },
      },
      change: (next) => {
        held = next;
        tell();
      },
    };
  }

  it('run without the API, are shown by a mirror, and end when their file goes', async () => {
    const directory = manifests([MANIFEST]);
    const world = await createAgentWorld({ settings: { staticPods: directory.files } });
    await world.settle();
    const mirror = world.pod('proxy-node-1');
    assert.ok(mirror !== undefined, 'the mirror exists');
    assert.ok(mirror.metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined);
    assert.equal(mirror.status?.phase, 'Running');

    directory.change([]);
    await world.settle();
    await world.clock.advance(10_000);
    assert.ok(world.podRuntime.calls.includes('killPod proxy-node-1 30'));
    assert.equal(world.pod('proxy-node-1'), undefined);
    await world.agent.stop();
  });

  it('come back with a new mirror when somebody deletes the mirror', async () => {
    const directory = manifests([MANIFEST]);
    const world = await createAgentWorld({ settings: { staticPods: directory.files } });
    await world.settle();
    const first = world.pod('proxy-node-1')?.metadata.uid;
    await world.admin.delete(
      { resource: 'pods', namespace: 'default', name: 'proxy-node-1' },
      { gracePeriodSeconds: 0 },
    );
    await world.settle();
    const second = world.pod('proxy-node-1');
    assert.ok(second !== undefined && second.metadata.uid !== first);
    assert.equal(second.status?.phase, 'Running');
    assert.ok(!world.podRuntime.calls.some((call) => call.startsWith('killPod')));
    await world.agent.stop();
  });
});
