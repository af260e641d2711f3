/** What is read beside META of a key that this process knows, and what is taken of it. */
import { describe, it } from 'node:test';
import { createProcessCache } from '../../../../../src/app/reconcile/process/process-cache.ts';
import { CLOSED_BREAKER } from '../../../../../src/core/model/breaker.ts';
import type { Uid } from '../../../../../src/core/model/identifiers.ts';
import type { Stamp } from '../../../../../src/core/model/position.ts';
import { sentinelBody } from '../../../../../src/core/may-act/takeover-sentinel.ts';
import { ReconcileWorld } from '../../../../support/reconcile-world.ts';

import assert from 'node:assert/strict';

/** A world in which nothing is left to do, and a timer comes. */
async function settledWorld(): Promise<ReconcileWorld> {
  const world = await ReconcileWorld.settled({ nodes: 2 });
  world.reason = 'changed';
  await world.run();
  await keepPosition(world);
  world.reason = 'due';
  return world;
}

/** As `ingest` does: META has the position. */
async function keepPosition({ view, mirror, daemonSet }: ReconcileWorld): Promise<void> {
  const { clusterUid } = mirror;
  const uid = daemonSet.metadata.uid as Uid;
  const position = await view.readPosition({ clusterUid, uid });
  const meta = await view.readMeta(clusterUid);
  assert.ok(meta !== undefined && position !== undefined);
  assert.equal(await view.writeMeta({ ...meta, positions: { [uid]: position } }), 'written');
}

/** Which reads a run made, in their order; those that were under way together in one element. */
async function readsOf(world: ReconcileWorld): Promise<readonly string[][]> {
  const moments: string[][] = [];
  let isSameMoment = false;
  world.view.hooks = {
    before: async ({ operation, isWrite }) => {
      if (isWrite) return;
      if (!isSameMoment) moments.push([]);
      isSameMoment = true;
      moments.at(-1)?.push(operation);
      await new Promise((resolve) => setImmediate(resolve));
      isSameMoment = false;
    },
  };
  await world.run();
  world.view.hooks = {};
  return moments.map((names) => names.toSorted());
}

describe('a look at a due time', () => {
  it('takes one moment of reads where nothing is new', async () => {
    const world = await settledWorld();
    const [first, ...others] = await readsOf(world);
    assert.deepEqual(others, []);
    assert.deepEqual(first, ['readDaemonSet', 'readMeta', 'readName', 'readState']);
  });

  it('reads the DaemonSet again, after META, where something is, and the slices beside it', async () => {
    const world = await settledWorld();
    world.addNode('node-0099');
    await world.mirror.sync();
    await keepPosition(world);
    const [first, second, ...others] = await readsOf(world);
    assert.deepEqual(first, ['readDaemonSet', 'readMeta', 'readName', 'readState']);
    assert.deepEqual(second, ['readDaemonSet', 'readMeta', 'readSlice']);
    assert.ok(!others.flat().includes('readSlice'));
    assert.equal(world.pods.length, 3);
  });

  it('reads in the order of every other run in a process that has not read the key before', async () => {
    const world = await settledWorld();
    Object.assign(world.dependencies.cache, createProcessCache());
    const [first, second] = await readsOf(world);
    assert.deepEqual(first, ['readMeta', 'readName']);
    assert.deepEqual(second, ['readDaemonSet', 'readState']);
  });

  it('takes nothing of what it read of a DaemonSet that is gone, for one of its name', async () => {
    const world = await settledWorld();
    const { clusterUid } = world.mirror;
    const former = world.daemonSet.metadata.uid as Uid;
    const uid = 'uid-another' as Uid;
    const meta = await world.view.readMeta(clusterUid);
    const key = { namespace: 'system', name: 'agents' };
    const name = await world.view.readName(clusterUid, key);
    assert.ok(meta?.positions?.[former] !== undefined && name !== undefined);
    // Nothing tells the two apart but the UID: the new one has no item yet.
    const positions = { ...meta.positions, [uid]: meta.positions[former] };
    assert.equal(await world.view.writeMeta({ ...meta, positions }), 'written');
    const stamp = `${name.stamp}~` as Stamp;
    assert.equal(await world.view.writeName(clusterUid, { ...key, uid, stamp }), 'written');
    assert.equal((await world.run()).kind, 'absent');
  });

  it('takes one moment where the status comes back that was all the last run had to tell', async () => {
    const world = await settledWorld();
    world.reason = 'changed';
    const [pod] = world.pods;
    assert.ok(pod !== undefined);
    world.setPhase(pod.metadata.name, 'Pending');
    await world.mirror.sync();
    await keepPosition(world);
    assert.equal((await world.run()).kind, 'acted');
    await world.mirror.sync();
    await keepPosition(world);
    const [first, ...others] = await readsOf(world);
    assert.deepEqual(others, []);
    assert.deepEqual(first, ['readDaemonSet', 'readMeta', 'readName', 'readState']);
    const [next] = await readsOf(world);
    assert.deepEqual(next, ['readMeta', 'readName', 'readState'], 'it comes back once');
  });

  it('of hints that tell of a change waits for META, as before', async () => {
    const world = await settledWorld();
    world.reason = 'changed';
    const [first, second, ...others] = await readsOf(world);
    assert.deepEqual(first, ['readMeta', 'readName', 'readState']);
    assert.deepEqual([second, others], [['readDaemonSet'], []], 'no slice where the memo may hold');
  });
});

describe('a run that something moved', () => {
  it('takes two moments of reads: META and state, then all that they vouch for', async () => {
    const world = await settledWorld();
    world.reason = 'changed';
    world.addNode('node-0099');
    await world.mirror.sync();
    await keepPosition(world);
    const [first, second, ...others] = await readsOf(world);
    assert.deepEqual(first, ['readMeta', 'readName', 'readState']);
    assert.deepEqual(second, ['readDaemonSet', 'readMeta', 'readSlice']);
    assert.ok(!others.flat().some((read) => read === 'readSlice' || read === 'readDaemonSet'));
    assert.equal(world.pods.length, 3);
  });

  it('asks for no slice while the breaker of its cluster is open: a flood of hints costs small reads', async () => {
    const world = await settledWorld();
    world.reason = 'changed';
    world.addNode('node-0099');
    await world.mirror.sync();
    await keepPosition(world);
    const { clusterUid } = world.mirror;
    const open = { untilMs: world.clock.nowMs() + 10_000, delayMs: 10_000 };
    const breaker = { ...CLOSED_BREAKER, failures: 3, openings: 1, open };
    assert.equal(await world.view.writeBreaker(clusterUid, breaker), 'written');
    const [first, second] = await readsOf(world);
    assert.deepEqual(first, ['readMeta', 'readName', 'readState']);
    assert.deepEqual(second, ['readDaemonSet'], 'it may tell the run to wait');
  });
});

describe('a run in takeover', () => {
  it('reads its sentinel beside the state: it costs no moment of its own', async () => {
    const world = await settledWorld();
    world.reason = 'changed';
    const sentinel = world.cluster.put('daemonsets', sentinelBody('first') as never); // completed by the cluster
    world.register({ sentinel: { uid: sentinel.metadata.uid as Uid, createdAtMs: 0 } });
    world.addNode('node-0099');
    await world.mirror.sync();
    await keepPosition(world);
    const [, second, ...others] = await readsOf(world);
    assert.deepEqual(second, ['readDaemonSet', 'readDaemonSet', 'readMeta', 'readSlice']);
    assert.ok(!others.flat().includes('readDaemonSet'));
    assert.equal(world.pods.length, 3);
  });
});
