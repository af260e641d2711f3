/** A built-in loop that comes back (faults row 58): seen, told once, and nothing touched any more. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterId, uid } from '../../../../src/core/model/identifiers.ts';
import type { DaemonSetObject, DaemonSetStatus } from '@rollcall/base/objects.ts';
import { SENTINEL_KEY, sentinelBody } from '../../../../src/core/may-act/takeover-sentinel.ts';
import { reconcileKey } from '../../../../src/app/reconcile/reconcile-key.ts';
import type { ReconcileResult } from '../../../../src/app/reconcile/run/result.ts';
import { ReconcileWorld } from '../../../support/reconcile-world.ts';

const EVIDENCE = 'it was seen';

interface SentinelWorld {
  readonly world: ReconcileWorld;
  /** One run for the sentinel's key. */
  readonly look: () => Promise<ReconcileResult>;
  /** The built-in controller syncs the sentinel. */
  readonly observe: () => void;
}

/** A settled world in takeover, with its sentinel. */
async function withSentinel(nodes = 2): Promise<SentinelWorld> {
  const world = new ReconcileWorld({ nodes });
  const body = sentinelBody('first');
  const sentinel = world.cluster.put('daemonsets', body as never); // completed by the cluster
  const createdAtMs = Date.parse(sentinel.metadata.creationTimestamp ?? '');
  world.register({ sentinel: { uid: uid(sentinel.metadata.uid), createdAtMs } });
  await world.settle();
  const look = (): Promise<ReconcileResult> => {
    const key = { cluster: clusterId('a'), ...SENTINEL_KEY };
    const deadlineMs = world.clock.monotonicMs() + 60_000;
    return reconcileKey({ ...world.hint, key }, { deadlineMs }, world.dependencies);
  };
  const observe = (): void => {
    world.cluster.change('daemonsets', SENTINEL_KEY, (object) => ({
      ...object,
      status: { observedGeneration: 1 },
    }));
  };
  return { world, look, observe };
}

async function storedRegistration(world: ReconcileWorld) {
  const stored = await world.registry.readCluster(clusterId('a'));
  assert.ok(stored !== undefined);
  return stored;
}

/** As if another run had seen the rival. */
async function markRival(world: ReconcileWorld): Promise<void> {
  const rival = { seenAtMs: 1, evidence: EVIDENCE };
  await world.registry.noteRival(await storedRegistration(world), rival);
}

function builtInWrites(world: ReconcileWorld, after: { readonly byMs: number }): void {
  const time = new Date(world.clock.nowMs() + after.byMs).toISOString();
  world.cluster.change('daemonsets', { namespace: 'system', name: 'agents' }, (object) => ({
    ...object,
    metadata: {
      ...object.metadata,
      managedFields: [
        {
          manager: 'kube-controller-manager',
          operation: 'Update',
          subresource: 'status',
          time,
          fieldsV1: { 'f:status': { 'f:numberReady': {} } },
        },
      ],
    } as never, // members that Rollcall has no type for
  }));
}

describe('takeover without its sentinel: a registry from before a hand-back, or somebody deleted it (row 34)', () => {
  async function without(nodes = 2): Promise<ReconcileWorld> {
    const { world } = await withSentinel(nodes);
    const { namespace, name } = SENTINEL_KEY;
    world.cluster.remove('daemonsets', name, namespace);
    world.addNode('node-0009');
    await world.mirror.sync();
    world.cluster.requests.length = 0;
    return world;
  }

  it('acts nowhere, writes no status, and says why (S1)', async () => {
    const world = await without();
    const result = await world.run();
    assert.equal(result.kind === 'observed' && result.code, 'sentinel-missing');
    assert.deepEqual(world.cluster.requests, [`LIST daemonsets ${SENTINEL_KEY.name}`]);
    assert.equal(world.metrics.sum('ConflictingControllers', 'sentinel-missing'), 1);
    assert.equal(world.log.at('error').length, 1);
    assert.equal((await world.run()).kind, 'skipped', 'it is told once');
  });

  it('is believed where only the view lost it', async () => {
    const { world } = await withSentinel();
    const { sentinel } = await storedRegistration(world);
    world.addNode('node-0009');
    await world.mirror.sync();
    assert.equal(world.view.lose(`DAEMONSET cluster-a-uid ${String(sentinel?.uid)}`), 1);
    await world.settle();
    assert.ok(world.placed.includes('node-0009'));
  });

  it('asks the cluster where nothing was heard for long: a restored view may show what is gone', async () => {
    const world = await without();
    world.cluster.put('daemonsets', sentinelBody('other') as never);
    await world.mirror.sync({ heardAtMs: {} });
    const result = await world.run();
    assert.equal(result.kind === 'observed' && result.code, 'sentinel-missing');
  });

  it('waits when that cannot be read', async () => {
    const world = await without();
    world.cluster.hooks.onRead = () => ({ kind: 'unavailable', message: 'x', isRefused: false });
    assert.equal((await world.run()).kind, 'deferred');
  });

  it('acts again once takeover was entered anew', async () => {
    const world = await without();
    await world.run();
    const sentinel = world.cluster.put('daemonsets', sentinelBody('second') as never);
    world.register({ sentinel: { uid: uid(sentinel.metadata.uid), createdAtMs: 0 } });
    await world.settle();
    assert.ok(world.placed.includes('node-0009'));
  });

  it('is believed when the registration names none', async () => {
    const world = await without();
    const { sentinel: _none, ...rest } = await storedRegistration(world);
    world.registry.seed({ ...rest, configVersion: rest.configVersion + 1 });
    await world.settle();
    assert.ok(world.placed.includes('node-0009'));
  });
});

describe('a run for the sentinel', () => {
  it('does nothing at all while nobody touched it', async () => {
    const { world, look } = await withSentinel();
    const before = world.cluster.requests.length;
    const writes = world.view.calls.filter(({ isWrite }) => isWrite).length;
    assert.deepEqual(await look(), {
      kind: 'observed',
      code: 'sentinel',
      counts: { creates: 0, deletes: 0, patches: 0, refused: 0, isStatusWritten: false },
    });
    assert.equal(world.cluster.requests.length, before, 'no request');
    assert.equal(world.view.calls.filter(({ isWrite }) => isWrite).length, writes, 'no write');
    assert.equal((await storedRegistration(world)).rival, undefined);
  });

  it('notes it once beside the registration, logs it, counts it and hints every key', async () => {
    const { world, look, observe } = await withSentinel();
    observe();
    await world.mirror.sync();
    const { configVersion } = await storedRegistration(world);
    world.queue.clear();
    await look();
    await look();
    const stored = await storedRegistration(world);
    assert.equal(stored.configVersion, configVersion, 'the registration is not written');
    assert.match(
      stored.rival?.evidence ?? '',
      /rollcall-takeover-probe.*observedGeneration|observedGeneration.*rollcall-takeover-probe/,
    );
    assert.equal(world.log.at('error').length, 1);
    assert.equal(world.metrics.sum('ConflictingControllers', 'sentinel'), 1);
    assert.deepEqual(world.queue.hintedKeys(), [
      'a/rollcall-system/rollcall-takeover-probe',
      'a/system/agents',
    ]);
  });

  it('believes only the sentinel of the present takeover', async () => {
    const { world, look, observe } = await withSentinel();
    observe();
    await world.mirror.sync();
    world.register({ sentinel: { uid: uid('a newer one'), createdAtMs: 1 } });
    await look();
    assert.equal((await storedRegistration(world)).rival, undefined);
  });

  it('leaves a DaemonSet of that name alone that has not its label, and serves it', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    const plain = sentinelBody('x') as unknown as DaemonSetObject; // raw JSON
    world.cluster.put('daemonsets', {
      ...plain,
      metadata: { ...SENTINEL_KEY, labels: {} },
    });
    await world.mirror.sync();
    const key = { cluster: clusterId('a'), ...SENTINEL_KEY };
    const deadlineMs = world.clock.monotonicMs() + 60_000;
    const result = await reconcileKey({ ...world.hint, key }, { deadlineMs }, world.dependencies);
    assert.equal(result.kind, 'acted');
  });
});

describe('a cluster with a rival (row 58)', () => {
  it('gets nothing created, deleted or counted, whatever happens there', async () => {
    const { world } = await withSentinel(2);
    const { status } = world.daemonSet;
    await markRival(world);
    await world.settle();
    const [pod] = world.pods;
    assert.ok(pod !== undefined);
    world.addNode('node-0003');
    world.setPhase(pod.metadata.name, 'Failed');
    const before = world.pods.map(({ metadata }) => metadata.uid);
    const results = await world.settle();
    assert.deepEqual(
      world.pods.map(({ metadata }) => metadata.uid),
      before,
    );
    assert.ok(results.every(({ kind }) => kind === 'observed' || kind === 'skipped'));
    const { conditions: _told, ...counts } = world.daemonSet.status as DaemonSetStatus;
    assert.deepEqual(counts, status, 'counters are the other controller’s');
    assert.deepEqual(world.cluster.violations, []);
  });

  it('tells it once: a condition beside foreign ones, and one event', async () => {
    const { world } = await withSentinel(1);
    const foreign = { type: 'Foreign', status: 'True' };
    world.change(({ status }) => ({ status: { ...status, conditions: [foreign] } }));
    await markRival(world);
    await world.settle();
    await world.settle();
    const [first, notice, ...more] = world.daemonSet.status?.conditions ?? [];
    assert.deepEqual(first, foreign);
    assert.deepEqual(more, []);
    assert.equal(notice?.['type'], 'RollcallPaused');
    assert.equal(notice['status'], 'True');
    assert.equal(notice['reason'], 'BuiltInControllerSeen');
    assert.match(JSON.stringify(notice['message']), /it was seen.*--release/);
    const events = world.cluster
      .list('events')
      .filter(({ reason }) => reason === 'ConflictingController');
    assert.equal(events.length, 1);
    assert.equal(events[0]?.['type'], 'Warning');
  });

  it('tells it again later when the status write met a conflict, and still once', async () => {
    const { world } = await withSentinel(1);
    await markRival(world);
    let conflicts = 0;
    world.cluster.hooks.beforeEffect = ({ kind }) => {
      if (kind !== 'update-status' || conflicts === 3) return undefined;
      conflicts += 1;
      return { kind: 'answer', outcome: { kind: 'conflict', message: 'injected' } };
    };
    const first = await world.run();
    assert.ok(first.kind === 'deferred' && first.code === 'status-conflict');
    await world.clock.advance(5_000);
    await world.settle();
    assert.equal(world.daemonSet.status?.conditions?.length, 1);
    const events = world.cluster
      .list('events')
      .filter(({ reason }) => reason === 'ConflictingController');
    assert.equal(events.length, 1);
  });

  it('loses the notice when takeover is entered anew, and is served again', async () => {
    const { world } = await withSentinel(1);
    const { sentinel, ...registration } = await storedRegistration(world);
    assert.ok(sentinel !== undefined);
    await markRival(world);
    await world.settle();
    world.addNode('node-0002');
    world.registry.seed({ ...registration, sentinel, takeoverProbedAtMs: 99, configVersion: 99 });
    await world.settle();
    assert.equal(world.daemonSet.status?.conditions, undefined);
    assert.equal(world.placed.length, 2);
  });

  it('stops a run under way at its next batch (protocol 7)', async () => {
    const { world } = await withSentinel(0);
    for (let index = 1; index <= 40; index += 1)
      world.addNode(`late-${String(index).padStart(2, '0')}`);
    await world.mirror.sync();
    world.cluster.hooks.afterEffect = ({ kind }) => {
      if (kind === 'create-pod' && world.pods.length === 3) void markRival(world);
    };
    const result = await world.run();
    assert.ok(result.kind === 'deferred' && result.code === 'interrupted');
    assert.equal(world.pods.length, 3, 'batches of one and two, no third');
  });
});

describe('a status written by another manager', () => {
  const TEN_MINUTES_MS = 600_000;
  /** Timers that are further away do not fire. */
  const WHILE_PAUSED = { withinMs: 30_000 };

  /** Settled; then another manager wrote its status just now, and there is a node to be served. */
  async function written(): Promise<SentinelWorld> {
    const made = await withSentinel(1);
    await made.world.clock.advance(2_000);
    builtInWrites(made.world, { byMs: 0 });
    made.world.addNode('node-0002');
    return made;
  }
  const noticeOf = (world: ReconcileWorld) => world.daemonSet.status?.conditions?.[0];
  const told = (world: ReconcileWorld) =>
    world.cluster.list('events').filter(({ reason }) => reason === 'StatusWrittenByAnother');

  it('is found in the live read before creates: no pod is made, and the cluster goes on', async () => {
    const { world } = await written();
    const result = await world.step();
    assert.ok(result.kind === 'deferred' && result.code === 'conflict-suspected');
    await world.settle(WHILE_PAUSED);
    assert.deepEqual(world.placed, ['node-0001']);
    assert.equal((await storedRegistration(world)).rival, undefined);
    assert.equal(world.metrics.sum('ConflictSuspected'), 1);
    assert.equal(world.metrics.sum('ConflictingControllers'), 0);
  });

  it('is told on the DaemonSet once: who, when, and what to do', async () => {
    const { world } = await written();
    await world.step();
    const result = await world.step();
    assert.ok(result.kind === 'observed' && result.code === 'conflict-suspected');
    await world.settle(WHILE_PAUSED);
    assert.equal(noticeOf(world)?.['reason'], 'StatusWrittenByAnother');
    assert.match(JSON.stringify(noticeOf(world)), /kube-controller-manager.*wrote.*stop it/);
    assert.equal(told(world).length, 1);
    const verdict = (await world.explain())?.at(-1);
    assert.match(JSON.stringify(verdict), /kube-controller-manager/);
  });

  it('deletes no pod meanwhile either', async () => {
    const { world } = await written();
    await world.step();
    const [pod] = world.pods;
    assert.ok(pod !== undefined);
    world.setPhase(pod.metadata.name, 'Failed');
    await world.settle(WHILE_PAUSED);
    assert.deepEqual(
      world.pods.map(({ metadata }) => metadata.uid),
      [pod.metadata.uid],
    );
  });

  it('is looked at again before a pod is deleted, once the time is over', async () => {
    const { world } = await withSentinel(1);
    await world.clock.advance(2_000);
    builtInWrites(world, { byMs: 0 });
    const [pod] = world.pods;
    assert.ok(pod !== undefined);
    const { name } = pod.metadata;
    world.setPhase(name, 'Pending');
    await world.step();
    world.setPhase(name, 'Failed');
    await world.settle(WHILE_PAUSED);
    await world.clock.advance(TEN_MINUTES_MS - 60_000);
    builtInWrites(world, { byMs: 0 });
    await world.clock.advance(61_000);
    const result = await world.step();
    assert.ok(result.kind === 'observed' && result.code === 'conflict-suspected');
    assert.deepEqual(
      world.pods.map(({ metadata }) => metadata.name),
      [name],
    );
  });

  it('of which only the live one tells keeps all pods, also one that failed', async () => {
    const { world } = await withSentinel();
    await world.clock.advance(2_000);
    const before = world.pods.map(({ metadata }) => metadata.uid);
    world.setPhase(world.pods[0]?.metadata.name ?? '', 'Failed');
    world.addNode('node-0003');
    await world.mirror.sync();
    builtInWrites(world, { byMs: 0 });
    const result = await world.run();
    assert.ok(result.kind === 'deferred' && result.code === 'conflict-suspected', result.kind);
    assert.deepEqual(
      world.pods.map(({ metadata }) => metadata.uid),
      before,
    );
  });

  it('pauses for ten minutes from the write, and nobody has to end it', async () => {
    const { world } = await written();
    await world.step();
    await world.settle(WHILE_PAUSED);
    assert.equal(world.queue.timers.length > 0, true, 'a look is on its way');
    await world.clock.advance(TEN_MINUTES_MS - 10_000);
    await world.step();
    assert.deepEqual(world.placed, ['node-0001']);
    await world.clock.advance(10_000);
    await world.settle();
    assert.deepEqual(world.placed, ['node-0001', 'node-0002']);
    assert.equal(noticeOf(world), undefined);
    assert.equal((await world.state()).paused, undefined);
  });

  it('pauses for longer while the other one goes on writing, and nothing is made in between', async () => {
    const { world } = await written();
    await world.step();
    await world.settle(WHILE_PAUSED);
    for (let again = 0; again < 3; again += 1) {
      await world.clock.advance(TEN_MINUTES_MS - 60_000);
      builtInWrites(world, { byMs: 0 });
      await world.clock.advance(61_000);
      await world.settle(WHILE_PAUSED);
      assert.deepEqual(world.placed, ['node-0001']);
      assert.equal(noticeOf(world)?.['reason'], 'StatusWrittenByAnother');
    }
    assert.equal(world.metrics.sum('ConflictSuspected'), 4);
    await world.clock.advance(TEN_MINUTES_MS);
    await world.settle();
    assert.deepEqual(world.placed, ['node-0001', 'node-0002']);
  });

  it('counts for nothing with a time that has not come, however often it is looked at', async () => {
    const { world } = await withSentinel(1);
    builtInWrites(world, { byMs: 3_600_000 });
    for (const node of ['node-0002', 'node-0003']) {
      world.addNode(node);
      await world.settle();
      assert.ok(world.placed.includes(node));
    }
    assert.equal(world.metrics.sum('ConflictSuspected'), 0);
  });

  it('stops the cluster where the sentinel shows the other controller, before the watcher told of it', async () => {
    const { world, observe } = await withSentinel(1);
    await world.clock.advance(2_000);
    world.addNode('node-0002');
    await world.mirror.sync();
    observe();
    builtInWrites(world, { byMs: 0 });
    await world.run();
    const { rival } = await storedRegistration(world);
    assert.match(rival?.evidence ?? '', /rollcall-takeover-probe/);
    assert.equal(world.metrics.sum('ConflictingControllers', 'sentinel'), 1);
    await world.settle();
    assert.deepEqual(world.placed, ['node-0001']);
    assert.equal(noticeOf(world)?.['reason'], 'BuiltInControllerSeen');
  });

  it('is found in the answer to our own status write, where nothing is to be created', async () => {
    const { world } = await withSentinel(1);
    await world.clock.advance(2_000);
    builtInWrites(world, { byMs: 0 });
    const [pod] = world.pods;
    assert.ok(pod !== undefined);
    world.setPhase(pod.metadata.name, 'Pending');
    await world.step();
    assert.equal((await world.state()).paused?.manager, 'kube-controller-manager');
  });

  it('is not held against it when it is older than the takeover', async () => {
    const { world } = await withSentinel(1);
    builtInWrites(world, { byMs: -3_600_000 });
    world.addNode('node-0002');
    await world.settle();
    assert.equal(world.pods.length, 2);
    assert.equal(world.metrics.sum('ConflictSuspected'), 0);
  });
});
