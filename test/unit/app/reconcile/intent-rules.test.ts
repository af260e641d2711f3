/** protocol 4–6 and rows 77, 78, 86, 88: intents, and what the API server's answers mean. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName, uid } from '../../../../src/core/model/identifiers.ts';
import { slotName } from '../../../../src/core/pod/naming.ts';
import { codeOf, ReconcileWorld, phaseOf } from '../../../support/reconcile-world.ts';

const slotOf = (world: ReconcileWorld, node: string): string =>
  slotName({
    daemonSetName: 'agents',
    daemonSetUid: uid(world.daemonSet.metadata.uid),
    node: nodeName(node),
  });

/** Somebody's pod under the slot name of a node. */
function takeName(
  world: ReconcileWorld,
  pod: {
    node: string;
    on?: string;
    owner?: 'nobody' | 'other';
    phase?: string;
    terminating?: boolean;
  },
): void {
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    name: 'agents',
    uid: pod.owner === 'other' ? 'somebody' : world.daemonSet.metadata.uid,
    controller: true,
  };
  world.cluster.put('pods', {
    metadata: {
      namespace: 'system',
      name: slotOf(world, pod.node),
      labels: { app: 'agents' },
      ...(pod.owner === 'nobody' ? {} : { ownerReferences: [owner] }),
      ...(pod.terminating === true ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
      ...(pod.terminating === true ? { finalizers: ['test/hold'] } : {}),
    },
    spec: { nodeName: pod.on ?? pod.node },
    status: { phase: pod.phase ?? 'Running' },
  });
}

describe('protocol 4, 5: a create without an answer', () => {
  it('that was applied is recognised: one pod (spec faults 10)', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    await world.mirror.sync();
    world.meet('create-pod', { kind: 'lose-answer' });
    assert.equal(codeOf(await world.run()), 'outcome-open');
    world.cluster.hooks = {};
    await world.settle();
    assert.deepEqual(world.placed, ['node-0001']);
    assert.deepEqual(world.cluster.violations, []);
  });

  it('is re-issued under the same name, and the late request meets its own name', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    await world.mirror.sync();
    world.meet('create-pod', { kind: 'stuck' });
    await world.run();
    world.cluster.hooks = {};
    await world.mirror.sync();
    await world.run();
    world.cluster.releaseStuck();
    await world.settle();
    assert.deepEqual(world.placed, ['node-0001']);
    assert.deepEqual(
      world.pods.map(({ metadata }) => metadata.name),
      [slotOf(world, 'node-0001')],
    );
    assert.deepEqual(world.cluster.violations, []);
  });

  it('is not dead before its request is, which may start until the run’s effect deadline (protocol 5)', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    await world.mirror.sync();
    world.meet('create-pod', { kind: 'stuck' });
    const recordedAtMs = world.clock.nowMs();
    await world.run({}, 20_000);
    const [intent] = (await world.view.readState(world.ref))?.intents ?? [];
    assert.equal(intent?.startsByMs, recordedAtMs + 15_000);
  });

  it('that was certainly never sent is withdrawn', async () => {
    const world = new ReconcileWorld({ nodes: 3 });
    await world.mirror.sync();
    world.meet('create-pod', {
      kind: 'answer',
      outcome: { kind: 'unsent', message: '429', retryAfterMs: 7_000 },
    });
    const result = await world.run();
    assert.ok(result.kind === 'deferred' && result.nextLookAtMs >= world.clock.nowMs() + 5_000);
    const state = await world.view.readState(world.ref);
    assert.deepEqual(state?.intents, []);
    assert.equal(state?.retry?.holdsCreates, true, 'the API server said when');
  });
});

describe('AlreadyExists (row 88, spec faults 41)', () => {
  let met: Awaited<ReturnType<ReconcileWorld['run']>> | undefined;

  /** Neither the view nor the list before the first creates shows the pod that holds the name. */
  async function meet(pod: Parameters<typeof takeName>[1], nodes = 2): Promise<ReconcileWorld> {
    const world = new ReconcileWorld({ nodes });
    await world.mirror.sync();
    world.cluster.hooks.beforeEffect = (effect) => {
      if (effect.kind !== 'create-pod') return undefined;
      delete world.cluster.hooks.beforeEffect;
      takeName(world, pod);
      return undefined;
    };
    met = await world.run();
    return world;
  }

  it('ours and live: done, and it is the pod of the node', async () => {
    const world = await meet({ node: 'node-0001' });
    await world.settle();
    assert.deepEqual(world.placed, ['node-0001', 'node-0002']);
    assert.equal(world.metrics.sum('ReconcileRefusedPods'), 0);
  });

  it('ours and terminating: waits, then creates', async () => {
    const world = await meet({ node: 'node-0001', terminating: true });
    assert.ok(met !== undefined && 'counts' in met);
    assert.equal(met.counts.creates, 1, 'a pod on its way out is not one that was made');
    await world.mirror.sync();
    await world.run();
    assert.equal(world.pods.length, 2, 'nothing beside the terminating pod');
    world.cluster.remove('pods', slotOf(world, 'node-0001'), 'system');
    await world.settle();
    assert.deepEqual(world.placed, ['node-0001', 'node-0002']);
    assert.deepEqual(world.cluster.violations, []);
  });

  it('A.0: ours, on its way out, or just gone, is no failure of slow start: the next run goes on at its pace', async () => {
    const paceOf = ({ daemonSet, dependencies, clock, mirror }: ReconcileWorld): number => {
      const { uid, generation = 0 } = daemonSet.metadata;
      const key = { clusterUid: mirror.clusterUid, uid, generation };
      return dependencies.cache.paces.firstBatchSize(key, clock.monotonicMs());
    };
    for (const phase of ['Running', 'Failed']) {
      const world = await meet({ node: 'node-0003', phase, terminating: true }, 8);
      assert.equal(world.placed.filter((node) => node !== 'node-0003').length, 7);
      assert.equal(paceOf(world), 16, phase);
    }
    const others = await meet({ node: 'node-0003', owner: 'other' }, 8);
    assert.equal(paceOf(others), 1, 'what is refused is a failure');
  });

  it('ours and terminal, held by a finalizer: a successor under another name (row 86)', async () => {
    const world = await meet({ node: 'node-0001', phase: 'Failed', terminating: true });
    await world.settle();
    const live = world.pods.filter((pod) => phaseOf(pod) === 'Running');
    assert.equal(live.length, 2);
    assert.ok(live.every(({ metadata }) => metadata.name !== slotOf(world, 'node-0001')));
    assert.deepEqual(world.cluster.violations, []);
  });

  it('ours and terminal, not yet deleted: not one that was made', async () => {
    const world = await meet({ node: 'node-0001', phase: 'Failed' });
    assert.ok(met !== undefined && 'counts' in met);
    assert.equal(met.counts.creates, 1);
    await world.settle();
    assert.deepEqual(world.placed, ['node-0001', 'node-0002']);
  });

  it('other owner: a bug event for that node only, others go on', async () => {
    const world = await meet({ node: 'node-0001', owner: 'other', on: 'node-0009' });
    await world.settle({ withinMs: 1_000 });
    const state = await world.view.readState(world.ref);
    assert.equal(state?.refusals?.[0]?.code, 'name-taken');
    assert.ok(world.placed.includes('node-0002'));
    const events = world.cluster.list('events').map((event) => event['message']);
    assert.ok(events.some((message) => String(message).includes('is not ours')));
  });

  it('nobody: the next name, after a look at who holds the first', async () => {
    const world = new ReconcileWorld({ nodes: 2 });
    await world.mirror.sync();
    takeName(world, { node: 'node-0001', owner: 'nobody', on: 'node-0009' });
    world.cluster.change(
      'pods',
      { namespace: 'system', name: slotOf(world, 'node-0001') },
      (pod) => ({
        ...pod,
        metadata: { ...pod.metadata, labels: { app: 'under-debug' } },
      }),
    );
    await world.settle();
    assert.deepEqual(world.owned, ['node-0001', 'node-0002']);
    assert.equal(world.pods.length, 3, 'the pod that is not ours is left alone');
    assert.deepEqual(world.cluster.violations, []);
  });

  it('nobody, twice in a row: the name after that', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    for (const round of [1, 2, 3]) {
      await world.settle();
      assert.deepEqual(world.owned, ['node-0001'], `round ${round}`);
      const mine = world.pods.find(({ metadata }) => metadata.labels?.['app'] === 'agents');
      const key = { namespace: 'system', name: mine?.metadata.name ?? '' };
      world.cluster.change('pods', key, (pod) => ({
        ...pod,
        metadata: { ...pod.metadata, labels: { app: 'under-debug' } },
      }));
    }
    await world.settle();
    assert.deepEqual(world.owned, ['node-0001']);
    assert.equal(world.pods.length, 4);
  });

  it('other node: the same', async () => {
    const world = await meet({ node: 'node-0001', on: 'node-0009' });
    const state = await world.view.readState(world.ref);
    assert.equal(state?.refusals?.[0]?.code, 'name-taken');
    assert.ok(world.placed.includes('node-0002'));
  });
});

describe('deletes', () => {
  const failOne = async (world: ReconcileWorld): Promise<string> => {
    await world.settle();
    await world.clock.advance(60_000);
    const name = world.pods[0]?.metadata.name ?? '';
    world.setPhase(name, 'Failed');
    await world.mirror.sync();
    return name;
  };

  it('use the live version, so filtered status changes cannot livelock them (row 77)', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    const name = await failOne(world);
    const before = world.pods[0]?.metadata.uid;
    world.cluster.change('pods', { namespace: 'system', name }, (pod) => pod);
    const result = await world.run();
    assert.ok('counts' in result && result.counts.deletes === 1);
    await world.settle();
    assert.notEqual(world.pods[0]?.metadata.uid, before);
    assert.deepEqual(world.cluster.violations, []);
  });

  it('are dropped when the reason does not hold any more', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    const name = await failOne(world);
    world.setPhase(name, 'Running');
    await world.run();
    assert.deepEqual(world.placed, ['node-0001']);
    assert.ok(!world.cluster.requests.includes(`delete-pod ${name}`));
  });

  it('without an answer stay open until the pod is seen gone, and hit nothing else (row 78)', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    const name = await failOne(world);
    world.meet('delete-pod', { kind: 'stuck' });
    await world.run();
    const open = (await world.view.readState(world.ref))?.intents ?? [];
    assert.deepEqual(
      open.map((intent) => intent.kind === 'delete' && intent.isAccepted),
      [false],
    );
    world.cluster.hooks = {};
    await world.settle();
    const replacement = world.pods[0]?.metadata.uid;
    world.cluster.releaseStuck();
    assert.equal(world.pods[0]?.metadata.uid, replacement, `${name} was re-made under its name`);
    assert.deepEqual(world.placed, ['node-0001']);
  });

  it('that were certainly never sent are withdrawn', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    await failOne(world);
    const outcome = { kind: 'unsent', message: '429', retryAfterMs: 7_000 } as const;
    world.meet('delete-pod', { kind: 'answer', outcome });
    await world.run();
    assert.deepEqual((await world.view.readState(world.ref))?.intents, []);
  });

  it('of pods whose node is absent need a live 404 of the node', async () => {
    const world = new ReconcileWorld({ nodes: 2 });
    world.idleNodes.add('node-0002');
    await world.settle({ withinMs: 5_000 });
    world.cluster.remove('nodes', 'node-0002');
    await world.mirror.sync();
    world.addNode('node-0002');
    await world.run();
    assert.equal(world.pods.length, 2, 'the node is there again');
    world.cluster.remove('nodes', 'node-0002');
    await world.clock.advance(60_000);
    await world.settle({ withinMs: 5_000 });
    assert.deepEqual(world.placed, ['node-0001']);
  });
});

describe('protocol 6: a missing state beside pods', () => {
  it('withholds deletes of available pods until no forgotten request is alive, then goes on', async () => {
    const world = await ReconcileWorld.settled({ nodes: 2 });
    await world.clock.advance(60_000);
    world.addNode('node-0002', { taints: [{ key: 'gone', effect: 'NoExecute' }] });
    world.view.lose('STATE');
    await world.mirror.sync();
    await world.run();
    assert.deepEqual(world.placed, ['node-0001', 'node-0002']);
    const state = await world.view.readState(world.ref);
    assert.equal(state?.dueAtMs, world.clock.nowMs() + 50_000);
    await world.clock.advance(50_000);
    await world.settle();
    assert.deepEqual(world.placed, ['node-0001']);
  });
});
