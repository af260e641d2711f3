/** The takeover probe and the switch (design 5, protocol 9): doubt refuses; a quiet probe stays. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterId, uid } from '../../../../src/core/model/identifiers.ts';
import {
  enterTakeover,
  isSentinelQuiet,
  probeForBuiltInController,
  type ProbeResult,
  type TakeoverDependencies,
} from '../../../../src/app/takeover/takeover-probe.ts';
import { ProbePlace } from '../../../support/probe-place.ts';
import { ReconcileWorld } from '../../../support/reconcile-world.ts';

function setUp(world: ReconcileWorld): TakeoverDependencies & { access: ProbePlace } {
  const { registry, view, connector, clock } = world;
  const { random } = world.dependencies;
  return { access: new ProbePlace(world.clock), registry, view, connector, clock, random };
}

async function probe(world: ReconcileWorld, run: Promise<ProbeResult>): Promise<ProbeResult> {
  const [result] = await Promise.all([run, world.clock.advance(60_000)]);
  return result;
}

describe('probeForBuiltInController', () => {
  it('gives no answer when another probe took its place meanwhile', async () => {
    const world = new ReconcileWorld();
    const dependencies = setUp(world);
    const { access } = dependencies;
    const run = probeForBuiltInController(dependencies);
    await world.clock.advance(1000);
    const { standing } = access;
    assert.ok(standing !== undefined);
    access.standing = { ...standing, metadata: { ...standing.metadata, uid: 'another' } };
    assert.equal((await probe(world, run)).kind, 'unknown');
  });

  it('finds nobody when the probe stays unobserved for longer than a lease', async () => {
    const world = new ReconcileWorld();
    const dependencies = setUp(world);
    const result = await probe(world, probeForBuiltInController(dependencies));
    assert.ok(result.kind === 'absent');
    assert.equal(result.sentinel.uid, 'probe-1');
    assert.equal(dependencies.access.standing?.metadata.uid, 'probe-1', 'it stays as the sentinel');
    assert.deepEqual(dependencies.access.deleted, []);
    const spec = dependencies.access.created?.spec.template.spec;
    assert.deepEqual(Object.keys(spec?.nodeSelector ?? {}), ['rollcall.dev/takeover-probe']);
  });

  it('finds the built-in controller when its generation moves, and deletes the probe', async () => {
    const world = new ReconcileWorld();
    const dependencies = setUp(world);
    dependencies.access.observesAfterMs = 16_000;
    const result = await probe(world, probeForBuiltInController(dependencies));
    assert.equal(result.kind, 'present');
    assert.deepEqual(dependencies.access.deleted, ['probe-1']);
  });

  it('replaces a sentinel that stood there, so that the watch begins at zero', async () => {
    const world = new ReconcileWorld();
    const dependencies = setUp(world);
    await probe(world, probeForBuiltInController(dependencies));
    const again = await probe(world, probeForBuiltInController(dependencies));
    assert.ok(again.kind === 'absent');
    assert.equal(again.sentinel.uid, 'probe-2');
    assert.ok(again.sentinel.createdAtMs > world.clock.nowMs() - 61_000);
    assert.deepEqual(dependencies.access.deleted, ['probe-1']);
  });

  it('leaves a DaemonSet alone that has its name and is not its own', async () => {
    const world = new ReconcileWorld();
    const dependencies = setUp(world);
    await probe(world, probeForBuiltInController(dependencies));
    const { standing } = dependencies.access;
    assert.ok(standing !== undefined);
    dependencies.access.standing = { ...standing, metadata: { ...standing.metadata, labels: {} } };
    assert.equal((await probeForBuiltInController(dependencies)).kind, 'unknown');
    assert.deepEqual(dependencies.access.deleted, []);
  });

  it('knows nothing when the probe could not be created, read or kept', async () => {
    const world = new ReconcileWorld();
    const unavailable = { kind: 'unavailable', message: '500', isRefused: false } as const;
    for (const answers of [
      { createAnswer: unavailable },
      { createAnswer: { kind: 'missing' } as const },
      { readAnswer: unavailable },
      { readAnswer: { kind: 'missing' } as const },
    ]) {
      const dependencies = setUp(world);
      Object.assign(dependencies.access, answers);
      const result = await probe(world, probeForBuiltInController(dependencies));
      assert.equal(result.kind, 'unknown');
      assert.equal(dependencies.access.standing, undefined, 'no probe is left behind');
    }
  });
});

describe('enterTakeover', () => {
  it('writes the mode, and awaits a snapshot announced after the probe (protocol 9)', async () => {
    const world = new ReconcileWorld({ nodes: 1, mode: 'observe' });
    await world.mirror.sync();
    const dependencies = setUp(world);
    const [result] = await Promise.all([
      enterTakeover(clusterId('a'), dependencies),
      world.clock.advance(60_000),
    ]);
    assert.ok(result.kind === 'entered' && result.isSnapshotRequested);
    const registration = await world.registry.readCluster(clusterId('a'));
    assert.equal(registration?.mode, 'takeover');
    assert.equal(registration.takeoverProbedAtMs, result.probedAtMs);
    assert.equal(registration.sentinel?.uid, dependencies.access.standing?.metadata.uid);
    assert.equal(await isSentinelQuiet(registration, dependencies.access), true);
    const meta = await world.view.readMeta(world.mirror.clusterUid);
    assert.equal(meta?.isComplete, false);
    assert.equal(meta.broken, 1);
    const run = await world.run();
    assert.equal(run.kind === 'deferred' && run.code, 'view-incomplete');
    assert.equal(world.pods.length, 0, 'nothing before the snapshot');
    // The two are one cluster: its sentinel has one UID.
    const { metadata } = world.cluster.put('daemonsets', dependencies.access.standing as never);
    const sentinel = { createdAtMs: 0, uid: uid(metadata.uid) };
    world.registry.seed({ ...registration, sentinel });
    await world.settle();
    assert.equal(world.pods.length, 1);
  });

  it('refuses beside the built-in controller, and writes nothing', async () => {
    const world = new ReconcileWorld({ nodes: 1, mode: 'observe' });
    await world.mirror.sync();
    const dependencies = setUp(world);
    dependencies.access.observesAfterMs = 0;
    const [result] = await Promise.all([
      enterTakeover(clusterId('a'), dependencies),
      world.clock.advance(60_000),
    ]);
    assert.deepEqual(result, { kind: 'refused', reason: 'built-in-controller-runs' });
    assert.equal((await world.registry.readCluster(clusterId('a')))?.mode, 'observe');
    assert.equal((await world.view.readMeta(world.mirror.clusterUid))?.isComplete, true);
  });

  it('does not overwrite a registration that was changed meanwhile', async () => {
    const world = new ReconcileWorld({ nodes: 1, mode: 'observe' });
    await world.mirror.sync();
    const dependencies = setUp(world);
    const entering = enterTakeover(clusterId('a'), dependencies);
    await world.clock.advance(1_000);
    world.register({ isFrozen: true });
    const [result] = await Promise.all([entering, world.clock.advance(60_000)]);
    assert.equal(result.kind, 'failed');
    const stored = await world.registry.readCluster(clusterId('a'));
    assert.equal(stored?.isFrozen, true);
    assert.equal(stored.mode, 'observe');
    assert.equal(dependencies.access.standing, undefined, 'no sentinel without a takeover');
  });

  it('forgets the rival of an earlier takeover once a new probe was quiet', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    await world.mirror.sync();
    world.register({ rival: { seenAtMs: 1, evidence: 'it was seen' } });
    const dependencies = setUp(world);
    const [result] = await Promise.all([
      enterTakeover(clusterId('a'), dependencies),
      world.clock.advance(60_000),
    ]);
    assert.equal(result.kind, 'entered');
    assert.equal((await world.registry.readCluster(clusterId('a')))?.rival, undefined);
  });
});

describe('isSentinelQuiet', () => {
  it('doubts a sentinel that was synced, replaced, deleted or is unreadable', async () => {
    const world = new ReconcileWorld({ nodes: 1, mode: 'observe' });
    await world.mirror.sync();
    const dependencies = setUp(world);
    const { access } = dependencies;
    await Promise.all([enterTakeover(clusterId('a'), dependencies), world.clock.advance(60_000)]);
    const registration = await world.registry.readCluster(clusterId('a'));
    assert.ok(registration?.sentinel !== undefined);
    const { standing } = access;
    assert.ok(standing !== undefined);
    assert.equal(await isSentinelQuiet(registration, access), true);
    access.standing = { ...standing, metadata: { ...standing.metadata, uid: 'another' } };
    assert.equal(await isSentinelQuiet(registration, access), false);
    access.standing = undefined;
    assert.equal(await isSentinelQuiet(registration, access), false);
    access.standing = standing;
    access.observesAfterMs = 0;
    assert.equal(await isSentinelQuiet(registration, access), false);
    access.observesAfterMs = Infinity;
    access.readAnswer = { kind: 'unavailable', message: '500', isRefused: false };
    assert.equal(await isSentinelQuiet(registration, access), false);
    access.readAnswer = undefined;
    const rival = { seenAtMs: 1, evidence: 'it was seen' };
    assert.equal(await isSentinelQuiet({ ...registration, rival }, access), false);
  });
});
