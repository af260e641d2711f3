/** Hand-back: freeze, wait until nothing of ours can arrive, leave; no pod is touched. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RUN_MAX_MS } from '../../../../src/core/pod/request-life.ts';
import { clusterId, nodeName, uid } from '../../../../src/core/model/identifiers.ts';
import type { DaemonSetObject, DaemonSetStatus } from '@rollcall/base/objects.ts';
import { emptyState } from '../../../../src/core/model/state.ts';
import { sentinelBody } from '../../../../src/core/may-act/takeover-sentinel.ts';
import { rivalNotice, withPauseNotice } from '../../../../src/core/status/pause-notice.ts';
import { handBack } from '../../../../src/app/takeover/hand-back.ts';
import type {
  HandBackDependencies,
  HandBackResult,
} from '../../../../src/app/takeover/hand-back.ts';
import { ProbePlace } from '../../../support/probe-place.ts';
import { ReconcileWorld } from '../../../support/reconcile-world.ts';

const CLUSTER = clusterId('a');

interface Scene {
  readonly world: ReconcileWorld;
  readonly access: ProbePlace;
  readonly progress: string[];
  readonly start: (change?: Partial<HandBackDependencies>) => Promise<HandBackResult>;
  /** Starts, and lets time pass. */
  readonly run: (change?: Partial<HandBackDependencies>) => Promise<HandBackResult>;
}

/** A settled cluster in takeover, with its sentinel. */
async function setUp(): Promise<Scene> {
  const world = new ReconcileWorld({ nodes: 2 });
  const access = new ProbePlace(world.clock);
  const created = await access.createDaemonSet({ ...access, body: sentinelBody('x') } as never);
  assert.ok(created.kind === 'found');
  // The two are one cluster: its sentinel has one UID.
  const { metadata } = world.cluster.put('daemonsets', created.object as never);
  access.standing = {
    ...created.object,
    metadata: { ...created.object.metadata, uid: metadata.uid },
  };
  world.register({ sentinel: { uid: uid(metadata.uid), createdAtMs: 1 } });
  await world.settle();
  const progress: string[] = [];
  const { registry, view, clock } = world;
  const start: Scene['start'] = (change) =>
    handBack(CLUSTER, {
      registry,
      view,
      access,
      clock,
      requestTimeoutMs: 10_000,
      functionMaxMs: 30_000,
      onProgress: (text) => progress.push(text),
      ...change,
    });
  const run: Scene['run'] = async (change) => {
    const result = start(change);
    await clock.advance(300_000);
    return result;
  };
  return { world, access, progress, start, run };
}

const registered = ({ world }: Scene) => world.registry.readCluster(CLUSTER);

function pausedDaemonSet(name: string): DaemonSetObject {
  const foreign = { type: 'Foreign', status: 'True' };
  const status = { conditions: [foreign] } as unknown as DaemonSetStatus; // counters do not matter
  const rival = { seenAtMs: 1, evidence: 'it was seen' };
  return {
    metadata: { name, namespace: 'system', uid: name, resourceVersion: '1' },
    spec: { template: {} },
    status: withPauseNotice(status, rivalNotice(rival), 1),
  };
}

describe('handBack', () => {
  it('freezes first, and leaves only after twice the time-out of the last possible request', async () => {
    const scene = await setUp();
    const { world } = scene;
    const pods = world.pods.map(({ metadata }) => metadata.uid);
    const before = await registered(scene);
    const result = scene.start();
    await world.clock.advance(49_000);
    const waiting = await registered(scene);
    assert.equal(waiting?.mode, 'takeover');
    assert.equal(waiting.isFrozen, true);
    assert.ok(waiting.configVersion > (before?.configVersion ?? 0), 'running functions see it');
    assert.ok(scene.access.standing !== undefined);
    await world.clock.advance(2_000);
    assert.deepEqual(await result, {
      kind: 'handed-back',
      wasTakenOver: true,
      waitedMs: 50_000,
      clearedNotices: 0,
    });
    const left = await registered(scene);
    assert.equal(left?.mode, 'observe');
    assert.equal(left.isFrozen, false);
    assert.equal(left.sentinel, undefined);
    assert.equal(left.takeoverProbedAtMs, undefined);
    assert.equal(scene.access.standing, undefined, 'the sentinel is gone');
    await world.settle();
    assert.deepEqual(
      world.pods.map(({ metadata }) => metadata.uid),
      pods,
    );
  });

  it('stops a run under way at its next batch, and lets nothing start after it', async () => {
    const scene = await setUp();
    const { world } = scene;
    for (let index = 3; index <= 30; index += 1)
      world.addNode(`node-${String(index).padStart(4, '0')}`);
    await world.mirror.sync();
    let result: Promise<HandBackResult> | undefined;
    world.cluster.hooks.afterEffect = async ({ kind }) => {
      if (kind !== 'create-pod' || result !== undefined) return;
      result = scene.start();
      while ((await registered(scene))?.isFrozen !== true) await Promise.resolve();
    };
    const run = await world.run();
    assert.ok(run.kind === 'deferred' && run.code === 'interrupted');
    const count = world.pods.length;
    await world.clock.advance(300_000);
    assert.equal((await result)?.kind, 'handed-back');
    await world.settle();
    assert.equal(world.pods.length, count, 'nothing was created after the freeze');
  });

  it('waits for the youngest effect of which nobody knows whether it was applied', async () => {
    const scene = await setUp();
    const { world } = scene;
    const stored = (await world.view.readState(world.ref)) ?? emptyState(0);
    const recordedAtMs = world.clock.nowMs() + 15_000;
    const intent = {
      kind: 'create',
      node: nodeName('node-0001'),
      name: 'late',
      recordedAtMs,
      startsByMs: recordedAtMs + RUN_MAX_MS,
    } as const;
    await world.view.writeState(world.ref, { ...stored, intents: [intent] });
    const result = scene.start();
    await world.clock.advance(64_000);
    assert.equal((await registered(scene))?.mode, 'takeover');
    await world.clock.advance(2_000);
    const end = await result;
    assert.equal(end.kind === 'handed-back' && end.waitedMs, 65_000);
  });

  it('gives up, frozen, when effects keep being recorded', async () => {
    const scene = await setUp();
    const { world } = scene;
    const stored = (await world.view.readState(world.ref)) ?? emptyState(0);
    const view = {
      listNames: world.view.listNames.bind(world.view),
      readState: () => {
        const recordedAtMs = world.clock.nowMs();
        const intent = {
          kind: 'create',
          node: nodeName('n'),
          name: 'again',
          recordedAtMs,
          startsByMs: recordedAtMs + RUN_MAX_MS,
        } as const;
        return Promise.resolve({ ...stored, intents: [intent] });
      },
    };
    const result = await scene.run({ view });
    assert.ok(result.kind === 'failed' && result.step === 'wait');
    const left = await registered(scene);
    assert.equal(left?.mode, 'takeover');
    assert.equal(left.isFrozen, true);
  });

  it('needs not wait for what is known to have stopped long ago', async () => {
    const scene = await setUp();
    const result = await scene.run({ functionMaxMs: 0, quietForMs: 40_000 });
    assert.equal(result.kind === 'handed-back' && result.waitedMs, 0);
  });

  it('waits and cleans up where the registry knows nothing', async () => {
    const scene = await setUp();
    const registry = {
      readCluster: () => Promise.resolve(undefined),
      writeCluster: () => Promise.reject(new Error('nothing is written')),
    };
    const result = await scene.run({ registry, functionMaxMs: 0 });
    assert.deepEqual(result, {
      kind: 'handed-back',
      wasTakenOver: false,
      waitedMs: 20_000,
      clearedNotices: 0,
    });
    assert.equal(scene.access.standing, undefined);
  });

  it('does not overwrite what somebody else decided meanwhile', async () => {
    const scene = await setUp();
    const result = scene.start();
    await scene.world.clock.advance(10_000);
    const stored = await registered(scene);
    assert.ok(stored !== undefined);
    scene.world.registry.seed({
      ...stored,
      isFrozen: false,
      configVersion: stored.configVersion + 1,
    });
    await scene.world.clock.advance(300_000);
    const end = await result;
    assert.ok(end.kind === 'failed' && end.step === 'leave');
    assert.equal((await registered(scene))?.mode, 'takeover');
    assert.ok(scene.access.standing !== undefined);
  });

  it('goes on when a rival was marked while it waited', async () => {
    const scene = await setUp();
    const result = scene.start();
    await scene.world.clock.advance(10_000);
    const stored = await registered(scene);
    assert.ok(stored !== undefined);
    const rival = { seenAtMs: 1, evidence: 'it was seen' };
    assert.equal(await scene.world.registry.noteRival(stored, rival), 'noted');
    await scene.world.clock.advance(300_000);
    assert.equal((await result).kind, 'handed-back');
    const left = await registered(scene);
    assert.equal(left?.mode, 'observe');
    assert.equal(left.rival, undefined);
  });

  it('keeps a freeze that stood before', async () => {
    const scene = await setUp();
    scene.world.register({ isFrozen: true, configVersion: 50 });
    assert.equal((await scene.run()).kind, 'handed-back');
    assert.equal((await registered(scene))?.isFrozen, true);
  });

  it('removes the notice of every DaemonSet, beside other conditions and writers', async () => {
    const scene = await setUp();
    const { others } = scene.access;
    for (const name of ['one', 'two']) others.set(name, pausedDaemonSet(name));
    let isFirst = true;
    scene.access.onConditions = () => {
      const answer = isFirst ? ({ kind: 'changed' } as const) : undefined;
      isFirst = false;
      return answer;
    };
    const result = await scene.run();
    assert.equal(result.kind === 'handed-back' && result.clearedNotices, 2);
    for (const { status } of others.values()) {
      assert.deepEqual(status?.conditions, [{ type: 'Foreign', status: 'True' }]);
    }
  });

  it('can be repeated from a failed clean-up, without waiting again', async () => {
    const scene = await setUp();
    scene.access.listAnswer = { kind: 'unavailable', message: '500', isRefused: false };
    const failed = await scene.run();
    assert.ok(failed.kind === 'failed' && failed.step === 'clean-up');
    assert.equal((await registered(scene))?.mode, 'observe');
    scene.access.listAnswer = undefined;
    const again = await scene.run();
    assert.equal(again.kind === 'handed-back' && again.waitedMs, 0);
  });

  it('leaves a DaemonSet alone that has the sentinel’s name and is not one', async () => {
    const scene = await setUp();
    const { standing } = scene.access;
    assert.ok(standing !== undefined);
    scene.access.standing = { ...standing, metadata: { ...standing.metadata, labels: {} } };
    assert.equal((await scene.run()).kind, 'handed-back');
    assert.ok(scene.access.standing !== undefined);
    assert.deepEqual(scene.access.deleted, []);
  });
});
