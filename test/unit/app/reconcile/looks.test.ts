/** L5, protocol 12: one chain of looks for a key, however many hints; what never succeeds is tried ever more seldom. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Effect, Outcome } from '../../../../src/core/model/effects.ts';
import { nodeOf } from '../../../support/simulated-cluster.ts';
import { TimedWorld } from '../../../support/timed-world.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

async function settled(isCold = false): Promise<TimedWorld> {
  const world = new TimedWorld({ nodes: 3 });
  world.isCold = isCold;
  await world.settle();
  await world.play(MINUTE_MS);
  return world;
}

/** From now on each request of this kind comes to that. */
function answer(world: TimedWorld, kind: Effect['kind'], outcome: Outcome): void {
  world.cluster.hooks.beforeEffect = (effect) =>
    effect.kind === kind ? { kind: 'answer', outcome } : undefined;
}

/** So many hints, a twentieth of a second apart, each with a change of its own. */
async function hint(world: TimedWorld, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    world.addNode('node-0001', { labels: { turn: String(index) } });
    await world.mirror.sync();
    await world.look();
    await world.clock.advance(50);
  }
}

const CONFLICT: Outcome = { kind: 'conflict', message: 'modified' };
const REFUSED: Outcome = {
  kind: 'refused',
  code: 'admission',
  status: 403,
  message: 'a webhook says no',
};

describe('L5: looks of one key', () => {
  for (const isCold of [false, true]) {
    const where = isCold ? 'a process each' : 'one process';
    it(`are one chain after twenty hints in a second (${where})`, async () => {
      const world = await settled(isCold);
      answer(world, 'update-status', CONFLICT);
      world.addNode('node-0004', { labels: {} });
      await hint(world, 20);
      const first = await world.play(10 * MINUTE_MS);
      assert.ok(first.runs >= 3 && first.runs <= 20, `${first.runs} runs in ten minutes`);
      const later = await world.play(HOUR_MS);
      const text = `${later.runs} runs in an hour: one each five minutes`;
      assert.ok(later.runs >= 10 && later.runs <= 13, text);
      assert.equal(later.pending, 1, 'timers: the look alone');
    });
  }

  it('end once what kept them is over, and nothing is left: the expiry has no timer (C.5)', async () => {
    const world = await settled();
    answer(world, 'update-status', CONFLICT);
    world.addNode('node-0004');
    await hint(world, 20);
    await world.play(MINUTE_MS);
    world.cluster.hooks = {};
    await world.play(6 * MINUTE_MS);
    assert.equal(world.daemonSet.status?.numberReady, 4);
    const quiet = await world.play(HOUR_MS);
    assert.equal(quiet.runs, 0);
    assert.equal(quiet.pending, 0);
  });

  it('are one chain as well where nothing can record them: an unreadable registry (protocol 13)', async () => {
    const world = await settled();
    world.registry.hooks = {
      before: () => {
        throw new Error('injected: throttled');
      },
    };
    await hint(world, 20);
    const pending = world.queue.timers.length;
    assert.ok(pending >= 1 && pending <= 2, `${pending} timers after twenty hints`);
  });

  it('that never get any further are told of', async () => {
    const world = await settled();
    answer(world, 'update-status', CONFLICT);
    world.addNode('node-0004');
    await world.step();
    await world.play(HOUR_MS);
    assert.ok(world.metrics.sum('ReconcileStuck', 'status-conflict') > 0);
    assert.ok(world.log.at('warn').some(({ message }) => /reconcile is backing off/.test(message)));
  });

  it('at a pod that lives and that the view never shows go to five minutes, and are told of', async () => {
    const world = await settled();
    world.mirror.hide = (pod) => nodeOf(pod) === 'node-0004';
    world.addNode('node-0004');
    await world.step();
    await world.play(HOUR_MS);
    const { runs } = await world.play(HOUR_MS);
    assert.ok(runs >= 10 && runs <= 13, `${runs} runs in an hour: one each five minutes`);
    assert.equal(world.pods.length, 4, 'and no other pod is made beside it');
    assert.ok(world.metrics.sum('ReconcileStuck', 'own-writes-unseen') > 0);
  });

  it('start afresh for another reason, and while a run gets further', async () => {
    const world = await settled();
    answer(world, 'update-status', CONFLICT);
    world.addNode('node-0004');
    await world.step();
    await world.play(10 * MINUTE_MS);
    world.cluster.hooks = {};
    world.addNode('node-0005');
    await world.step();
    await world.play(5_000);
    assert.equal(world.daemonSet.status?.numberReady, 5, 'no wait of minutes is inherited');
  });

  it('are one chain while own writes stay unseen, however often something else changes', async () => {
    const world = await settled();
    const marks = (await world.view.readMeta(world.mirror.clusterUid))?.marks;
    assert.ok(marks !== undefined);
    world.mirror.hide = (pod) => nodeOf(pod) === 'node-0004';
    world.addNode('node-0004');
    await world.mirror.sync({ marks });
    await world.look();
    world.isSilent = true;
    let timed = 0;
    for (let turn = 0; turn < 4 * 25; turn += 1) {
      timed += (await world.play(250)).runs;
      world.addNode('node-0001', { labels: { turn: String(turn) } });
      await world.mirror.sync({ marks });
      await world.look();
    }
    const text = `${timed} runs by timers in 25 s: each wait is as long as all before`;
    assert.ok(timed >= 2 && timed <= 12, text);
    assert.equal(world.queue.timers.length, 1, 'the chain');
  });

  it('wait through a refused status as long as its back-off says', async () => {
    const world = await settled();
    answer(world, 'update-status', REFUSED);
    world.addNode('node-0004');
    await hint(world, 20);
    const { runs } = await world.play(30 * MINUTE_MS);
    assert.ok(runs >= 5 && runs <= 15, `${runs} runs in half an hour`);
  });
});
