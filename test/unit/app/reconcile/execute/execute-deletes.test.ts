/** protocol 7, spec 2.8, S9: deletes in fenced batches, beside creates and not behind them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { createProcessCache } from '../../../../../src/app/reconcile/process/process-cache.ts';
import { ReconcileWorld } from '../../../../support/reconcile-world.ts';

const nodeNames = (from: number, to: number): readonly string[] =>
  Array.from(
    { length: to - from + 1 },
    (_, index) => `node-${String(from + index).padStart(4, '0')}`,
  );

function allAtOnce(object: DaemonSetObject): DaemonSetObject {
  const rollingUpdate = { maxUnavailable: '100%' };
  return {
    ...object,
    spec: { ...object.spec, updateStrategy: { type: 'RollingUpdate', rollingUpdate } },
  };
}

/** A settled world whose first nodes are drained all at once. */
async function drained(nodes: number, drainedNodes: number): Promise<ReconcileWorld> {
  const world = await ReconcileWorld.settled({ nodes });
  for (const name of nodeNames(1, drainedNodes)) {
    world.addNode(name, { taints: [{ key: 'k', effect: 'NoExecute' }] });
  }
  await world.mirror.sync();
  return world;
}

describe('deletes', () => {
  it('stop when another run wrote the state', async () => {
    const world = await drained(250, 250);
    let isFirst = true;
    world.cluster.hooks = {
      afterEffect: async ({ kind }) => {
        if (kind !== 'delete-pod' || !isFirst) return;
        isFirst = false;
        await world.view.writeState(world.ref, await world.state());
      },
    };
    await world.run();
    assert.equal(world.sent('delete-pod '), 100);
  });

  it('stop after a batch of which the API server turned one away: the others of the batch are gone', async () => {
    const world = await drained(250, 250);
    let deletes = 0;
    world.cluster.hooks = {
      beforeEffect: ({ kind }) => {
        deletes += kind === 'delete-pod' ? 1 : 0;
        return kind === 'delete-pod' && deletes === 7
          ? { kind: 'answer', outcome: { kind: 'unsent', message: '429' } }
          : undefined;
      },
    };
    await world.run();
    assert.equal(deletes, 100);
    assert.equal(world.owned.length, 151);
    world.cluster.hooks = {};
    await world.settle();
    assert.deepEqual(world.owned, []);
  });

  it('are not starved by creates that take all the time of the run', async () => {
    const world = await drained(20, 10);
    for (const name of nodeNames(101, 200)) world.addNode(name);
    await world.mirror.sync();
    world.cluster.hooks = {
      beforeEffect: ({ kind }) =>
        kind === 'create-pod' ? world.clock.advance(3_000).then(() => undefined) : undefined,
    };
    // A cold process: one that remembers its pace would send them all at once.
    await world.run({ cache: createProcessCache() }, 12_000);
    const created = world.sent('create-pod ') - 20;
    assert.ok(created >= 1 && created < 100, `${created} creates: they were cut short`);
    const gone = world.owned.filter((node) => node <= 'node-0010');
    assert.deepEqual(gone, [], 'every delete was sent');
    world.cluster.hooks = {};
    await world.settle();
    assert.equal(world.owned.length, 110);
    assert.deepEqual(world.cluster.violations, []);
  });

  it('go although creates are refused (spec 2.8)', async () => {
    const world = await drained(20, 10);
    for (const name of nodeNames(101, 110)) world.addNode(name);
    await world.mirror.sync();
    world.cluster.hooks = { admitPod: () => ({ code: 'quota' }) };
    await world.run();
    assert.equal(world.sent('delete-pod '), 10);
  });

  it('of a rollout stop after the batch in which the DaemonSet was edited', async () => {
    const world = await ReconcileWorld.settled({ nodes: 150, daemonSet: allAtOnce });
    world.setImage('example/agent:2');
    await world.mirror.sync();
    let deletes = 0;
    world.cluster.hooks = {
      beforeEffect: ({ kind }) => {
        deletes += kind === 'delete-pod' ? 1 : 0;
        if (deletes === 7 && kind === 'delete-pod') world.setImage('example/agent:1');
        return undefined;
      },
    };
    await world.run();
    assert.equal(deletes, 100);
    world.cluster.hooks = {};
    await world.settle();
    assert.equal(world.sent('delete-pod '), 100, 'the others are of the current revision again');
    assert.equal(world.owned.length, 150);
  });
});
