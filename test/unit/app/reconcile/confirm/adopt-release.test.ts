/** spec 2.4: claiming as a whole, and DaemonSets whose selectors overlap (#101249, #108372). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { reconcileKey } from '../../../../../src/app/reconcile/reconcile-key.ts';
import type { ReconcileResult } from '../../../../../src/app/reconcile/run/result.ts';
import { onDelete, putPod } from '../../../../support/foreign-pods.ts';
import { ReconcileWorld, sampleDaemonSet } from '../../../../support/reconcile-world.ts';
import { nodeOf } from '../../../../support/simulated-cluster.ts';
import { controllerUid } from '../../../../support/simulated-objects.ts';

const NOBODY = { kind: 'none' } as const;

/** A second DaemonSet `others` with the selector of `agents`; answers its UID. */
function putOther(world: ReconcileWorld): string {
  const sample = sampleDaemonSet();
  const metadata = { ...sample.metadata, name: 'others' };
  return world.cluster.put('daemonsets', { ...sample, metadata }).metadata.uid;
}

function runOther(world: ReconcileWorld): Promise<ReconcileResult> {
  const deadlineMs = world.clock.monotonicMs() + 60_000;
  const hint = { ...world.hint, key: { ...world.hint.key, name: 'others' } };
  return reconcileKey(hint, { deadlineMs }, world.dependencies);
}

function ownerOf(world: ReconcileWorld, name: string): string | typeof NOBODY | undefined {
  const pod = world.cluster.find('pods', name, 'system');
  return pod === undefined ? undefined : (controllerUid(pod) ?? NOBODY);
}

function putOrphans(world: ReconcileWorld, count: number): void {
  for (let index = 1; index <= count; index += 1) {
    putPod(world, { name: `orphan-${index}`, node: `node-${String(index).padStart(4, '0')}` });
  }
}

const versions = (world: ReconcileWorld): readonly string[] =>
  world.pods.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`);

const codeOf = (result: ReconcileResult): string =>
  result.kind === 'deferred' ? result.code : result.kind;

describe('overlapping selectors', () => {
  it('leave alone what the other one owns, also on the same node', async () => {
    const world = new ReconcileWorld({ nodes: 2 });
    const uid = putOther(world);
    putPod(world, { name: 'others-x', node: 'node-0001', owner: uid });
    await world.settle();
    assert.deepEqual(world.owned, ['node-0001', 'node-0002']);
    assert.equal(ownerOf(world, 'others-x'), uid);
    assert.deepEqual(world.cluster.violations, []);
  });

  it('give an orphan to exactly one: the loser fails its claim, then makes a pod of its own', async () => {
    const world = new ReconcileWorld({ nodes: 2, ...onDelete });
    const uid = putOther(world);
    putPod(world, { name: 'orphan', node: 'node-0001' });
    await world.mirror.sync();
    // Both see the orphan; the other one adopts it just before this one's patch arrives.
    world.cluster.hooks = {
      beforeEffect: async (effect) => {
        if (effect.kind !== 'patch' || effect.purpose !== 'adopt') return undefined;
        world.cluster.hooks = {};
        await runOther(world);
        return undefined;
      },
    };
    assert.equal(codeOf(await world.run()), 'outcome-open');
    assert.equal(ownerOf(world, 'orphan'), uid, 'a foreign owner is never replaced');
    assert.deepEqual(world.owned, [], 'a failed claim fails the run');
    await world.settle();
    assert.deepEqual(world.owned, ['node-0001', 'node-0002']);
    assert.equal(ownerOf(world, 'orphan'), uid);
    assert.deepEqual(world.cluster.violations, []);
  });
});

describe('a claim', () => {
  it('asks for the live DaemonSet once, however many orphans it adopts', async () => {
    const world = await ReconcileWorld.settled({ nodes: 0, ...onDelete });
    putOrphans(world, 30);
    for (const pod of world.pods) world.addNode(nodeOf(pod) ?? '');
    await world.mirror.sync();
    const before = world.cluster.requests.length;
    await world.run();
    const reads = world.cluster.requests
      .slice(before)
      .filter((request) => request.startsWith('LIST daemonsets'));
    assert.equal(reads.length, 1);
    assert.equal(world.owned.length, 30);
  });

  it('fails when the DaemonSet was made again: nothing is adopted, created or deleted (S5)', async () => {
    const world = await ReconcileWorld.settled({ nodes: 3 });
    putPod(world, { name: 'orphan', node: 'node-0002' });
    world.addNode('node-0003', { taints: [{ key: 'k', effect: 'NoExecute' }] });
    world.addNode('node-0004');
    await world.mirror.sync();
    world.cluster.remove('daemonsets', 'agents', 'system');
    world.cluster.put('daemonsets', sampleDaemonSet() as never);
    const before = versions(world);
    assert.equal(codeOf(await world.run()), 'daemon-set-changed');
    assert.deepEqual(versions(world), before);
  });

  it('that fails keeps duplicates too: the one that was to stay may not be ours (S3)', async () => {
    const world = await ReconcileWorld.settled({ nodes: 1, ...onDelete });
    const [owned] = world.pods;
    assert.ok(owned !== undefined);
    await world.clock.advance(10_000);
    putPod(world, { name: 'orphan', node: 'node-0001' });
    world.cluster.change('pods', { namespace: 'system', name: 'orphan' }, (pod) => ({
      ...pod,
      metadata: { ...pod.metadata, creationTimestamp: '2020-01-01T00:00:00Z' },
    }));
    await world.mirror.sync();
    const isDuplicatePlanned = (): boolean =>
      world.cluster.requests.includes(`GET pods ${owned.metadata.name}`);
    world.meet('patch', {
      kind: 'answer',
      outcome: { kind: 'refused', code: 'invalid', status: 422, message: 'another owner' },
    });
    assert.equal(codeOf(await world.run()), 'outcome-open');
    assert.ok(isDuplicatePlanned(), 'the younger pod was to go');
    assert.notEqual(ownerOf(world, owned.metadata.name), undefined);
    world.cluster.hooks = {};
    await world.settle();
    assert.equal(world.owned.length, 1);
    assert.equal(ownerOf(world, 'orphan'), world.daemonSet.metadata.uid);
  });

  it('stops at a freeze after one batch of patches (row 92)', async () => {
    const world = new ReconcileWorld({ nodes: 200, ...onDelete });
    putOrphans(world, 200);
    await world.mirror.sync();
    let patches = 0;
    world.cluster.hooks = {
      beforeEffect: ({ kind }) => {
        patches += kind === 'patch' ? 1 : 0;
        if (patches === 10) world.register({ isFrozen: true });
        return undefined;
      },
    };
    assert.equal(codeOf(await world.run()), 'interrupted');
    assert.equal(patches, 50);
  });

  it('counts the node of a released pod as empty in the same run', async () => {
    const world = await ReconcileWorld.settled({ nodes: 1 });
    const name = world.pods[0]?.metadata.name ?? '';
    world.cluster.change('pods', { namespace: 'system', name }, (pod) => ({
      ...pod,
      metadata: { ...pod.metadata, labels: { app: 'debugging' } },
    }));
    await world.mirror.sync();
    const before = world.cluster.requests.length;
    await world.run();
    const effects = world.cluster.requests.slice(before).map((text) => text.split(' ')[0]);
    assert.deepEqual(
      effects.filter((kind) => kind === 'patch' || kind === 'create-pod'),
      ['patch', 'create-pod'],
    );
    assert.equal(ownerOf(world, name), NOBODY);
    assert.deepEqual(world.owned, ['node-0001']);
  });

  it('ignores a release that somebody made first, and an orphan that is gone', async () => {
    const world = await ReconcileWorld.settled({ nodes: 3, ...onDelete });
    const name = world.pods[0]?.metadata.name ?? '';
    world.cluster.change('pods', { namespace: 'system', name }, (pod) => ({
      ...pod,
      metadata: { ...pod.metadata, labels: { app: 'debugging' } },
    }));
    putPod(world, { name: 'orphan', node: 'node-0002' });
    await world.mirror.sync();
    world.cluster.hooks = {
      beforeEffect: (effect) => {
        if (effect.kind !== 'patch') return undefined;
        if (effect.purpose === 'adopt') world.cluster.remove('pods', 'orphan', 'system');
        else world.cluster.remove('pods', name, 'system');
        return undefined;
      },
    };
    await world.run();
    world.cluster.hooks = {};
    await world.settle();
    assert.deepEqual(world.owned, ['node-0001', 'node-0002', 'node-0003']);
    assert.deepEqual(world.cluster.violations, []);
  });
});
