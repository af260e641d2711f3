/** protocol 8, 11–13 and rows 73–76: status, memo, due time, configuration. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Epoch } from '../../../../src/core/model/identifiers.ts';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import { codeOf, ReconcileWorld } from '../../../support/reconcile-world.ts';

const HOUR_MS = 3_600_000;

/** Another run was first: other counts, and a label of somebody else. */
function edit(world: ReconcileWorld): void {
  world.change(({ metadata, status }) => ({
    metadata: { ...metadata, labels: { edited: 'yes' } },
    status: { ...status, numberReady: 7 },
  }));
}

describe('protocol 8: a status conflict', () => {
  it('is never retried with the same counts: the next look recounts', async () => {
    const world = new ReconcileWorld({ nodes: 2 });
    await world.mirror.sync();
    await world.run();
    world.runKubelets();
    await world.mirror.sync();
    world.cluster.hooks = {
      beforeEffect: ({ kind }) => {
        if (kind === 'update-status') edit(world);
        return undefined;
      },
    };
    const before = world.sent('update-status');
    const result = await world.run();
    world.cluster.hooks = {};
    assert.equal(result.kind === 'deferred' && result.code, 'status-conflict');
    assert.equal(world.sent('update-status'), before + 1, 'one try');
    assert.equal((await world.state()).memo, undefined, 'not complete');
    await world.settle();
    assert.equal(world.daemonSet.status?.numberReady, 2);
    assert.deepEqual(world.daemonSet.metadata.labels, { edited: 'yes' });
  });

  it('is not made when the DaemonSet has changed since it was seen', async () => {
    const world = await ReconcileWorld.settled({ nodes: 2 });
    world.addNode('node-0002', { taints: [{ key: 'example.com/reserved', effect: 'NoSchedule' }] });
    await world.mirror.sync();
    edit(world);
    const before = world.sent('update-status');
    const untouched = world.daemonSet;
    assert.equal(codeOf(await world.run()), 'status-conflict');
    assert.deepEqual(world.daemonSet, untouched);
    assert.equal(world.sent('update-status'), before + 1, 'one patch that the server refuses');
  });

  it('that lasts a minute is tried three times in a run, ever more seldom, and ends (row 11)', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    let conflicts = 0;
    world.cluster.hooks = {
      beforeEffect: (effect) => {
        if (effect.kind !== 'update-status') return undefined;
        conflicts += 1;
        return { kind: 'answer', outcome: { kind: 'conflict', message: 'modified' } };
      },
    };
    await world.step();
    assert.equal(conflicts, 3, 'of one run');
    await world.settle({ withinMs: 60_000 });
    assert.ok(conflicts > 10 && conflicts <= 40, `${conflicts} writes in a minute`);
    world.cluster.hooks = {};
    await world.settle();
    assert.equal(world.daemonSet.status?.numberReady, 1);
  });
});

describe('protocol 11: the memo', () => {
  it('holds stamps as read: what came in between is not skipped (rows 73, 76)', async () => {
    const world = await ReconcileWorld.settled({ nodes: 1 });
    world.addNode('node-0002');
    await world.mirror.sync();
    let isDone = false;
    world.view.hooks = {
      before: async ({ operation }) => {
        if (operation !== 'writeState' || isDone) return;
        isDone = true;
        world.addNode('node-0003');
        await world.mirror.sync();
      },
    };
    await world.run();
    world.view.hooks = {};
    assert.notEqual((await world.run()).kind, 'skipped');
    await world.settle();
    assert.equal(world.placed.length, 3);
  });

  it('is not written by a run that the burst cut: what it left is no part of what it saw', async () => {
    const world = new ReconcileWorld({ nodes: 12, options: { burstPodsMax: 5 } });
    await world.mirror.sync();
    assert.equal((await world.run()).kind, 'deferred');
    assert.deepEqual([world.pods.length, (await world.state()).memo], [5, undefined]);
    await world.settle();
    assert.ok((await world.state()).memo !== undefined);
    assert.equal(world.pods.length, 12);
  });

  it('is void in another epoch, era, configuration or release (row 74)', async () => {
    const world = await ReconcileWorld.settled({ nodes: 1 });
    assert.equal((await world.run()).kind, 'skipped');
    world.mirror.epoch = '501' as Epoch;
    world.mirror.seq = 0;
    await world.mirror.syncMeta();
    assert.equal((await world.run()).kind, 'settled', 'numbering began again');
    assert.equal((await world.run()).kind, 'skipped');
    world.mirror.era = 2;
    await world.mirror.syncMeta();
    assert.equal((await world.run()).kind, 'settled');
    world.register({});
    assert.equal((await world.run()).kind, 'settled');
    assert.equal((await world.run()).kind, 'skipped');
    const { options } = world.dependencies;
    assert.equal((await world.run({ options: { ...options, release: 'next' } })).kind, 'settled');
  });

  it('is void where a restored registry counted to the same version again (row 34)', async () => {
    const world = await ReconcileWorld.settled({ nodes: 1 });
    world.register({ isFrozen: true });
    world.addNode('node-0002');
    await world.settle();
    assert.equal((await world.run()).kind, 'skipped', 'frozen, and seen to be');
    const { configVersion } = (await world.registry.readCluster(world.registration.id)) ?? {};
    assert.ok(configVersion !== undefined);
    // A backup from before the freeze, and one more change since: the number is the same.
    world.register({ configVersion, labels: { ring: 'first' } });
    assert.equal((await world.run()).kind, 'acted');
  });

  it('is void where a clock that was ahead wrote it: it does not say when anything is due (row 14)', async () => {
    const world = await ReconcileWorld.settled({ nodes: 1 });
    const state = await world.state();
    assert.ok(state.memo !== undefined);
    const memo = { ...state.memo, ranAtMs: world.clock.nowMs() + HOUR_MS };
    await world.view.writeState(world.ref, { ...state, memo });
    assert.equal((await world.run()).kind, 'settled');
  });

  it('expires within six hours, and then is written anew', async () => {
    const world = await ReconcileWorld.settled({ nodes: 1 });
    const first = await world.state();
    assert.ok(first.memo !== undefined && first.expiryAtMs !== undefined);
    const lifeMs = first.expiryAtMs - first.memo.ranAtMs;
    assert.ok(lifeMs >= 4.8 * HOUR_MS && lifeMs <= 6 * HOUR_MS);
    assert.equal(first.dueAtMs, first.expiryAtMs, 'resync looks at it (ADR 0034)');
    assert.ok(!world.queue.timers.some(({ dueAtMs }) => dueAtMs === first.expiryAtMs));
    await world.clock.advance(first.expiryAtMs - world.clock.nowMs());
    await world.mirror.syncMeta();
    assert.equal((await world.run()).kind, 'settled');
    assert.ok(((await world.state()).memo?.ranAtMs ?? 0) > first.memo.ranAtMs);
  });

  it('ends together for keys of a cluster that ran together, and at another time for each cluster', async () => {
    const lifeMsOf = async (cluster: string, seed: number): Promise<number> => {
      const world = await ReconcileWorld.settled({ cluster, nodes: 1, random: seededRandom(seed) });
      const { memo, expiryAtMs = 0 } = await world.state();
      return expiryAtMs - (memo?.ranAtMs ?? 0);
    };
    assert.equal(await lifeMsOf('a', 1), await lifeMsOf('a', 2));
    const names = Array.from({ length: 40 }, (_, index) => `cluster-${String(index)}`);
    const lives = await Promise.all(names.map((name) => lifeMsOf(name, 1)));
    assert.ok(lives.every((lifeMs) => lifeMs >= 4.8 * HOUR_MS && lifeMs <= 6 * HOUR_MS));
    const quarters = new Set(lives.map((lifeMs) => Math.floor(lifeMs / (HOUR_MS / 4))));
    assert.equal(quarters.size, 5, 'a fifth of six hours has five quarters of an hour in it');
  });

  it('recognises the status that this key wrote itself: no run for its echo', async () => {
    const world = await ReconcileWorld.settled({ nodes: 1 });
    const name = world.pods[0]?.metadata.name ?? '';
    world.setPhase(name, 'Pending');
    await world.mirror.sync();
    assert.equal((await world.run()).kind, 'acted');
    await world.mirror.sync();
    assert.equal((await world.run()).kind, 'skipped', 'the echo of our own status');
    edit(world);
    await world.mirror.sync();
    assert.equal((await world.run()).kind, 'acted', 'somebody else wrote');
  });

  it('is not written by an unreadable registry, which counts as frozen (protocol 13)', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    await world.mirror.sync();
    world.registry.hooks = {
      before: () => {
        throw new Error('throttled');
      },
    };
    assert.equal(codeOf(await world.run()), 'registry-unreadable');
    assert.deepEqual(world.cluster.requests, []);
    assert.equal(world.sent('create'), 0);
    assert.ok(
      !world.view.calls.some(({ isWrite, operation }) => isWrite && /State|Verd/.test(operation)),
    );
    assert.equal(world.queue.timers.length, 1);
  });
});

describe('protocol 12: the due time', () => {
  it('of a failed pod in back-off is sent before it is recorded', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    const order: string[] = [];
    const { queue, view } = world.dependencies;
    world.view.hooks = {
      before: ({ operation }) => {
        if (operation === 'writeState') order.push('record');
      },
    };
    await world.mirror.sync();
    await world.run({
      queue: {
        sendHints: (...all) => queue.sendHints(...all),
        sendTimers: (timers) => {
          order.push('send');
          return queue.sendTimers(timers);
        },
      },
      view,
    });
    assert.deepEqual(order, ['record', 'send', 'record'], 'intents, timers, outcomes');
  });

  it('is sent again by a timer that comes within ten seconds of it and is skipped, under another id', async () => {
    const world = await ReconcileWorld.settled({ nodes: 1 });
    const { expiryAtMs = 0 } = await world.state();
    await world.clock.advance(expiryAtMs - world.clock.nowMs() - 60_000);
    const before = world.queue.timers.length;
    assert.equal((await world.run()).kind, 'skipped');
    assert.equal(world.queue.timers.length, before);
    await world.clock.advance(51_000);
    assert.equal((await world.run()).kind, 'skipped');
    assert.equal(world.queue.timers.length, before, 'a hint that no timer became took none away');
    world.reason = 'due';
    assert.equal((await world.run()).kind, 'skipped');
    assert.equal(world.queue.timers.length, before + 1);
    const ids = world.queue.timers.map(({ timerId }) => timerId);
    assert.equal(new Set(ids).size, ids.length);
    await world.clock.advance(7_500);
    assert.notEqual((await world.run()).kind, 'skipped', 'due means now ≥ due − 2 s');
  });

  it('follows the back-off curve of a failing pod across restarts (spec faults 44)', async () => {
    const world = await ReconcileWorld.settled({ nodes: 1 });
    await world.clock.advance(HOUR_MS);
    const deletions: number[] = [];
    for (let failure = 0; failure < 4; failure += 1) {
      const name = world.pods[0]?.metadata.name ?? '';
      world.setPhase(name, 'Failed');
      const uid = world.pods[0]?.metadata.uid;
      world.idleNodes.add('node-0001');
      await world.settle({ withinMs: 0 });
      while (world.pods[0]?.metadata.uid === uid) {
        await world.clock.advance(5);
        await world.settle({ withinMs: 0 });
      }
      deletions.push(world.clock.nowMs());
      // The look after the create: nothing is left that the next failure would come together with.
      await world.settle();
    }
    const gaps = deletions.slice(1).map((at, index) => at - (deletions[index] ?? 0));
    assert.ok(
      gaps.every((gap, index) => gap >= 1_000 * 2 ** index * 0.99),
      gaps.join(', '),
    );
  });

  it('of minReadySeconds comes from all pods', async () => {
    const world = await ReconcileWorld.settled({
      nodes: 2,
      daemonSet: (object) => ({ ...object, spec: { ...object.spec, minReadySeconds: 30 } }),
    });
    assert.equal(world.daemonSet.status?.numberAvailable, 2);
  });
});
