/** protocol 1–3: what a run may conclude from the view, and what it does while it may not. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resourceVersion } from '../../../../src/core/model/identifiers.ts';
import { codeOf, ReconcileWorld, phaseOf } from '../../../support/reconcile-world.ts';

const effectsOf = (world: ReconcileWorld): readonly string[] =>
  world.cluster.requests.filter((request) => /^(create-pod|delete-pod|patch|update)/.test(request));

describe('protocol 1: silence with work to do', () => {
  it('defers, and after the cap acts on live reads of each node', async () => {
    const world = await ReconcileWorld.settled({ nodes: 2 });
    world.addNode('node-0003');
    await world.mirror.sync({ heardAtMs: {} });
    world.cluster.remove('nodes', 'node-0003');
    world.addNode('node-0004');
    world.addNode('node-0005');
    await world.mirror.sync({ heardAtMs: {} });
    world.cluster.remove('nodes', 'node-0004');
    world.cluster.change('nodes', { namespace: '', name: 'node-0005' }, (node) => ({
      ...node,
      metadata: { ...node.metadata, deletionTimestamp: new Date(0).toISOString() },
    }));
    const first = await world.run();
    assert.equal(first.kind === 'deferred' && first.code, 'cluster-silent');
    await world.clock.advance(31_000);
    await world.run();
    assert.ok(world.cluster.requests.includes('GET nodes node-0004'));
    assert.deepEqual(
      world.placed,
      ['node-0001', 'node-0002'],
      'gone or being deleted live: no pod',
    );
  });

  it('ends by the cap however often the key is looked at meanwhile: it counts from the first deferral', async () => {
    const world = await ReconcileWorld.settled({ nodes: 2 });
    world.addNode('node-0003');
    await world.mirror.sync({ heardAtMs: {} });
    const kinds: string[] = [];
    for (let look = 0; look < 5; look += 1) {
      kinds.push((await world.run()).kind);
      await world.clock.advance(8_000);
    }
    assert.deepEqual(kinds.slice(0, 4), Array<string>(4).fill('deferred'));
    assert.deepEqual(world.placed, ['node-0001', 'node-0002', 'node-0003']);
  });

  it('without work is no deferral: the run is complete', async () => {
    const world = await ReconcileWorld.settled({ nodes: 2 });
    world.cluster.change('nodes', { namespace: '', name: 'node-0001' }, (node) => ({
      ...node,
      metadata: { ...node.metadata, labels: { irrelevant: 'yes' } },
    }));
    await world.mirror.sync({ heardAtMs: {} });
    assert.equal((await world.run()).kind, 'settled');
  });
});

describe('S3, protocol 1: a deletion that spends availability', () => {
  const NODES = 4;

  async function hear(world: ReconcileWorld, silentMs: number): Promise<void> {
    const nowMs = world.clock.nowMs();
    const heardAtMs = { Node: nowMs, DaemonSet: nowMs, ControllerRevision: nowMs };
    await world.mirror.sync({ heardAtMs: { ...heardAtMs, Pod: nowMs - silentMs } });
  }

  /** A rolling update of ready pods begins; pods were last heard of so long ago. */
  async function roll(silentMs: number): Promise<ReconcileWorld> {
    const world = await ReconcileWorld.settled({ nodes: NODES });
    await world.clock.advance(600_000);
    world.setImage('example/agent:2');
    world.cluster.requests.length = 0;
    // The new revision is made and seen before anything goes for it.
    for (let round = 0; round < 4; round += 1) {
      await hear(world, silentMs);
      const result = await world.run();
      const isSilent = result.kind === 'deferred' && result.code === 'cluster-silent';
      assert.equal(isSilent && silentMs < 90_000, false);
      if (isSilent || world.sent('delete-pod') > 0) return world;
    }
    throw new Error('nothing was to be deleted');
  }

  it('rests on a view whose pods were heard of within 90 s, and on no list then', async () => {
    const world = await roll(80_000);
    assert.equal(world.sent('LIST whole pods'), 0);
    assert.equal(world.sent('delete-pod'), 1);
  });

  it('else waits for the watcher, and then goes by one live list of all its pods', async () => {
    const world = await roll(100_000);
    assert.equal(world.sent('delete-pod'), 0);
    await world.clock.advance(31_000);
    await world.run();
    assert.equal(world.sent('LIST whole pods'), 1);
    assert.equal(world.sent('delete-pod'), 1);
  });

  it('is left out when the live list shows the budget spent, whatever the view shows', async () => {
    const world = await roll(100_000);
    for (const pod of world.pods.slice(1)) world.setPhase(pod.metadata.name, 'Pending');
    await world.clock.advance(31_000);
    await world.run();
    assert.equal(world.sent('LIST whole pods'), 1);
    const ready = world.pods.filter((pod) => phaseOf(pod) === 'Running');
    assert.equal(ready.length, 1, 'the only ready pod stays');
    assert.equal(ready[0]?.metadata.deletionTimestamp, undefined);
  });

  it('is left out when the list cannot be had', async () => {
    const world = await roll(100_000);
    await world.clock.advance(31_000);
    world.cluster.hooks.onRead = (what) =>
      what.startsWith('LIST')
        ? { kind: 'unavailable', message: 'no answer', isRefused: false }
        : undefined;
    const result = await world.run();
    assert.equal(result.kind, 'deferred');
    assert.equal(world.sent('delete-pod'), 0);
  });
});

describe('protocol 2: a view that is being written', () => {
  it('is read again at most three times, then a timer looks later (no effect meanwhile)', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    await world.mirror.sync();
    world.addNode('node-0002');
    await world.mirror.syncSlices();
    assert.equal(codeOf(await world.run()), 'view-moving');
    const reads = world.view.calls.filter(({ operation }) => operation === 'readName').length;
    assert.equal(world.queue.timers.length, 1);
    assert.deepEqual(effectsOf(world), []);
    assert.ok(reads >= 4);
  });

  /** What stands for good above what covers it: of an era that META lost, of a position that was lost. */
  const TORN: Readonly<Record<string, (world: ReconcileWorld) => Promise<void>>> = {
    'of a later era': async (world) => {
      world.mirror.era = 3;
      world.addNode('node-0002');
      await world.mirror.syncSlices();
      world.mirror.era = 1;
      for (let seq = 0; seq < 2; seq += 1) await world.mirror.sync();
    },
    'whose position was lost': async (world) => {
      await world.mirror.sync();
      world.view.lose('POSITION');
    },
  };

  for (const [what, tear] of Object.entries(TORN)) {
    it(`is torn for good by a stamp ${what}: asks for a snapshot, looks in a minute (L1, L5)`, async () => {
      const world = new ReconcileWorld({ nodes: 1 });
      await world.mirror.sync();
      await tear(world);
      for (let run = 0; run < 3; run += 1) {
        assert.equal(codeOf(await world.run()), 'view-moving');
      }
      assert.equal(new Set(world.cluster.snapshotRequests).size, 1);
      assert.deepEqual(effectsOf(world), []);
      assert.equal(world.queue.timers.length, 1);
      const [timer] = world.queue.timers;
      assert.equal(timer !== undefined && timer.dueAtMs - world.clock.nowMs(), 60_000);
    });
  }

  it('is no reason to ask while the next message is being applied, in this era or a new one', async () => {
    for (const era of [1, 2]) {
      const world = new ReconcileWorld({ nodes: 1 });
      await world.mirror.sync();
      world.mirror.era = era;
      world.addNode('node-0002');
      await world.mirror.syncSlices();
      assert.equal(codeOf(await world.run()), 'view-moving');
      assert.deepEqual(world.cluster.snapshotRequests, []);
    }
  });

  it('asks nobody while META says incomplete: the manifest hints it', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    await world.mirror.sync();
    await world.mirror.sync({ isComplete: false });
    world.view.lose('POSITION');
    assert.equal(codeOf(await world.run()), 'view-incomplete');
    assert.deepEqual(world.cluster.snapshotRequests, []);
    assert.deepEqual(world.queue.timers, []);
  });

  it('is used once META is written: the re-read sees it whole', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    await world.mirror.sync();
    world.addNode('node-0002');
    await world.mirror.syncSlices();
    let slices = 0;
    world.view.hooks = {
      after: async ({ operation }) => {
        if (operation !== 'readSlice') return;
        slices += 1;
        if (slices === 2) {
          world.view.hooks = {};
          await world.mirror.syncMeta();
        }
      },
    };
    await world.run();
    assert.deepEqual(world.placed, ['node-0001', 'node-0002']);
  });

  it('has no delete while a cut is open, however long', async () => {
    const world = await ReconcileWorld.settled({ nodes: 2 });
    await world.clock.advance(60_000);
    world.addNode('node-0002', { taints: [{ key: 'gone', effect: 'NoExecute' }] });
    for (let round = 0; round < 5; round += 1) {
      await world.mirror.sync({ isCutOpen: true });
      assert.equal(codeOf(await world.run()), 'cut-open');
      await world.clock.advance(20_000);
    }
    assert.deepEqual(world.placed, ['node-0001', 'node-0002']);
    await world.settle();
    assert.deepEqual(world.placed, ['node-0001']);
  });

  it('means incomplete when a slice is missing (rows 81, protocol 18): a snapshot is asked for', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    await world.mirror.sync();
    world.view.lose('SLICE cluster-a-uid nodes');
    assert.equal(codeOf(await world.run()), 'view-incomplete');
    assert.equal(world.cluster.snapshotRequests.length, 1);
    assert.deepEqual(effectsOf(world), []);
  });

  it('has no effect, no status and no timer while META says incomplete (row 81)', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    await world.mirror.sync({ isComplete: false });
    assert.equal(codeOf(await world.run()), 'view-incomplete');
    assert.deepEqual(world.cluster.requests, []);
    assert.deepEqual(world.queue.timers, []);
  });
});

describe('protocol 3: own writes', () => {
  it('defer the next run until the view shows them, and no second pod is made', async () => {
    const world = new ReconcileWorld({ nodes: 2 });
    await world.mirror.sync();
    await world.run();
    assert.equal(world.pods.length, 2);
    const marks = (await world.view.readMeta(world.mirror.clusterUid))?.marks;
    assert.ok(marks !== undefined);
    world.mirror.hide = () => true;
    await world.mirror.sync({ marks });
    assert.equal(codeOf(await world.run()), 'own-writes-unseen');
    assert.equal(world.pods.length, 2);
  });

  it('that were filtered or folded away are met by the mark: no stall (row 91)', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    await world.mirror.sync();
    await world.run();
    const [pod] = world.pods;
    assert.ok(pod !== undefined);
    world.cluster.remove('pods', pod.metadata.name, 'system');
    const due = world.queue.timers.map(({ dueAtMs }) => dueAtMs - world.clock.nowMs());
    assert.ok(Math.min(...due) <= 2_000, 'a look is due within two seconds');
    await world.clock.advance(2_000);
    await world.mirror.sync();
    await world.run();
    assert.deepEqual(world.placed, ['node-0001']);
    assert.notEqual(world.pods[0]?.metadata.uid, pod.metadata.uid);
  });

  it('are no eternal deferral: after the cap a live read decides (row 64)', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    await world.mirror.sync();
    await world.run();
    const stuck = { Pod: resourceVersion('1'), DaemonSet: resourceVersion('1') };
    world.mirror.hide = () => true;
    await world.mirror.sync({ marks: stuck });
    assert.equal((await world.run()).kind, 'deferred');
    await world.clock.advance(31_000);
    const result = await world.run();
    assert.notEqual(result.kind === 'deferred' && result.code, 'own-writes-unseen');
    assert.deepEqual(world.placed, ['node-0001']);
    assert.deepEqual(world.cluster.violations, []);
  });
});
