// Own writes that the view does not show yet: what each kind of them holds back, and what it does not.
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { resourceVersion } from '../../../../src/core/model/identifiers.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { codeOf, ReconcileWorld } from '../../../support/reconcile-world.ts';

const STUCK = { Pod: resourceVersion('1'), DaemonSet: resourceVersion('1') };

async function marksOf(world: ReconcileWorld) {
  const marks = (await world.view.readMeta(world.mirror.clusterUid))?.marks;
  assert.ok(marks !== undefined);
  return marks;
}

async function intentsOf(world: ReconcileWorld): Promise<readonly string[]> {
  const state = await world.view.readState(world.ref);
  return (state?.intents ?? []).map((intent) => `${intent.kind} ${intent.node ?? ''}`);
}

const leaving = (world: ReconcileWorld): number =>
  world.pods.filter((pod) => pod.metadata.deletionTimestamp !== undefined).length;

function rolling(maxUnavailable: number) {
  return (object: DaemonSetObject): DaemonSetObject => ({
    ...object,
    spec: {
      ...object.spec,
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable } },
    },
  });
}

function editTemplate(world: ReconcileWorld): void {
  world.edit(({ template }) => {
    const metadata = { ...template.metadata, annotations: { edited: 'once' } };
    return { template: { ...template, metadata } };
  });
}

function liveReadsOf(world: ReconcileWorld): number {
  return world.sent('GET pods ');
}

describe('own creates that are unseen (protocol 3)', () => {
  it('hold back their own nodes, and no other (S1)', async () => {
    const world = new ReconcileWorld({ nodes: 2 });
    await world.mirror.sync();
    await world.run();
    const marks = await marksOf(world);
    world.mirror.hide = () => true;
    world.addNode('node-0003');
    await world.mirror.sync({ marks });
    const result = await world.run();
    assert.equal(result.kind, 'acted');
    assert.deepEqual(world.placed, ['node-0001', 'node-0002', 'node-0003']);
    assert.equal((await world.run()).kind, 'deferred');
    assert.equal(world.pods.length, 3);
    assert.deepEqual(world.cluster.violations, []);
  });

  it('are not taken for gone while they live, although the view was read past them (S1, row 91)', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    world.mirror.hide = () => true;
    await world.mirror.sync();
    await world.run();
    for (let look = 0; look < 40; look += 1) {
      await world.clock.advance(5_000);
      await world.mirror.sync();
      await world.run();
    }
    assert.equal(world.pods.length, 1, 'a view that hides its pod gets no second one');
  });

  it('stay recorded while nobody may ask for them: a freeze ends with the view as it is (S1, row 91)', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    world.mirror.hide = () => true;
    await world.mirror.sync();
    await world.run();
    world.register({ isFrozen: true });
    await world.mirror.sync();
    await world.run();
    assert.deepEqual(await intentsOf(world), ['create node-0001']);
    world.register({ isFrozen: false, configVersion: 3 });
    await world.run();
    assert.equal(world.pods.length, 1);
  });

  it('are replaced at once when a live read finds that they went before they were reported (row 91)', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    await world.mirror.sync();
    await world.run();
    const name = world.pods[0]?.metadata.name ?? '';
    world.cluster.remove('pods', name, 'system');
    await world.mirror.sync();
    await world.run();
    assert.equal(world.pods.length, 1);
    assert.notEqual(world.pods[0]?.metadata.name, name);
  });

  it('are read live one by one once they are overdue, although others went on (row 64)', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    await world.mirror.sync();
    await world.run();
    world.mirror.hide = () => true;
    for (const node of ['node-0002', 'node-0003', 'node-0004']) {
      await world.clock.advance(9_000);
      world.addNode(node);
      await world.mirror.sync({ marks: STUCK });
      assert.equal((await world.run()).kind, 'acted');
    }
    assert.ok((await intentsOf(world)).includes('create node-0001'));
    await world.clock.advance(9_000);
    world.addNode('node-0005');
    await world.mirror.sync({ marks: STUCK });
    const readsBefore = liveReadsOf(world);
    await world.run();
    assert.ok(liveReadsOf(world) > readsBefore);
    // It stays recorded: the next run sees no more of that pod in the view than this one did (S3, S10).
    assert.ok((await intentsOf(world)).includes('create node-0001'));
    assert.equal(world.pods.length, 5);
    assert.deepEqual(world.cluster.violations, []);
  });
});

describe('own creates that a live read found, and no view shows (row 64, ADR 0031)', () => {
  /** A world whose pods stay hidden, overdue by now and just read live for the first time. */
  async function hiddenWorld(nodes: number): Promise<ReconcileWorld> {
    const world = new ReconcileWorld({ nodes, options: { burstPodsMax: 20 } });
    await world.mirror.sync();
    world.mirror.hide = () => true;
    for (let burst = 0; burst < nodes / 20; burst += 1) {
      await world.run();
      await world.mirror.sync({ marks: STUCK });
    }
    assert.equal(world.pods.length, nodes);
    await world.clock.advance(31_000);
    await look(world);
    return world;
  }

  /** Another look, with something new to look at, as each hint of a busy cluster brings. */
  async function look(world: ReconcileWorld, change: object = { marks: STUCK }): Promise<void> {
    world.addNode(`other-${String(world.clock.nowMs())}`);
    await world.mirror.sync(change);
    await world.run();
  }

  it('are not read again in each run: reads are as many as nodes, not as nodes times runs', async () => {
    const world = await hiddenWorld(40);
    const before = liveReadsOf(world);
    for (let second = 0; second < 25; second += 1) {
      await world.clock.advance(1_000);
      await look(world);
    }
    assert.equal(liveReadsOf(world) - before, 0, 'confirmed by the read before');
    for (let second = 0; second < 30; second += 1) {
      await world.clock.advance(1_000);
      await look(world);
    }
    const reads = liveReadsOf(world) - before;
    assert.ok(reads >= 40 && reads <= 2 * world.pods.length, `${String(reads)} live reads`);
    assert.equal(world.pods.length, 96, 'and each new node got its pod meanwhile');
    assert.deepEqual(world.cluster.violations, []);
  });

  it('are read once in half a minute, too, where marks have passed what the view hides (S1)', async () => {
    const world = await hiddenWorld(20);
    const before = liveReadsOf(world);
    for (let second = 0; second < 25; second += 1) {
      await world.clock.advance(1_000);
      await look(world, {});
    }
    const reads = liveReadsOf(world) - before;
    assert.ok(reads <= 25, `${String(reads)} live reads: of the new ones, one each`);
    assert.equal(world.pods.length, 46);
    assert.deepEqual(world.cluster.violations, []);
  });

  it('and that are deleted before anybody saw them are made anew half a minute later (S1, L1)', async () => {
    const world = await hiddenWorld(1);
    const [pod] = world.pods;
    world.cluster.remove('pods', pod?.metadata.name ?? '', 'system');
    await world.clock.advance(10_000);
    await look(world);
    assert.ok(!world.owned.includes('node-0001'), 'still believed, so its node gets nothing else');
    await world.clock.advance(21_000);
    await look(world);
    assert.ok(world.owned.includes('node-0001'));
    assert.notEqual(
      world.pods.find((each) => each.metadata.name === pod?.metadata.name),
      pod,
    );
    assert.deepEqual(world.cluster.violations, []);
  });

  it('leave the status as the run that read them wrote it, instead of counting without them', async () => {
    const world = await hiddenWorld(20);
    const scheduled = (): number => world.daemonSet.status?.currentNumberScheduled ?? 0;
    const counts: number[] = [];
    for (let second = 0; second < 75; second += 5) {
      await world.clock.advance(5_000);
      await look(world);
      counts.push(scheduled());
    }
    assert.deepEqual(
      counts,
      counts.toSorted((left, right) => left - right),
    );
    assert.ok(scheduled() >= 20, String(scheduled()));
  });
});

describe('own deletes that are unseen', () => {
  it('count against the budget of a rollout, however often it is looked at (S3)', async () => {
    const world = await ReconcileWorld.settled({ nodes: 6, daemonSet: rolling(2) });
    world.cluster.podsLinger = true;
    editTemplate(world);
    await world.mirror.sync();
    await world.run();
    assert.equal(leaving(world), 2);
    for (let look = 0; look < 3; look += 1) await world.run();
    assert.equal(leaving(world), 2);
    await world.settle();
    assert.equal(world.pods.length, 6);
    assert.deepEqual(world.cluster.violations, []);
  });
});

describe('own patches that are unseen', () => {
  it('hold back everything: nobody knows which pods they changed', async () => {
    const world = await ReconcileWorld.settled({ nodes: 2 });
    const name = world.pods[0]?.metadata.name ?? '';
    world.cluster.change('pods', { namespace: 'system', name }, (pod) => ({
      ...pod,
      metadata: { ...pod.metadata, labels: { app: 'other' } },
    }));
    await world.mirror.sync();
    const marks = await marksOf(world);
    await world.run();
    world.addNode('node-0003');
    await world.mirror.sync({ marks });
    const before = world.pods.length;
    assert.equal(codeOf(await world.run()), 'own-writes-unseen');
    assert.equal(world.pods.length, before);
  });
});
