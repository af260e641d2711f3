/** The takeover probe and the switch (design 5, protocol 9): doubt refuses, the probe always goes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterId } from '../../../src/core/model/identifiers.ts';
import type { DaemonSetObject } from '../../../src/core/model/kubernetes.ts';
import { enterTakeover, probeForBuiltInController } from '../../../src/app/takeover-probe.ts';
import type { ProbeResult, TakeoverDependencies } from '../../../src/app/takeover-probe.ts';
import type { LiveRead } from '../../../src/ports/cluster-access.ts';
import type { ProbeAccess } from '../../../src/ports/probe-access.ts';
import { ReconcileWorld } from '../../support/reconcile-world.ts';

/** A place for the probe; `observesAfterMs` plays the built-in controller. */
class ProbePlace implements ProbeAccess {
  /** UIDs that deletes were fenced with; undefined for the one that clears a leftover. */
  readonly deleted: (string | undefined)[] = [];
  created: DaemonSetObject | undefined;
  observesAfterMs = Infinity;
  answer: LiveRead<never> | undefined;
  readAnswer: LiveRead<never> | undefined;
  readonly #world: ReconcileWorld;
  #createdAtMs = 0;

  constructor(world: ReconcileWorld) {
    this.#world = world;
  }

  createDaemonSet(
    probe: Parameters<ProbeAccess['createDaemonSet']>[0],
  ): Promise<LiveRead<DaemonSetObject>> {
    if (this.answer !== undefined) return Promise.resolve(this.answer);
    this.#createdAtMs = this.#world.clock.nowMs();
    const body = probe.body as unknown as DaemonSetObject; // a DaemonSet, without what a server adds
    this.created = { ...body, metadata: { ...body.metadata, uid: 'probe', generation: 1 } };
    return Promise.resolve({ kind: 'found', object: this.created });
  }

  getDaemonSet(): Promise<LiveRead<DaemonSetObject>> {
    if (this.readAnswer !== undefined) return Promise.resolve(this.readAnswer);
    if (this.created === undefined) return Promise.resolve({ kind: 'missing' });
    const isObserved = this.#world.clock.nowMs() - this.#createdAtMs >= this.observesAfterMs;
    const status = { observedGeneration: isObserved ? 1 : 0 } as never; // counters do not matter
    return Promise.resolve({ kind: 'found', object: { ...this.created, status } });
  }

  deleteDaemonSet(
    _key: unknown,
    precondition?: { readonly uid: string },
  ): Promise<LiveRead<unknown>> {
    this.deleted.push(precondition?.uid);
    return Promise.resolve({ kind: 'missing' });
  }
}

function setUp(world: ReconcileWorld): TakeoverDependencies & { access: ProbePlace } {
  const { registry, view, connector, clock } = world;
  const { random } = world.dependencies;
  return { access: new ProbePlace(world), registry, view, connector, clock, random };
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
    const { created } = access;
    assert.ok(created !== undefined);
    access.created = { ...created, metadata: { ...created.metadata, uid: 'another' } };
    assert.equal((await probe(world, run)).kind, 'unknown');
  });

  it('finds nobody when the probe stays unobserved for longer than a lease', async () => {
    const world = new ReconcileWorld();
    const dependencies = setUp(world);
    const result = await probe(world, probeForBuiltInController(dependencies));
    assert.equal(result.kind, 'absent');
    assert.deepEqual(dependencies.access.deleted, [undefined, 'probe']);
    const spec = dependencies.access.created?.spec.template.spec;
    assert.deepEqual(Object.keys(spec?.nodeSelector ?? {}), ['rollcall.dev/takeover-probe']);
  });

  it('finds the built-in controller when its generation moves, and deletes the probe', async () => {
    const world = new ReconcileWorld();
    const dependencies = setUp(world);
    dependencies.access.observesAfterMs = 16_000;
    const result = await probe(world, probeForBuiltInController(dependencies));
    assert.equal(result.kind, 'present');
    assert.deepEqual(dependencies.access.deleted, [undefined, 'probe']);
  });

  it('knows nothing when the probe could not be created, read or kept', async () => {
    const world = new ReconcileWorld();
    const unavailable = { kind: 'unavailable', message: '500', isRefused: false } as const;
    for (const answers of [
      { answer: unavailable },
      { answer: { kind: 'missing' } as const },
      { readAnswer: unavailable },
      { readAnswer: { kind: 'missing' } as const },
    ]) {
      const dependencies = setUp(world);
      Object.assign(dependencies.access, answers);
      const result = await probe(world, probeForBuiltInController(dependencies));
      assert.equal(result.kind, 'unknown');
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
    const meta = await world.view.readMeta(world.mirror.clusterUid);
    assert.equal(meta?.isComplete, false);
    assert.equal(meta.broken, 1);
    const run = await world.run();
    assert.equal(run.kind === 'deferred' && run.code, 'view-incomplete');
    assert.equal(world.pods.length, 0, 'nothing before the snapshot');
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
    const entering = enterTakeover(clusterId('a'), setUp(world));
    await world.clock.advance(1_000);
    world.register({ isFrozen: true });
    const [result] = await Promise.all([entering, world.clock.advance(60_000)]);
    assert.equal(result.kind, 'failed');
    const stored = await world.registry.readCluster(clusterId('a'));
    assert.equal(stored?.isFrozen, true);
    assert.equal(stored.mode, 'observe');
  });
});
