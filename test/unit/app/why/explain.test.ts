/** ADR 0082: verdicts are made when somebody asks, of what is stored, and nothing is sent or written for them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ClusterRegistration } from '../../../../src/core/model/registration.ts';
import { uid } from '../../../../src/core/model/identifiers.ts';
import type { NodeCode } from '../../../../src/core/model/verdict.ts';
import { ReconcileWorld } from '../../../support/reconcile-world.ts';

const SILENCE_MS = 3_600_000;
const FORBIDDEN = { kind: 'refused', code: 'forbidden', status: 403, message: 'no' } as const;

async function settled(): Promise<ReconcileWorld> {
  const world = await ReconcileWorld.settled({ nodes: 2 });
  return world;
}

async function codesOf(world: ReconcileWorld): Promise<readonly NodeCode[] | undefined> {
  return (await world.explain())?.map(({ code }) => code);
}

/** Seeds what changes in the registration, and lets a node lack its pod. */
async function lacking(
  change: Partial<ClusterRegistration>,
): Promise<readonly [NodeCode, string][] | undefined> {
  const world = await settled();
  world.addNode('node-0003');
  await world.mirror.sync();
  world.registry.seed({ ...world.registration, ...change });
  return (await world.explain())?.slice(2).map(({ code, message }) => [code, message]);
}

describe('explaining the nodes of a DaemonSet', () => {
  it('tells each node’s verdict, and costs reads alone', async () => {
    const world = await settled();
    const writes = world.view.calls.filter(({ isWrite }) => isWrite).length;
    const requests = world.cluster.requests.length;
    const { connects } = world.connector;
    assert.deepEqual(await codesOf(world), ['Running', 'Running']);
    assert.equal(world.view.calls.filter(({ isWrite }) => isWrite).length, writes);
    assert.equal(world.cluster.requests.length, requests);
    assert.equal(world.connector.connects, connects);
  });

  it('tells of a node that no run has looked at since it joined (ADR 0079)', async () => {
    const world = await settled();
    world.addNode('node-0003', { taints: [{ key: 'gone', effect: 'NoExecute' }] });
    await world.mirror.sync();
    assert.deepEqual(await codesOf(world), ['Running', 'Running', 'NotWanted']);
  });

  it('tells nothing before a run has looked at the DaemonSet', async () => {
    const world = new ReconcileWorld({ nodes: 2 });
    await world.mirror.sync();
    assert.equal(await world.explain(), undefined);
  });

  it('tells of pods that were refused', async () => {
    const world = await settled();
    world.addNode('node-0003');
    await world.mirror.sync();
    world.meet('create-pod', { kind: 'answer', outcome: FORBIDDEN });
    await world.run();
    assert.deepEqual(await codesOf(world), ['Running', 'Running', 'Refused']);
  });

  it('tells that a frozen cluster waits, and why', async () => {
    const told = await lacking({ isFrozen: true, configVersion: 2 });
    assert.equal(told?.[0]?.[0], 'WaitingForCluster');
    assert.match(told[0][1], /The cluster is frozen/);
  });

  it('tells that a takeover without its sentinel waits (ADR 0012)', async () => {
    const told = await lacking({ sentinel: { uid: uid('lost'), createdAtMs: 0 } });
    assert.equal(told?.[0]?.[0], 'WaitingForCluster');
    assert.match(told[0][1], /The sentinel of this takeover is gone/);
  });

  it('tells that a silent watcher is waited for (protocol 1)', async () => {
    const world = await settled();
    world.addNode('node-0003');
    await world.mirror.sync();
    await world.clock.advance(SILENCE_MS);
    const told = await world.explain();
    assert.match(told?.[2]?.message ?? '', /Nothing was heard of/);
  });

  it('does not guess while the view is not whole', async () => {
    const world = await settled();
    world.addNode('node-0003');
    await world.mirror.sync();
    const meta = await world.view.readMeta(world.registration.clusterUid);
    assert.ok(meta !== undefined);
    await world.view.writeMeta({ ...meta, isComplete: false, incompleteReason: 'gap' });
    const told = await world.explain();
    assert.match(told?.[2]?.message ?? '', /The view of the cluster is not whole \(gap\)/);
  });
});
