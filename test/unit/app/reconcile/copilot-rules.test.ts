/** Copilot: the built-in controller does the work; a run only looks, says so, and waits where history is not made yet. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { uid } from '../../../../src/core/model/identifiers.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { codeOf, ReconcileWorld } from '../../../support/reconcile-world.ts';

/** Paused: what is tested here is what copilot leaves alone. */
const POLICY = { 'rollcall.dev/rollout': 'paused: true' };

async function copilot(
  options: { readonly type?: string; readonly annotations?: Readonly<Record<string, string>> } = {},
): Promise<ReconcileWorld> {
  const { type = 'OnDelete', annotations = POLICY } = options;
  const daemonSet = (object: DaemonSetObject): DaemonSetObject => ({
    ...object,
    metadata: { ...object.metadata, annotations },
    spec: { ...object.spec, updateStrategy: { type } },
  });
  const world = await ReconcileWorld.settled({ mode: 'copilot', daemonSet });
  return world;
}

const writes = (world: ReconcileWorld): readonly string[] =>
  world.cluster.requests.filter((request) => !request.startsWith('GET '));

describe('a cluster in copilot', () => {
  it('gets its pods, history and status from the built-in controller, and no request that writes', async () => {
    const world = await copilot();
    assert.deepEqual(world.owned, ['node-0001', 'node-0002', 'node-0003']);
    assert.deepEqual(writes(world), []);
    assert.equal(world.daemonSet.status?.observedGeneration, 1);
    assert.equal(world.metrics.sum('ConflictingControllers'), 0);
  });

  it('does nothing where a node lacks its pod, one failed or one is too many, and says whose turn it is', async () => {
    const world = await copilot();
    world.isBuiltInRunning = false;
    const [first] = world.pods;
    world.setPhase(first?.metadata.name ?? '', 'Failed');
    world.addNode('node-0004');
    await world.mirror.sync();
    await world.run();
    assert.deepEqual(writes(world), []);
    const verdicts = (await world.explain()) ?? [];
    const codes = verdicts.map(({ code }) => code);
    assert.deepEqual(codes, ['LeftToBuiltIn', 'Running', 'Running', 'LeftToBuiltIn']);
  });

  it('takes the status that the built-in controller writes for no rival', async () => {
    const world = await copilot();
    const sentinel = { uid: uid('left-behind'), createdAtMs: world.clock.nowMs() - 60_000 };
    world.register({ mode: 'copilot', sentinel });
    const time = new Date(world.clock.nowMs()).toISOString();
    const fieldsV1 = { 'f:status': { 'f:numberReady': {} } };
    const managedFields = [
      { manager: 'kube-controller-manager', operation: 'Update', time, fieldsV1 },
    ];
    world.change(({ metadata }) => ({ metadata: { ...metadata, managedFields } }));
    world.setImage('example/agent:2');
    await world.settle();
    assert.equal(world.metrics.sum('ConflictingControllers'), 0);
    assert.deepEqual(writes(world), []);
  });

  it('only observes when frozen', async () => {
    const world = await copilot();
    world.register({ mode: 'copilot', isFrozen: true });
    world.setImage('example/agent:2');
    assert.equal(codeOf(await world.step()), 'frozen');
    assert.deepEqual(writes(world), []);
  });
});

describe('a DaemonSet that copilot only observes', () => {
  it('is left without a request where it does not opt in, and the verdicts say how it would', async () => {
    const world = await copilot({ annotations: {} });
    world.setImage('example/agent:2');
    await world.settle();
    assert.equal(codeOf(await world.step()), 'skipped');
    assert.deepEqual(world.cluster.requests, []);
    world.addNode('node-0004');
    world.isBuiltInRunning = false;
    assert.equal(codeOf(await world.step()), 'not-opted-in');
    const [first] = (await world.explain()) ?? [];
    assert.equal(first?.code, 'Outdated');
    assert.match(first.message, /does not opt in \(annotation rollcall\.dev\/rollout\)/);
  });

  it('is told once that its policy has no effect beside RollingUpdate, in our name', async () => {
    const world = await copilot({ type: 'RollingUpdate' });
    for (const image of ['example/agent:2', 'example/agent:3']) {
      world.setImage(image);
      await world.settle();
    }
    const events = world.cluster.list('events');
    assert.deepEqual(
      events.map((event) => [event['reason'], event['source'], event['count']]),
      [['RolloutNotStaged', { component: 'rollcall' }, 1]],
    );
    assert.equal(writes(world).length, 1);
    assert.deepEqual(world.owned.length, 3, 'the built-in controller rolled it');
  });
});

describe('history in copilot', () => {
  it('is read once for each revision, and never written', async () => {
    const world = await copilot();
    await world.settle();
    const reads = world.cluster.requests.filter((request) =>
      request.includes('controllerrevision'),
    );
    assert.equal(reads.length, 1, reads.join());
    world.setImage('example/agent:2');
    await world.settle();
    assert.deepEqual(writes(world), []);
    const verdicts = (await world.explain()) ?? [];
    assert.deepEqual(new Set(verdicts.map(({ code }) => code)), new Set(['WaitingForRollout']));
  });

  it('is waited for, ever more seldom, while the built-in controller stands still', async () => {
    const world = await copilot();
    world.isBuiltInRunning = false;
    world.setImage('example/agent:2');
    const first = await world.step();
    assert.equal(codeOf(first), 'built-in-behind');
    const waits: number[] = [];
    for (let look = 0; look < 8; look += 1) {
      const result = await world.run();
      assert.ok(result.kind === 'deferred');
      waits.push(result.nextLookAtMs - world.clock.nowMs());
      await world.clock.advance(Math.max(waits.at(-1) ?? 0, 1));
    }
    assert.ok((waits.at(-1) ?? 0) > 60_000, waits.join());
    assert.deepEqual(writes(world), []);
  });

  it('is that of the template again after an undo, though no revision is new', async () => {
    const world = await copilot();
    world.setImage('example/agent:2');
    await world.settle();
    world.setImage('example/agent:1');
    await world.settle();
    const verdicts = (await world.explain()) ?? [];
    assert.deepEqual(new Set(verdicts.map(({ code }) => code)), new Set(['Running']));
    assert.deepEqual(writes(world), []);
  });
});

describe('a delete in copilot', () => {
  it('is not sent for a policy that was taken away or paused while the run was under way', async () => {
    for (const annotations of [{}, POLICY]) {
      const world = await copilot({ annotations: { 'rollcall.dev/rollout': 'soak: 1s' } });
      world.cluster.hooks.onRead = (what) => {
        // Between the plan and the live read of the DaemonSet, the last before deletes are recorded.
        if (!what.endsWith(' daemonsets')) return undefined;
        world.change(({ metadata }) => ({ metadata: { ...metadata, annotations } }));
        return undefined;
      };
      world.setImage('example/agent:2');
      const before = world.cluster.requests.length;
      await world.settle();
      const reads = world.cluster.requests
        .slice(before)
        .filter((each) => / daemonsets /.test(each));
      assert.ok(reads.length > 0, 'one was about to be sent');
      assert.equal(world.sent('delete-pod '), 0);
    }
  });

  it('waits for the watcher where nothing was heard of pods lately: no list takes its place (S3)', async () => {
    const world = await copilot({ annotations: { 'rollcall.dev/rollout': 'soak: 1s' } });
    world.setImage('example/agent:2');
    world.syncBuiltIn();
    await world.mirror.sync();
    await world.clock.advance(600_000);
    for (let look = 0; look < 6; look += 1) {
      assert.equal(codeOf(await world.run()), 'cluster-silent');
      await world.clock.advance(300_000);
    }
    assert.equal(world.sent('delete-pod '), 0);
    assert.ok(!world.cluster.requests.some((request) => request.startsWith('LIST pods')));
    await world.settle();
    assert.ok(world.sent('delete-pod ') > 0, 'it goes on once pods are heard of');
  });
});
