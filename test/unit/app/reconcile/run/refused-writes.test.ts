/** A.9, S9: a refused write waits for its back-off, every orphan is tried, and claims count against the burst. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Effect, Outcome } from '../../../../../src/core/model/effects.ts';
import { onDelete, putPod } from '../../../../support/foreign-pods.ts';
import { codeOf } from '../../../../support/reconcile-world.ts';
import { TimedWorld } from '../../../../support/timed-world.ts';

const MINUTE_MS = 60_000;
const NO: Outcome = {
  kind: 'refused',
  code: 'admission',
  status: 403,
  message: 'a webhook says no',
};

const nodeName = (index: number): string => `node-${String(index).padStart(4, '0')}`;

function refuse(world: TimedWorld, is: (effect: Effect) => boolean): void {
  world.cluster.hooks.beforeEffect = (effect) =>
    is(effect) ? { kind: 'answer', outcome: NO } : undefined;
}

/** Forty changes of nodes in thirty minutes, with what timers bring. */
async function changeNodes(world: TimedWorld): Promise<void> {
  for (let change = 0; change < 40; change += 1) {
    world.addNode('node-0001', { labels: { turn: String(change) } });
    await world.mirror.sync();
    await world.look();
    await world.play(45_000);
  }
}

/** So many orphans, one on each node. */
function withOrphans(count: number, burstPodsMax = 250): TimedWorld {
  const world = new TimedWorld({ nodes: count, ...onDelete, options: { burstPodsMax } });
  for (let index = 1; index <= count; index += 1) {
    putPod(world, { name: `orphan-${index}`, node: nodeName(index) });
  }
  return world;
}

describe('a write that is refused', () => {
  it('of a status is sent again by its back-off, not by forty changes of nodes', async () => {
    const world = new TimedWorld({ nodes: 2 });
    await world.settle();
    refuse(world, ({ kind }) => kind === 'update-status');
    world.addNode('node-0003');
    const before = world.sent('update-status');
    await changeNodes(world);
    const count = world.sent('update-status') - before;
    assert.ok(count >= 5 && count <= 16, `${count} status writes in 30 minutes`);
    world.cluster.hooks = {};
    await world.play(6 * MINUTE_MS);
    assert.equal(world.daemonSet.status?.numberReady, 3);
  });

  it('of a revision is sent again by its back-off, and at once for another generation', async () => {
    const world = new TimedWorld({ nodes: 2 });
    await world.settle();
    refuse(world, ({ kind }) => kind === 'create-revision');
    world.setImage('example/agent:2');
    const before = world.sent('create-revision');
    await changeNodes(world);
    const count = world.sent('create-revision') - before;
    assert.ok(count >= 5 && count <= 16, `${count} creates of a revision in 30 minutes`);
    world.setImage('example/agent:3');
    await world.step();
    assert.equal(world.sent('create-revision') - before, count + 1, 'a fresh chance');
  });

  it('of an adoption is sent again by its back-off, and nothing is done on top of it', async () => {
    const world = withOrphans(3);
    refuse(world, (effect) => effect.kind === 'patch');
    world.addNode('node-0004');
    await world.step();
    await changeNodes(world);
    const count = world.sent('patch orphan-1');
    assert.ok(count >= 5 && count <= 16, `${count} patches in 30 minutes`);
    assert.equal(world.sent('create-pod'), 0);
    world.cluster.hooks = {};
    await world.play(6 * MINUTE_MS);
    assert.equal(world.owned.length, 4);
  });
});

describe('a trim that is refused', () => {
  it('is sent again by its back-off, and at once for another generation', async () => {
    const world = new TimedWorld({ nodes: 2 });
    await world.settle();
    world.setImage('example/agent:2');
    await world.settle();
    refuse(world, ({ kind }) => kind === 'delete-revision');
    world.edit(() => ({ revisionHistoryLimit: 0 }));
    await changeNodes(world);
    const count = world.sent('delete-revision');
    assert.ok(count >= 5 && count <= 16, `${count} deletes of a revision in 30 minutes`);
    world.edit(() => ({ minReadySeconds: 1 }));
    await world.step();
    await world.play(10_000);
    assert.ok(world.sent('delete-revision') > count, 'a fresh chance');
    world.cluster.hooks = {};
    await world.play(6 * MINUTE_MS);
    assert.equal(world.cluster.list('controllerrevisions').length, 1);
  });
});

describe('two writes that are refused at once', () => {
  it('wait each for itself: neither ends the other’s back-off', async () => {
    const world = withOrphans(3);
    refuse(world, ({ kind }) => kind === 'patch' || kind === 'update-status');
    await changeNodes(world);
    for (const start of ['patch orphan-1', 'update-status']) {
      const count = world.sent(start);
      assert.ok(count >= 5 && count <= 16, `${start}: ${count} times in 30 minutes`);
    }
    world.cluster.hooks = {};
    await world.play(6 * MINUTE_MS);
    assert.equal(world.owned.length, 3);
    assert.equal(world.daemonSet.status?.numberReady, 3);
    const quiet = await world.play(60 * MINUTE_MS);
    assert.equal(quiet.runs, 0, 'nothing is left of either (L5)');
  });
});

describe('claims', () => {
  it('are tried for every pod, also behind a batch of fifty with a failure (spec 2.4)', async () => {
    const world = withOrphans(120);
    refuse(world, (effect) => effect.kind === 'patch' && effect.name === 'orphan-1');
    assert.equal(codeOf(await world.step()), 'claim-refused');
    assert.equal(world.owned.length, 119, 'all but the one that was refused');
  });

  it('are no more than a burst in one run, and nothing is done on top of those that are left (S9)', async () => {
    const world = withOrphans(12, 5);
    world.addNode('node-0013');
    const runs: number[] = [];
    while (world.owned.length < 12 && runs.length < 10) {
      const before = world.sent('patch');
      assert.equal(world.sent('create-pod'), 0, 'claims come first');
      await world.step();
      runs.push(world.sent('patch') - before);
      await world.clock.advance(2_000);
    }
    assert.deepEqual(runs, [5, 5, 2]);
    await world.settle();
    assert.equal(world.owned.length, 13);
  });
});
