// Ten orders in which others write what Rollcall reads and writes, each scripted: the end is exact, no promise broken.
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject, Taint } from '@rollcall/base/objects.ts';
import type { Kind } from '../support/simulated-hooks.ts';
import { nodeOf } from '../support/simulated-cluster.ts';
import { phaseOf } from '../support/simulation/controllers.ts';
import { imageOf, podOn, podsOf, setImage } from '../support/simulation/look.ts';
import { setReady } from '../support/simulation/steps-of-nodes.ts';
import { taintNode, tolerateFor } from '../support/simulation/steps-of-taints.ts';
import { write } from '../support/simulation/steps-of-writers.ts';
import { World } from '../support/simulation/world.ts';

const NODES = ['n1', 'n2', 'n3'];
const ROLLING: JsonObject = {
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
};

async function settled(spec: JsonObject = ROLLING): Promise<World> {
  const world = await World.start({ nodes: NODES });
  world.addDaemonSet('agent', { spec });
  await world.settle();
  return world;
}

/** Everything is right, stays so, and nobody looks at it any more (L1, L5). */
async function ends(world: World, image = 'agent:1'): Promise<void> {
  await world.settle();
  await world.rest();
  assert.deepEqual(new Set(podsOf(world, 'agent').map(imageOf)), new Set([image]));
}

const uidsOf = (world: World): readonly string[] =>
  podsOf(world, 'agent')
    .map((pod) => pod.metadata.uid)
    .toSorted();

function changeSet(world: World, change: (object: KubernetesObject) => KubernetesObject): void {
  world.api.change('daemonsets', { namespace: 'ns', name: 'agent' }, change);
}

function changeNode(world: World, name: string, change: JsonObject): void {
  if (world.api.find('nodes', name) === undefined) return;
  world.api.change('nodes', { namespace: '', name }, (node) => ({
    ...node,
    spec: { ...(node['spec'] as JsonObject), ...change },
  }));
}

const taint = (key: string, effect: Taint['effect'] = 'NoSchedule'): JsonObject => ({
  key,
  effect,
});

/** Every object of these kinds gets another version, and nothing else. */
function rewrite(world: World, kinds: readonly Kind[]): void {
  for (const kind of kinds)
    for (const object of world.api.list(kind)) write(world, { kind, object }, {});
}

describe('orders of other writers', () => {
  for (const paceMs of [0, 20, 700]) {
    test(`1, row 40: a set whose pods are let go one each ${paceMs} ms, and that is made again at once, keeps them`, async () => {
      const world = await settled();
      const before = uidsOf(world);
      world.controllers.orphanPaceMs = paceMs;
      world.controllers.deleteDaemonSet('agent', 'orphan');
      const gone = (): boolean => world.api.find('daemonsets', 'agent', 'ns') === undefined;
      await world.clock.advanceUntil(gone, { withinMs: 30_000 });
      world.addDaemonSet('agent', { spec: ROLLING });
      await ends(world);
      assert.deepEqual(uidsOf(world), before, 'adopted, none restarted');
    });
  }

  test('2, S3: a template that is reverted between our read of a pod and its delete costs no pod', async () => {
    const world = await settled();
    const before = uidsOf(world);
    let isReverted = false;
    world.site.answer = (what) => {
      if (what !== 'GET pods' || isReverted) return undefined;
      isReverted = true;
      setImage(world, 'agent', 1);
      return undefined;
    };
    setImage(world, 'agent', 2);
    await ends(world);
    assert.ok(isReverted, 'a victim was read');
    assert.deepEqual(uidsOf(world), before);
  });

  for (const remadeMs of [39_000, 61_000]) {
    test(`3, row 48: a node that is unknown, tainted, deleted and made again ${remadeMs} ms later has one pod`, async () => {
      const world = await settled();
      const others = ['n1', 'n3'].map((node) => podOn(world, 'agent', node).metadata.uid);
      const lost = podOn(world, 'agent', 'n2');
      world.controllers.deadNodes.add('n2');
      await world.advance(1000);
      setReady(world, lost, false);
      for (const effects of [['NoSchedule'], ['NoSchedule', 'NoExecute']] as const) {
        await world.advance(100);
        const taints = effects.map((effect) => taint('node.kubernetes.io/unreachable', effect));
        changeNode(world, 'n2', { taints });
      }
      await world.advance(5000);
      world.controllers.removeNode('n2');
      await world.advance(remadeMs);
      world.addNode('n2');
      world.controllers.deadNodes.delete('n2');
      world.controllers.lookAtEverything();
      const back = world.api.list('pods').filter((pod) => nodeOf(pod) === 'n2');
      for (const pod of back) setReady(world, pod, true);
      await ends(world);
      assert.equal(podsOf(world, 'agent').length, 3);
      const kept = ['n1', 'n3'].map((node) => podOn(world, 'agent', node).metadata.uid);
      assert.deepEqual(kept, others);
    });
  }

  test('4, S13: an eviction in four events leaves one new pod under another name', async () => {
    const world = await settled();
    const pod = podOn(world, 'agent', 'n2');
    const { name, namespace = '' } = pod.metadata;
    world.api.change('pods', { namespace, name }, (object) => ({
      ...object,
      status: {
        ...(object['status'] as JsonObject),
        conditions: [{ type: 'DisruptionTarget', status: 'True' }],
      },
    }));
    await world.advance(300);
    world.controllers.deletePod(pod);
    await world.advance(300);
    const found = world.api.find('pods', name, namespace);
    if (found !== undefined) world.controllers.setPhase(found, 'Failed');
    await ends(world);
    assert.notEqual(podOn(world, 'agent', 'n2').metadata.name, name);
  });

  test('5, S1: a create that is accepted with other labels is released, and its node gets a pod that matches', async () => {
    const world = await World.start({ nodes: NODES });
    let relabelled: string | undefined;
    world.site.api.hooks.admitPod = (pod) => {
      if (relabelled !== undefined || nodeOf(pod) !== 'n2') return undefined;
      relabelled = pod.metadata.name;
      return { ...pod, metadata: { ...pod.metadata, labels: { app: 'somebody' } } };
    };
    world.addDaemonSet('agent', { spec: ROLLING });
    await ends(world);
    const other = world.api.find('pods', relabelled ?? assert.fail('no pod was relabelled'), 'ns');
    assert.deepEqual(other?.metadata.ownerReferences ?? [], [], 'let go');
    assert.equal(other?.metadata.deletionTimestamp, undefined, 'not ended');
    assert.ok(other !== undefined, 'it is still there');
    assert.equal(podsOf(world, 'agent').length, 3);
  });

  test('5, L5: one whose labels are changed each time is made ever more seldom, and others go on', async () => {
    const world = await World.start({ nodes: NODES });
    let made = 0;
    world.site.api.hooks.admitPod = (pod) => {
      if (nodeOf(pod) !== 'n2') return undefined;
      made += 1;
      return { ...pod, metadata: { ...pod.metadata, labels: { app: 'somebody' } } };
    };
    world.addDaemonSet('agent', { spec: ROLLING });
    await world.advance(30 * 60_000);
    assert.ok(made >= 5 && made <= 16, `${made} pods in 30 minutes`);
    assert.equal(podsOf(world, 'agent').length, 2);
    world.site.api.hooks.admitPod = () => undefined;
    await ends(world);
  });

  test('6, L5: a storm of versions during a rollout does not stop it', async () => {
    const world = await settled();
    setImage(world, 'agent', 2);
    for (let turn = 0; turn < 100; turn += 1) {
      rewrite(world, ['pods', 'nodes', 'daemonsets', 'controllerrevisions']);
      await world.advance(100);
    }
    await ends(world, 'agent:2');
  });

  test('7: field, taint, drain, field and taint of a cordon touch no pod', async () => {
    const world = await settled();
    const before = uidsOf(world);
    const cordoned = taint('node.kubernetes.io/unschedulable');
    for (const change of [
      { unschedulable: true },
      { taints: [cordoned] },
      // The drain itself skips what a DaemonSet owns.
      { unschedulable: false },
      { taints: [] },
    ]) {
      changeNode(world, 'n2', change);
      await world.advance(700);
    }
    await ends(world);
    assert.deepEqual(uidsOf(world), before);
  });

  test('8, S7: a write that erases all metadata between two status writes leaves pods and status right', async () => {
    const world = await settled();
    const before = uidsOf(world);
    changeSet(world, (object) => ({
      ...object,
      metadata: { ...object.metadata, labels: { team: 'a' }, annotations: { note: 'b' } },
    }));
    let count = 0;
    world.site.afterEffect = (effect) => {
      if (effect.kind !== 'update-status' || count > 0) return;
      count += 1;
      changeSet(world, (object) => {
        const { uid, resourceVersion, creationTimestamp, generation = 1 } = object.metadata;
        const own = { name: 'agent', namespace: 'ns', uid, resourceVersion, creationTimestamp };
        return { ...object, metadata: { ...own, generation } as KubernetesObject['metadata'] };
      });
    };
    for (const isReady of [false, true]) {
      setReady(world, podOn(world, 'agent', 'n2'), isReady);
      await world.advance(3000);
    }
    await ends(world);
    assert.equal(count, 1);
    assert.deepEqual(uidsOf(world), before);
  });

  test('9: three who drain one node at once take its pod with the node, and no other', async () => {
    const world = await settled();
    const others = ['n1', 'n3'].map((node) => podOn(world, 'agent', node).metadata.uid);
    const taints: JsonObject[] = [];
    for (const key of [
      'ToBeDeletedByClusterAutoscaler',
      'karpenter.sh/disrupted',
      'node.kubernetes.io/unschedulable',
    ]) {
      taints.push(taint(key));
      changeNode(world, 'n2', { taints: [...taints], unschedulable: true });
      // A lock as an annotation of the DaemonSet itself.
      changeSet(world, (object) => ({
        ...object,
        metadata: { ...object.metadata, annotations: { 'weave.works/kured-node-lock': key } },
      }));
      await world.advance(400);
    }
    const pod = podOn(world, 'agent', 'n2');
    if (phaseOf(pod) === 'Running') world.controllers.deletePod(pod);
    await world.advance(200);
    world.controllers.removeNode('n2');
    await ends(world);
    const kept = podsOf(world, 'agent').map(({ metadata }) => metadata.uid);
    assert.deepEqual(kept.toSorted(), others.toSorted());
    const set = world.api.find('daemonsets', 'agent', 'ns');
    assert.equal(
      set?.metadata.annotations?.['weave.works/kured-node-lock'],
      'node.kubernetes.io/unschedulable',
      'no write of ours takes the lock away',
    );
  });

  for (const apartMs of [10, 300, 900]) {
    test(`10, row 6: restart, revert and undo ${apartMs} ms apart end at the newest template`, async () => {
      const world = await settled();
      for (const image of [2, 1, 2]) {
        setImage(world, 'agent', image);
        await world.advance(apartMs);
      }
      await ends(world, 'agent:2');
    });
  }
});

const SECONDS = 10;
const LASTS_SECONDS = 65;

test('spec 2.6: a pod that bears a taint for seconds is made again each time it is evicted, and never deleted by us', async () => {
  const world = await World.start({ nodes: NODES });
  world.addDaemonSet('agent');
  tolerateFor(world, 'agent', SECONDS);
  await world.settle();
  const made: string[] = [];
  world.site.intervene = (effect) => {
    assert.notEqual(effect.kind, 'delete-pod', 'we delete what may run there');
    if (effect.kind === 'create-pod') made.push(effect.node);
    return undefined;
  };
  let evictions = 0;
  taintNode(
    {
      world,
      later: (delayMs, act) => void world.clock.after(delayMs, act),
      onEviction: () => (evictions += 1),
    },
    { node: 'n2', seconds: SECONDS, lastsSeconds: LASTS_SECONDS },
  );
  await world.advance((LASTS_SECONDS + 5) * 1000);
  assert.ok(evictions >= 4, `${evictions} evictions`);
  // Once for each eviction, wherever the taint is: no more, no less.
  assert.deepEqual(
    made,
    Array.from({ length: evictions }, () => 'n2'),
  );
  assert.deepEqual(podsOf(world, 'agent').map(nodeOf).toSorted(), NODES);
  await world.settle();
  await world.rest();
});
