/** A status waits for pods that were made a moment ago, and for nothing else (ADR 0031). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DaemonSetState } from '../../../../../src/core/model/state.ts';
import { ReconcileWorld, type WorldOptions } from '../../../../support/reconcile-world.ts';

interface Counted {
  readonly statuses: number;
  readonly states: number;
}

async function countOf(world: ReconcileWorld, play: () => Promise<unknown>): Promise<Counted> {
  const requests = world.cluster.requests.length;
  const calls = world.view.calls.length;
  await play();
  const isStatus = (request: string): boolean => request.startsWith('update-status');
  const isState = ({ operation }: { readonly operation: string }): boolean =>
    operation === 'writeState';
  return {
    statuses: world.cluster.requests.slice(requests).filter(isStatus).length,
    states: world.view.calls.slice(calls).filter(isState).length,
  };
}

/** A third node has its pod, which is not ready; the run that made it left the status. */
async function joining(options: WorldOptions = {}): Promise<ReconcileWorld> {
  const world = await ReconcileWorld.settled({ nodes: 2, ...options });
  world.addNode('node-0003');
  await world.step();
  assert.equal(world.pods.length, 3);
  return world;
}

async function change(world: ReconcileWorld, by: Partial<DaemonSetState>): Promise<void> {
  const state = await world.state();
  assert.equal(await world.view.writeState(world.ref, { ...state, ...by }), 'written');
}

describe('the status of a node that joins', () => {
  it('is one, when its pod is ready: seeing the pod alone writes nothing', async () => {
    const world = await joining();
    for (let hint = 0; hint < 3; hint += 1) {
      assert.deepEqual(await countOf(world, () => world.step()), { statuses: 0, states: 0 });
    }
    world.runKubelets();
    assert.deepEqual(await countOf(world, () => world.step()), { statuses: 1, states: 1 });
    const { currentNumberScheduled, numberReady } = world.daemonSet.status ?? {};
    assert.deepEqual([currentNumberScheduled, numberReady], [3, 3]);
  });

  it('tells of a pod that does not get ready by the look after its create, without any event', async () => {
    const world = await joining();
    world.idleNodes.add('node-0003');
    await world.step();
    const [timer] = world.queue.timers.slice(-1);
    assert.ok(timer !== undefined && timer.dueAtMs - world.clock.nowMs() <= 2_000);
    await world.clock.advance(timer.dueAtMs - world.clock.nowMs());
    world.reason = 'retry';
    assert.deepEqual(await countOf(world, () => world.run()), { statuses: 1, states: 1 });
    const { currentNumberScheduled, numberReady } = world.daemonSet.status ?? {};
    assert.deepEqual([currentNumberScheduled, numberReady], [3, 2]);
    assert.deepEqual(await countOf(world, () => world.step()), { statuses: 0, states: 0 });
  });

  it('waits a second at most while events come', async () => {
    const world = await joining();
    await world.clock.advance(1_000);
    assert.equal((await countOf(world, () => world.step())).statuses, 1);
  });

  it('does not wait where no look is on its way, nor by a clock that was ahead (row 14)', async () => {
    for (const wait of ['dueAtMs', 'statusPostponedSinceMs'] as const) {
      const world = await joining();
      const nowMs = world.clock.nowMs();
      await change(world, { [wait]: wait === 'dueAtMs' ? nowMs : nowMs + 600_000 });
      assert.equal((await countOf(world, () => world.step())).statuses, 1, wait);
    }
  });

  it('does not wait with rollcall.dev/compat: strict', async () => {
    const world = await joining({
      daemonSet: (object) => ({
        ...object,
        metadata: { ...object.metadata, annotations: { 'rollcall.dev/compat': 'strict' } },
      }),
    });
    assert.equal((await countOf(world, () => world.step())).statuses, 1);
  });

  it('does not keep a run from what else there is to do', async () => {
    const world = await joining();
    world.addNode('node-0004');
    await world.step();
    assert.equal(world.pods.length, 4);
  });

  it('leaves an intent open that a later run settles, also of a pod that is gone again', async () => {
    const world = await joining();
    await world.step();
    const last = world.pods.at(-1);
    assert.ok(last !== undefined);
    world.cluster.remove('pods', last.metadata.name, last.metadata.namespace);
    await world.settle();
    assert.deepEqual(world.owned, ['node-0001', 'node-0002', 'node-0003']);
    assert.equal(world.daemonSet.status?.numberReady, 3);
  });
});
