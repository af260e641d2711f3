/** protocol 8: versions move without any content of ours changing; nobody is starved, and nothing is overwritten. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DaemonSetObject, DaemonSetStatus, KubernetesObject } from '@rollcall/base/objects.ts';
import type { Kind } from '../../../support/simulated-hooks.ts';
import { MOVED_VICTIMS_MAX } from '../../../../src/app/reconcile/confirm/confirm-victims.ts';
import { codeOf, ReconcileWorld } from '../../../support/reconcile-world.ts';

const KEY = { namespace: 'system', name: 'agents' };

/** Every object is rewritten as it is, as a migration of the store does. */
function touchAll(world: ReconcileWorld): void {
  for (const kind of [
    'nodes',
    'pods',
    'daemonsets',
    'controllerrevisions',
  ] as const satisfies Kind[]) {
    for (const { metadata } of world.cluster.list(kind)) {
      const { namespace = '', name } = metadata;
      world.cluster.change(kind, { namespace, name }, (object) => object);
    }
  }
}

const annotate = (world: ReconcileWorld, value: string): void => {
  world.change(({ metadata }) => ({
    metadata: { ...metadata, annotations: { 'example.com/at': value } },
  }));
};

function changeStatus(world: ReconcileWorld, change: Partial<DaemonSetStatus>): void {
  world.change(({ status }) => ({ status: { ...status, ...change } }));
}

const statusOf = (world: ReconcileWorld): Partial<DaemonSetStatus> => world.daemonSet.status ?? {};

function imageOf(pod: KubernetesObject): string | undefined {
  const { containers } = pod['spec'] as { readonly containers: readonly { image: string }[] };
  return containers[0]?.image;
}

const withMaxUnavailable =
  (maxUnavailable: number) =>
  (object: DaemonSetObject): DaemonSetObject => ({
    ...object,
    spec: {
      ...object.spec,
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable } },
    },
  });

/** Requests of pods since then, by kind. */
function podRequests(world: ReconcileWorld, since: number): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const request of world.cluster.requests.slice(since)) {
    const key = /^(?:GET|LIST) pods|^(?:create|delete)-pod/.exec(request)?.[0];
    if (key !== undefined) counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

describe('protocol 8: a pod is replaced', () => {
  const IMAGE = 'example/agent:2';
  const rolled = async (nodes: number, isTouched: boolean): Promise<Record<string, number>> => {
    const daemonSet = withMaxUnavailable(Math.ceil(nodes / 2));
    const world = await ReconcileWorld.settled({ nodes, daemonSet });
    if (isTouched) touchAll(world);
    const since = world.cluster.requests.length;
    world.setImage(IMAGE);
    await world.settle({ withinMs: 600_000 });
    assert.deepEqual(new Set(world.cluster.list('pods').map(imageOf)), new Set([IMAGE]));
    return podRequests(world, since);
  };

  it('over the version that the view showed, by one request each, after one list (ADR 0071)', async () => {
    const counts = await rolled(20, false);
    assert.deepEqual(counts, { 'delete-pod': 20, 'create-pod': 20, 'LIST pods': 1 });
  });

  it('that are few are read one by one', async () => {
    const counts = await rolled(8, false);
    assert.deepEqual(counts, { 'GET pods': 8, 'delete-pod': 8, 'create-pod': 8 });
  });

  it('although its version moved and nothing else: it meets one conflict, and is read (ADR 0071)', async () => {
    const { 'delete-pod': deletes, 'GET pods': reads } = await rolled(40, true);
    assert.deepEqual([deletes, reads], [80, 40]);
  });

  it('by reads alone, once many had moved: whoever writes them writes all (ADR 0071)', async () => {
    const { 'delete-pod': deletes = 0 } = await rolled(300, true);
    assert.ok(deletes - 300 >= MOVED_VICTIMS_MAX && deletes - 300 <= 150, `${deletes}`);
  });
});

describe('protocol 8: a status is written', () => {
  it('although the version moved and nothing else: a node joins after an apply of equal values (A.1)', async () => {
    const world = await ReconcileWorld.settled({ nodes: 2 });
    world.change(() => ({}));
    world.addNode('node-0003');
    await world.settle({ withinMs: 60_000 });
    assert.equal(statusOf(world).desiredNumberScheduled, 3);
    assert.equal(statusOf(world).numberReady, 3);
  });

  it('after a rewrite of every object, without touching a pod', async () => {
    const world = await ReconcileWorld.settled({ nodes: 3 });
    const before = world.pods.map(({ metadata }) => metadata.uid);
    touchAll(world);
    await world.settle();
    assert.deepEqual(
      before,
      world.pods.map(({ metadata }) => metadata.uid),
    );
    world.setPhase(world.pods[0]?.metadata.name ?? '', 'Pending');
    world.idleNodes.add('node-0001');
    await world.settle({ withinMs: 60_000 });
    assert.equal(statusOf(world).numberReady, 2);
  });

  it('although somebody writes an annotation between each read and its write', async () => {
    const world = await ReconcileWorld.settled({ nodes: 2 });
    world.addNode('node-0003');
    let writes = 0;
    world.cluster.hooks.beforeEffect = ({ kind }) => {
      // Every second write of ours meets one of the annotator's.
      if (kind === 'update-status' && (writes += 1) % 2 === 1) annotate(world, String(writes));
      return undefined;
    };
    await world.settle({ withinMs: 10_000 });
    assert.equal(statusOf(world).numberReady, 3);
    assert.equal(world.daemonSet.metadata.annotations?.['example.com/at'], String(writes - 1));
  });

  it('over conditions that others wrote since it was seen, and they stay', async () => {
    const world = await ReconcileWorld.settled({ nodes: 2 });
    world.addNode('node-0003');
    await world.step();
    world.runKubelets();
    await world.mirror.sync();
    const conditions = [{ type: 'example.com/Checked', status: 'True' }];
    changeStatus(world, { conditions });
    await world.clock.advance(2_000);
    await world.run();
    assert.equal(statusOf(world).numberReady, 3);
    assert.deepEqual(statusOf(world).conditions, conditions);
  });

  it('never over counters, a generation or a collisionCount that contradict what was seen', async () => {
    for (const change of [{ numberReady: 9 }, { observedGeneration: 7 }, { collisionCount: 1 }]) {
      const world = await ReconcileWorld.settled({ nodes: 2 });
      const taints = [{ key: 'example.com/reserved', effect: 'NoSchedule' }];
      world.addNode('node-0002', { taints });
      await world.mirror.sync();
      changeStatus(world, change);
      const untouched = world.daemonSet;
      assert.equal(codeOf(await world.run()), 'status-conflict');
      assert.deepEqual(world.daemonSet, untouched);
    }
  });

  it('is planned on again when the object that it went over was not the one that was seen', async () => {
    const world = await ReconcileWorld.settled({ nodes: 2 });
    world.setPhase(world.pods[0]?.metadata.name ?? '', 'Pending');
    await world.mirror.sync();
    annotate(world, 'unseen');
    assert.equal((await world.run()).kind, 'acted');
    await world.mirror.sync();
    assert.equal(
      (await world.run()).kind,
      'settled',
      'not skipped: the annotation was not planned on',
    );
  });
});

describe('protocol 8: an old revision goes', () => {
  it('with the version that it has now, whatever version it was seen with', async () => {
    const world = await ReconcileWorld.settled({
      nodes: 1,
      daemonSet: (object) => ({ ...object, spec: { ...object.spec, revisionHistoryLimit: 0 } }),
    });
    world.cluster.hooks.beforeEffect = (effect) => {
      if (effect.kind === 'create-revision') touchRevisions(world);
      return undefined;
    };
    world.cluster.change('daemonsets', KEY, (object) => withImage(object, 'example/agent:2'));
    await world.settle({ withinMs: 60_000 });
    assert.equal(world.cluster.list('controllerrevisions').length, 1);
  });
});

function touchRevisions(world: ReconcileWorld): void {
  for (const { metadata } of world.cluster.list('controllerrevisions')) {
    const { namespace = '', name } = metadata;
    world.cluster.change('controllerrevisions', { namespace, name }, (object) => object);
  }
}

function withImage(object: KubernetesObject, image: string): KubernetesObject {
  const spec = object['spec'] as { readonly template: object };
  const template = { ...spec.template, spec: { containers: [{ name: 'agent', image }] } };
  const generation = (object.metadata.generation ?? 0) + 1;
  return {
    ...object,
    metadata: { ...object.metadata, generation },
    spec: { ...spec, template },
  };
}
