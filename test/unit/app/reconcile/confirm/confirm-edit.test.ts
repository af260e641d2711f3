/** spec 2.9, 2.10: a rollout's deletes are for the template that is live, not for the one that was seen. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { phaseOf, ReconcileWorld } from '../../../../support/reconcile-world.ts';

function twoAtATime(object: DaemonSetObject): DaemonSetObject {
  const rollingUpdate = { maxUnavailable: 2 };
  return {
    ...object,
    spec: { ...object.spec, updateStrategy: { type: 'RollingUpdate', rollingUpdate } },
  };
}

/** Pods that are there and not on their way out. */
const podUids = (world: ReconcileWorld): readonly string[] =>
  world.pods
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ metadata }) => metadata.uid)
    .sort();

/** Two of four pods are replaced and ready, and seen so: the next run would replace the others. */
async function halfRolled(): Promise<ReconcileWorld> {
  const world = await ReconcileWorld.settled({ nodes: 4, daemonSet: twoAtATime });
  world.setImage('example/agent:2');
  const former = new Set(podUids(world));
  const isHalf = (): boolean => {
    const replaced = world.pods.filter(({ metadata }) => !former.has(metadata.uid));
    return replaced.length === 2 && replaced.every((pod) => phaseOf(pod) === 'Running');
  };
  for (let round = 0; !isHalf(); round += 1) {
    assert.ok(round < 10, 'half of the pods are replaced by now');
    await world.step();
    world.runKubelets();
    await world.clock.advance(1000);
  }
  await world.mirror.sync();
  return world;
}

function setSelector(world: ReconcileWorld, nodeSelector: Readonly<Record<string, string>>): void {
  world.edit(({ template }) => ({
    template: { ...template, spec: { containers: [], ...template.spec, nodeSelector } },
  }));
}

/** Pods on three nodes with a label that they have no more; the view shows that, and the selector as it was. */
async function unlabelled(): Promise<ReconcileWorld> {
  const world = new ReconcileWorld({ nodes: 0 });
  const names = ['node-0001', 'node-0002', 'node-0003'];
  for (const name of names) world.addNode(name, { labels: { disk: 'ssd' } });
  setSelector(world, { disk: 'ssd' });
  await world.settle();
  assert.equal(podUids(world).length, names.length);
  for (const name of names) world.addNode(name);
  await world.mirror.sync();
  return world;
}

describe('a placement that the view does not show yet', () => {
  it('keeps pods where the live DaemonSet wants them, although the seen one does not (S3)', async () => {
    const world = await unlabelled();
    const before = podUids(world);
    setSelector(world, {});
    const result = await world.run();
    assert.equal(result.kind === 'deferred' ? result.code : result.kind, 'daemon-set-changed');
    assert.deepEqual(podUids(world), before);
  });

  it('takes them away where it is as it was seen', async () => {
    const world = await unlabelled();
    await world.run();
    assert.deepEqual(podUids(world), []);
  });
});

describe('an undo that the view does not show yet', () => {
  it('keeps every pod that the run would have replaced', async () => {
    const world = await halfRolled();
    const before = podUids(world);
    world.setImage('example/agent:1');
    const result = await world.run();
    assert.equal(result.kind === 'deferred' ? result.code : result.kind, 'daemon-set-changed');
    assert.deepEqual(podUids(world), before);
  });

  it('is no reason to keep a pod that failed', async () => {
    const world = await halfRolled();
    const before = podUids(world);
    const [failed] = world.pods;
    assert.ok(failed !== undefined);
    world.setPhase(failed.metadata.name, 'Failed');
    await world.mirror.sync();
    world.setImage('example/agent:1');
    await world.run();
    const { uid } = failed.metadata;
    assert.deepEqual(
      podUids(world),
      before.filter((each) => each !== uid),
    );
  });

  it('may be there where the DaemonSet cannot be read: they are kept', async () => {
    const world = await halfRolled();
    const before = podUids(world);
    const trouble = { kind: 'unavailable', message: 'no route', isRefused: false } as const;
    world.cluster.hooks.onRead = (what) => (what === 'LIST daemonsets' ? trouble : undefined);
    const result = await world.run();
    assert.equal(result.kind === 'deferred' ? result.code : result.kind, 'cluster-unavailable');
    assert.deepEqual(podUids(world), before);
  });

  it('does not hold up a rollout where there is none', async () => {
    const world = await halfRolled();
    const before = podUids(world);
    await world.run();
    assert.equal(podUids(world).length, before.length - 2);
  });

  it('is asked for once, for creates and deletes alike: no answer contradicts another (S5)', async () => {
    const world = await halfRolled();
    world.addNode('node-0009');
    await world.mirror.sync();
    const before = world.cluster.requests.length;
    const uids = podUids(world);
    world.change(({ metadata }) => ({
      metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
    }));
    await world.run();
    const asked = world.cluster.requests
      .slice(before)
      .filter((request) => request.startsWith('LIST daemonsets'));
    assert.equal(asked.length, 2, 'once for all pods, once for the status');
    assert.deepEqual(podUids(world), uids, 'neither made nor deleted');
  });
});
