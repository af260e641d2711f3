/** spec 2.12: what is written of a status, when, and what is left as it stands. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DaemonSetObject, DaemonSetStatus } from '@rollcall/base/objects.ts';
import { ReconcileWorld } from '../../../support/reconcile-world.ts';

const statusOf = (world: ReconcileWorld): Partial<DaemonSetStatus> => world.daemonSet.status ?? {};

const settled = async (
  nodes: number,
  daemonSet?: (object: DaemonSetObject) => DaemonSetObject,
): Promise<ReconcileWorld> => {
  const world = await ReconcileWorld.settled({
    nodes,
    ...(daemonSet === undefined ? {} : { daemonSet }),
  });
  return world;
};

/** Plays a rollout in steps of 100 ms; answers the longest time without a status write, and the runs. */
async function playRollout(
  world: ReconcileWorld,
): Promise<{ readonly stillMs: number; readonly writes: number; readonly runs: number }> {
  const first = world.sent('update-status');
  let lastWriteMs = world.clock.nowMs();
  let writes = first;
  let stillMs = 0;
  for (let runs = 1; runs <= 2_000; runs += 1) {
    await world.clock.advance(100);
    world.runKubelets();
    await world.step();
    if (world.sent('update-status') > writes) {
      stillMs = Math.max(stillMs, world.clock.nowMs() - lastWriteMs);
      lastWriteMs = world.clock.nowMs();
      writes = world.sent('update-status');
    }
    const { updatedNumberScheduled = 0, numberAvailable = 0 } = statusOf(world);
    const desired = statusOf(world).desiredNumberScheduled ?? 0;
    const isObserved = statusOf(world).observedGeneration === world.daemonSet.metadata.generation;
    if (isObserved && updatedNumberScheduled === desired && numberAvailable === desired) {
      return { stillMs, writes: writes - first, runs };
    }
  }
  throw new Error(`no end: ${JSON.stringify(statusOf(world))}`);
}

const COUNTS = {
  desiredNumberScheduled: 40,
  currentNumberScheduled: 40,
  numberReady: 40,
  numberAvailable: 40,
  updatedNumberScheduled: 40,
  numberMisscheduled: 0,
  numberUnavailable: 0,
};

describe('a long rollout (kubectl rollout status)', () => {
  it('moves the status within about a second, although every run touches pods', async () => {
    const world = await settled(40);
    world.setImage('example/agent:2');
    const { stillMs, writes, runs } = await playRollout(world);
    assert.ok(runs > 40, `${runs} runs`);
    assert.ok(stillMs <= 1_300, `stood still for ${stillMs} ms`);
    assert.ok(writes < runs, `${writes} writes in ${runs} runs`);
    await world.settle();
    assert.deepEqual({ ...statusOf(world), ...COUNTS }, statusOf(world), 'exact at the end');
    assert.deepEqual(world.cluster.violations, []);
  });

  it('observes a new generation at once, also in a run that touches pods', async () => {
    const world = await settled(3);
    world.setImage('example/agent:2');
    await world.step();
    assert.equal(statusOf(world).observedGeneration, 2);
  });

  it('writes in every run with compat: strict, as the built-in controller does', async () => {
    const world = await settled(10, (object) => ({
      ...object,
      metadata: { ...object.metadata, annotations: { 'rollcall.dev/compat': 'strict' } },
    }));
    world.setImage('example/agent:2');
    const { stillMs } = await playRollout(world);
    assert.ok(stillMs <= 400, `stood still for ${stillMs} ms`);
  });
});

describe('what a status write leaves alone', () => {
  const conditions = [{ type: 'example.com/Checked', status: 'True', reason: 'Somebody' }];

  it('upstream never tests: conditions preserved', async () => {
    const world = await settled(3);
    world.change(({ status }) => ({ status: { ...status, conditions, 'example.com/other': 7 } }));
    world.addNode('node-0009');
    await world.settle();
    const status = statusOf(world) as Record<string, unknown>;
    assert.equal(status['desiredNumberScheduled'], 4);
    assert.deepEqual(status['conditions'], conditions);
    assert.equal(status['example.com/other'], 7);
  });

  it('keeps collisionCount as it stands; a raise that was not seen makes the write a conflict', async () => {
    const world = await settled(3);
    world.change(({ status }) => ({ status: { ...status, collisionCount: 2 } }));
    await world.settle();
    world.addNode('node-0009');
    await world.step();
    world.runKubelets();
    await world.mirror.sync();
    world.change(({ status }) => ({ status: { ...status, collisionCount: 3 } }));
    await world.run();
    assert.equal(statusOf(world).collisionCount, 3);
    await world.settle();
    assert.equal(statusOf(world).collisionCount, 3);
    assert.equal(statusOf(world).numberReady, 4);
  });

  it('nothing is written while nothing changes', async () => {
    const world = await settled(3);
    const before = world.sent('update-status');
    for (let round = 0; round < 5; round += 1) {
      await world.clock.advance(2_000);
      await world.step();
    }
    assert.equal(world.sent('update-status'), before);
  });
});

describe('counters that only time or nodes move', () => {
  const minReady = (object: DaemonSetObject): DaemonSetObject => ({
    ...object,
    spec: { ...object.spec, minReadySeconds: 10 },
  });

  it('upstream never tests: delayed enqueue after Ready', async () => {
    const world = new ReconcileWorld({ nodes: 2, daemonSet: minReady });
    await world.step();
    world.runKubelets();
    const readyAtMs = world.clock.nowMs();
    await world.step();
    assert.equal(statusOf(world).numberAvailable, 0);
    await world.settle({ withinMs: 9_000 });
    assert.equal(statusOf(world).numberReady, 2);
    assert.equal(statusOf(world).numberAvailable, 0);
    const timers = world.queue.timers.map(({ dueAtMs }) => dueAtMs);
    assert.ok(timers.includes(readyAtMs + 10_000), `timers ${timers.join(', ')}`);
    await world.clock.advance(readyAtMs + 10_000 - world.clock.nowMs());
    await world.run();
    assert.equal(statusOf(world).numberAvailable, 2, 'no event came, only the timer');
  });

  it('upstream never tests: numberMisscheduled re-enqueue (#132477)', async () => {
    const world = await settled(2);
    const taints = [{ key: 'example.com/reserved', effect: 'NoSchedule' }];
    world.addNode('node-0001', { taints });
    await world.settle();
    assert.equal(statusOf(world).numberMisscheduled, 1);
    assert.equal(statusOf(world).desiredNumberScheduled, 1);
    world.addNode('node-0001');
    await world.settle();
    assert.equal(statusOf(world).numberMisscheduled, 0, 'the pod was kept, and counts again');
    assert.equal(statusOf(world).desiredNumberScheduled, 2);
    assert.deepEqual(world.owned, ['node-0001', 'node-0002']);
  });
});

describe('a run that may not act', () => {
  it('does not observe a generation (spec 2.3 step 7)', async () => {
    const world = await settled(2);
    world.register({ isFrozen: true });
    world.edit((spec) => ({ ...spec, minReadySeconds: 5 }));
    await world.settle({ withinMs: 20_000 });
    assert.equal(statusOf(world).observedGeneration, 1);
    world.register({ configVersion: 9 });
    await world.settle();
    assert.equal(statusOf(world).observedGeneration, 2);
  });
});

describe('row 71: a DaemonSet seen before etcd was restored', () => {
  it('gets no status, although the API server has its version again, for another generation (S7)', async () => {
    const world = await settled(2);
    const backup = world.cluster.backup();
    world.edit((spec) => ({ ...spec, minReadySeconds: 1 }));
    world.edit((spec) => ({ ...spec, minReadySeconds: 2 }));
    await world.mirror.sync();
    const lost = world.daemonSet.metadata;
    world.cluster.restore(backup);
    world.addNode('node-0002');
    world.edit((spec) => ({ ...spec, minReadySeconds: 3 }));
    const { resourceVersion, generation } = world.daemonSet.metadata;
    assert.deepEqual([resourceVersion, generation], [lost.resourceVersion, 2]);
    const untouched = world.daemonSet;
    const result = await world.run();
    assert.equal(result.kind === 'deferred' ? result.code : result.kind, 'status-conflict');
    assert.deepEqual(world.daemonSet, untouched);
    assert.deepEqual(world.cluster.violations, []);
    world.mirror.era += 1;
    await world.settle();
    assert.equal(statusOf(world).observedGeneration, 2);
  });
});
