/** The schedule: silent clusters, snapshots, lost timers, a hint for every key (protocol 17, 23). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterId, clusterUid } from '../../../../src/core/model/identifiers.ts';
import { resyncClusters, type ResyncResult } from '../../../../src/app/resync/resync.ts';
import {
  defaultResyncOptions,
  type ResyncDependencies,
  createResyncProcessCache,
  type ResyncProcessCache,
} from '../../../../src/app/resync/dependencies.ts';
import { ReconcileWorld } from '../../../support/reconcile-world.ts';

const HOUR_MS = 3_600_000;
/** How often the schedule fires; nothing rests on it. */
const TICK_MS = 60_000;

/** Of a process that never walked before, unless it is given what one remembers. */
function dependenciesOf(
  world: ReconcileWorld,
  processCache = createResyncProcessCache(),
): ResyncDependencies {
  const { registry, view, connector, queue, clock, log, metrics } = world;
  const { random } = world.dependencies;
  const options = defaultResyncOptions;
  return { registry, view, connector, queue, processCache, clock, random, log, metrics, options };
}

const tick = (world: ReconcileWorld, processCache?: ResyncProcessCache): Promise<ResyncResult> =>
  resyncClusters(
    { deadlineMs: world.clock.monotonicMs() + 50_000 },
    dependenciesOf(world, processCache),
  );

describe('resync', () => {
  it('hints every key four times a day, and no more', async () => {
    const world = await ReconcileWorld.settled({ nodes: 1 });
    let hints = 0;
    for (let elapsedMs = 0; elapsedMs < 24 * HOUR_MS; elapsedMs += TICK_MS) {
      const ticked = await tick(world);
      hints += ticked.hints;
      if (ticked.hints > 0) await world.step();
      await world.clock.advance(TICK_MS);
    }
    assert.ok(hints >= 4 && hints <= 8, `${hints} hints in a day`);
  });

  it('hints a key whose due time passed: its timer was lost (L2)', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    world.cluster.hooks = { admitPod: () => ({ code: 'admission' }) };
    await world.mirror.sync();
    await world.run();
    world.queue.clear();
    await world.clock.advance(defaultResyncOptions.overdueGraceMs + 10_000);
    let overdue = 0;
    for (let elapsedMs = 0; elapsedMs < 900_000; elapsedMs += TICK_MS) {
      overdue += (await tick(world)).overdue;
      await world.clock.advance(TICK_MS);
    }
    assert.ok(overdue >= 1);
    assert.deepEqual(world.queue.hintedKeys(), ['a/system/agents']);
  });

  it('finds a lost timer a quarter of an hour after its due time, and some minutes for its turn (protocol 12)', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    world.cluster.hooks = { admitPod: () => ({ code: 'admission' }) };
    await world.mirror.sync();
    await world.run();
    world.queue.clear();
    let overdue = 0;
    for (let minute = 0; minute < 20 && overdue === 0; minute += 1) {
      await world.clock.advance(TICK_MS);
      ({ overdue } = await tick(world));
    }
    assert.equal(overdue, 1);
  });

  it('asks for a snapshot while the view is not whole, at most once per interval', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    await world.mirror.sync({ isComplete: false });
    await tick(world);
    await tick(world);
    assert.equal(world.cluster.snapshotRequests.length, 1);
    await world.clock.advance(defaultResyncOptions.snapshotRequestEveryMs);
    await tick(world);
    assert.equal(world.cluster.snapshotRequests.length, 2);
    assert.equal(new Set(world.cluster.snapshotRequests).size, 2, 'each under an id of its own');
  });

  it('asks where there is no view at all: a quiet cluster would say nothing for ten minutes (row 34)', async () => {
    const world = await ReconcileWorld.settled({ nodes: 1 });
    world.view.lose('');
    world.cluster.snapshotRequests.length = 0;
    await tick(world);
    await tick(world);
    const [first, ...again] = world.cluster.snapshotRequests;
    assert.ok(first !== undefined);
    assert.deepEqual(new Set(again), new Set([first]), 'one id, which a watcher answers once');
    await world.clock.advance(defaultResyncOptions.snapshotRequestEveryMs);
    await tick(world);
    assert.notEqual(world.cluster.snapshotRequests.at(-1), first);
  });

  it('asks nothing of a cluster that is only observed', async () => {
    const world = new ReconcileWorld({ nodes: 1, mode: 'observe' });
    await world.mirror.sync({ isComplete: false });
    assert.equal((await tick(world)).snapshotRequests, 0);
    assert.equal(world.connector.connects, 0);
  });

  it('tells of a cluster that was not heard of', async () => {
    const world = await ReconcileWorld.settled({ nodes: 1 });
    await world.clock.advance(HOUR_MS);
    await tick(world);
    assert.equal(world.metrics.sum('ResyncClusters', 'silent'), 1);
    assert.equal(world.log.at('warn').length, 1);
  });

  it('says after every walk how many clusters are in trouble, none too, and of how many', async () => {
    const world = await ReconcileWorld.settled({ nodes: 1 });
    const silentInTurn = async (): Promise<readonly (number | undefined)[]> => {
      await tick(world);
      assert.equal(world.metrics.recorded('RegisteredClusters').at(-1), 1);
      return world.metrics.recorded('TroubledClusters').slice(-1);
    };
    assert.deepEqual(await silentInTurn(), [0]);
    await world.clock.advance(defaultResyncOptions.silenceBoundMs + 1);
    assert.deepEqual(await silentInTurn(), [1]);
    assert.deepEqual(await silentInTurn(), [1], 'as long as it is silent');
    await world.mirror.sync();
    assert.deepEqual(await silentInTurn(), [0], 'heard of again');
    assert.equal(world.metrics.recorded('TroubledClusters').length, 4);
    assert.equal(world.metrics.sum('ClusterTroubles', 'silent'), 1, 'it fell silent once');
  });

  it('counts what began once, though another invocation took the walk over', async () => {
    const world = await ReconcileWorld.settled({ nodes: 1 });
    await world.clock.advance(HOUR_MS);
    let takenOver: Promise<ResyncResult> | undefined;
    world.view.hooks = {
      before: async ({ operation, target }) => {
        if (operation !== 'readMeta' || takenOver !== undefined) return;
        assert.notEqual(target, '');
        await world.clock.advance(2 * TICK_MS);
        takenOver = tick(world);
        await takenOver;
      },
    };
    await tick(world);
    assert.ok(takenOver !== undefined);
    assert.equal(world.metrics.sum('ResyncClusters', 'silent'), 2, 'both have looked');
    assert.equal(world.metrics.sum('ClusterTroubles', 'silent'), 1);
  });

  it('passes over a cluster that fails, with a warning (protocol 23)', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    world.registry.seed({ ...world.registration, id: clusterId('broken') });
    world.registry.hooks = {
      before: ({ operation, target }) => {
        if (operation === 'readCluster' && target === 'broken') throw new Error('throttled');
      },
    };
    const result = await tick(world);
    assert.equal(result.clusters, 2);
    assert.equal(result.failedClusters, 1);
    assert.equal(result.walk, 'over');
  });

  it('goes on where the last invocation ended, in whichever process, when time is over', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    for (let index = 0; index < 20; index += 1) {
      const id = clusterId(`c${String(index).padStart(2, '0')}`);
      world.registry.seed({ ...world.registration, id });
    }
    const results: ResyncResult[] = [];
    do {
      const deadlineMs = world.clock.monotonicMs();
      results.push(await resyncClusters({ deadlineMs }, dependenciesOf(world)));
    } while (results.at(-1)?.walk !== 'over');
    assert.deepEqual(
      results.map(({ walk, clusters }) => [walk, clusters]),
      [
        ['unfinished', 8],
        ['unfinished', 8],
        ['over', 5],
      ],
    );
  });

  it('F11: a tick that comes late, or not at all, costs a hint its hour, never its turn', async () => {
    for (const gapMs of [61_000, 90_000, 180_000, HOUR_MS]) {
      const world = new ReconcileWorld({ nodes: 1 });
      await world.mirror.sync();
      await tick(world);
      let hints = 0;
      for (let elapsedMs = 0; elapsedMs < 24 * HOUR_MS; elapsedMs += gapMs) {
        await world.clock.advance(gapMs);
        hints += (await tick(world)).hints;
      }
      assert.equal(hints, 4, `ticks ${gapMs} ms apart`);
    }
  });

  it('F11: two schedules at one moment walk once', async () => {
    const world = await ReconcileWorld.settled({ nodes: 1 });
    await tick(world);
    await world.clock.advance(defaultResyncOptions.hintEveryMs);
    const results = await Promise.all([tick(world), tick(world)]);
    assert.deepEqual(results.map(({ walk, hints }) => `${walk} ${hints}`).sort(), [
      'held 0',
      'over 1',
    ]);
  });

  it('hints again what a crash in the middle of a turn may have lost, under the same ids (L2)', async () => {
    const world = await ReconcileWorld.settled({ nodes: 1 });
    await tick(world);
    await world.clock.advance(defaultResyncOptions.hintEveryMs);
    world.queue.clear();
    // All hints are out; the process is gone before the walk was written.
    world.view.hooks = {
      before: ({ operation }) => {
        if (operation === 'writeWalk' && world.queue.sends.length > 0) throw new Error('injected');
      },
    };
    await assert.rejects(tick(world), /injected/);
    world.view.hooks = {};
    await world.clock.advance(TICK_MS);
    assert.equal((await tick(world)).hints, 1);
    assert.equal(world.queue.sends.length, 2);
    assert.equal(world.queue.hints.length, 1, 'the queue swallows the repeat');
    await world.clock.advance(TICK_MS);
    assert.equal((await tick(world)).hints, 0, 'once');
  });

  it('protocol 23: a cluster that fails at its turn has it in the next walk', async () => {
    const world = await ReconcileWorld.settled({ nodes: 1 });
    await tick(world);
    await world.clock.advance(defaultResyncOptions.hintEveryMs);
    world.queue.failNext(1);
    const failed = await tick(world);
    assert.deepEqual([failed.failedClusters, failed.hints], [1, 0]);
    await world.clock.advance(TICK_MS);
    const next = await tick(world);
    assert.deepEqual([next.failedClusters, next.hints], [0, 1]);
  });

  it('protocol 23: clusters whose API servers hang hold neither the cursor nor the others (L3, row 61)', async () => {
    const world = await ReconcileWorld.settled({ nodes: 1 });
    const meta = await world.view.readMeta(world.registration.clusterUid);
    assert.ok(meta !== undefined);
    for (let index = 0; index < 40; index += 1) {
      const id = `hung-${String(index)}`;
      const uid = clusterUid(`uid-of-${id}`);
      world.registry.seed({ ...world.registration, id: clusterId(id), clusterUid: uid });
      await world.view.writeMeta({ ...meta, clusterUid: uid, version: 0, isComplete: false });
    }
    let isWalked = false;
    const connector: ResyncDependencies['connector'] = {
      connect: async () => {
        await world.clock.sleep(8_000);
        return { kind: 'refused', refusal: { kind: 'unavailable', message: 'ETIMEDOUT' } };
      },
      forget: () => undefined,
    };
    const dependencies = { ...dependenciesOf(world), connector };
    const startedMs = world.clock.monotonicMs();
    const round = resyncClusters({ deadlineMs: startedMs + 25_000 }, dependencies);
    void round.then(() => (isWalked = true));
    await world.clock.advance(8_100);
    assert.ok(isWalked, 'one time-out for all of them, not one for each page');
    const { clusters, walk } = await round;
    assert.deepEqual({ clusters, walk }, { clusters: 41, walk: 'over' });
  });

  it('asks no API server whose breaker is open', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    await world.mirror.sync({ isComplete: false });
    const open = { untilMs: world.clock.nowMs() + 5_000, delayMs: 5_000 };
    const breaker = { version: 0, failures: 0, openings: 1, open };
    assert.equal(await world.view.writeBreaker(world.registration.clusterUid, breaker), 'written');
    await tick(world);
    assert.equal(world.connector.connects, 0);
    await world.clock.advance(5_000);
    await tick(world);
    assert.equal(world.cluster.snapshotRequests.length, 1);
  });
});

describe('a warm resync', () => {
  /** Reads of registrations in so many minutes, of a process that walked before. */
  async function readsIn(minutes: number, world: ReconcileWorld): Promise<number> {
    const processCache = createResyncProcessCache();
    await tick(world, processCache);
    let reads = 0;
    world.registry.hooks = {
      before: ({ operation }) => {
        if (operation === 'readCluster') reads += 1;
      },
    };
    for (let minute = 0; minute < minutes; minute += 1) {
      await world.clock.advance(TICK_MS);
      await world.mirror.sync();
      await tick(world, processCache);
    }
    return reads;
  }

  it('reads a registration only for what has a turn', async () => {
    const world = await ReconcileWorld.settled({ nodes: 1 });
    const reads = await readsIn(60, world);
    assert.ok(reads >= 4 && reads <= 5, `${String(reads)} reads in an hour`);
  });

  it('reads it of what fell silent: the id may have been registered for another cluster', async () => {
    const world = await ReconcileWorld.settled({ nodes: 1 });
    const processCache = createResyncProcessCache();
    await tick(world, processCache);
    await world.clock.advance(defaultResyncOptions.silenceBoundMs + 1);
    // One of two minutes has no turn.
    const silentInTurn = async (): Promise<number> => {
      const before = world.metrics.sum('ResyncClusters', 'silent');
      await tick(world, processCache);
      return world.metrics.sum('ResyncClusters', 'silent') - before;
    };
    assert.equal(await silentInTurn(), 1);
    await world.clock.advance(TICK_MS);
    assert.equal(await silentInTurn(), 1);
    const other = clusterUid('uid-of-another');
    world.registry.seed({ ...world.registration, clusterUid: other });
    assert.equal(await silentInTurn(), 0);
  });

  it('asks for the snapshot of a view that is not whole any more', async () => {
    const world = await ReconcileWorld.settled({ nodes: 1 });
    const processCache = createResyncProcessCache();
    await tick(world, processCache);
    await world.mirror.sync({ isComplete: false });
    assert.equal((await tick(world, processCache)).snapshotRequests, 1);
  });

  it('finds at its next turn that the id was registered for another cluster', async () => {
    const world = await ReconcileWorld.settled({ nodes: 1 });
    const processCache = createResyncProcessCache();
    await tick(world, processCache);
    const other = clusterUid('uid-of-another');
    world.registry.seed({ ...world.registration, clusterUid: other });
    for (let elapsedMs = 0; elapsedMs < 900_000; elapsedMs += TICK_MS) {
      await world.clock.advance(TICK_MS);
      await tick(world, processCache);
    }
    assert.deepEqual([...processCache.clusterUids.values()], [other]);
  });
});
