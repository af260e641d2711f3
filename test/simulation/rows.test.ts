// Rows of the catalogue that have no place of their own: what users, nodes and kubelets do, end to end.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import { nodeOf } from '../support/simulated-cluster.ts';
import { phaseOf } from '../support/simulation/controllers.ts';
import { imageOf, podOn, podsOf, setImage, watchReady } from '../support/simulation/look.ts';
import { rawNode, rawPod } from '../support/simulation/objects.ts';
import { World } from '../support/simulation/world.ts';

const SIX = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6'];

const rolling = (bounds: JsonObject): JsonObject => ({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: bounds },
});
const ONE_AT_ONCE = rolling({ maxUnavailable: 1, maxSurge: 0 });
const SURGE = rolling({ maxUnavailable: 0, maxSurge: 2 });

async function settled(spec: JsonObject, nodes: readonly string[] = SIX): Promise<World> {
  const world = await World.start({ nodes });
  world.addDaemonSet('agent', { spec });
  await world.settle();
  return world;
}

function leastReady(world: World): () => number {
  let least = Infinity;
  watchReady(world, 'agent', (ready) => {
    least = Math.min(least, ready);
  });
  return () => least;
}

function setReady(world: World, pod: KubernetesObject, status: 'True' | 'False'): void {
  const { name, namespace = '', uid } = pod.metadata;
  if (world.api.find('pods', name, namespace)?.metadata.uid !== uid) return;
  world.api.change('pods', { namespace, name }, (object) => ({
    ...object,
    status: { phase: 'Running', conditions: [{ type: 'Ready', status }] },
  }));
}

/** What a user sees of the end: pods by node, and the status without its generation. */
function endOf(world: World): unknown {
  const pods = podsOf(world, 'agent').map((pod) => [nodeOf(pod), imageOf(pod)].join(' '));
  const set = world.api.find('daemonsets', 'agent', 'ns');
  const { observedGeneration: _masked, ...status } = set?.['status'] as Record<string, unknown>;
  return { pods: pods.toSorted(), status };
}

for (const [name, spec] of [
  ['maxUnavailable', ONE_AT_ONCE],
  ['maxSurge', SURGE],
] as const) {
  test(`row 6: a template that went elsewhere and back ends as one that never moved (${name})`, async () => {
    const still = await settled(spec);
    for (const seed of [1, 2, 3]) {
      const dice = seededRandom(seed);
      const moved = await settled(spec);
      for (let step = 0; step < 4; step += 1) {
        setImage(moved, 'agent', 2 + Math.floor(dice.next() * 3));
        await moved.advance(Math.floor(dice.next() * 5000));
      }
      setImage(moved, 'agent', 1);
      await moved.settle();
      assert.deepEqual(endOf(moved), endOf(still), `seed ${seed}`);
    }
  });
}

test('row 8, S4: somebody deletes, relabels and makes pods all the time; it settles when that stops', async () => {
  const world = await settled(ONE_AT_ONCE);
  world.observer.allowsAdopted = true;
  const dice = seededRandom(8);
  const pick = <T>(of: readonly T[]): T | undefined => of[Math.floor(dice.next() * of.length)];
  for (let step = 0; step < 80; step += 1) {
    const pod = pick(podsOf(world, 'agent'));
    const draw = dice.next();
    if (draw < 0.3) {
      const at = { name: `orphan-${step}`, app: 'agent', node: pick(SIX) ?? 'n1' };
      world.api.put('pods', rawPod(at));
    } else if (pod !== undefined && draw < 0.6) world.controllers.deletePod(pod);
    else if (pod !== undefined) {
      const labels = draw < 0.8 ? { app: 'other' } : { ...pod.metadata.labels, touched: `${step}` };
      const { name } = pod.metadata;
      world.api.change('pods', { namespace: 'ns', name }, (object) => ({
        ...object,
        metadata: { ...object.metadata, labels },
      }));
    }
    await world.advance(Math.floor(dice.next() * 1500));
    world.assertSafe();
  }
  await world.settle();
});

test('row 28: four throttled deliveries of each hint dead-letter none, and it settles', async () => {
  const settings = readFileSync(path.join(import.meta.dirname, '../../infra/queues.yml'), 'utf8');
  const receives = [...settings.matchAll(/maxReceiveCount: (\d+)/g)].map(([, count]) =>
    Number(count),
  );
  assert.ok(receives.length >= 3 && receives.every((count) => count >= 5), `${receives.join()}`);
  const world = await settled(ONE_AT_ONCE);
  world.mapping('reconcile.fifo').isPaused = true;
  setImage(world, 'agent', 2);
  await world.advance(2000);
  const { queue } = world.queues.named('reconcile.fifo');
  let throttled = 0;
  for (let round = 0; round < 4; round += 1) {
    // What a poller does whose function is throttled: it receives, and lets the visibility pass.
    throttled += queue.receive({ countMax: 10 }, world.clock.nowMs()).length;
    await world.advance(61_000);
  }
  assert.ok(throttled >= 4);
  world.resume('reconcile.fifo');
  await world.settle();
  assert.ok(!world.trace.some((line) => line.includes('dead-letter')));
});

for (const how of ['gone', 'terminating'] as const) {
  test(`row 43: a pod that is ${how} when its delete arrives is replaced at once, without a freeze`, async () => {
    const world = await settled(ONE_AT_ONCE);
    let raced = 0;
    world.site.intervene = (effect) => {
      const pod = effect.kind === 'delete-pod' && world.api.find('pods', effect.name, 'ns');
      if (typeof pod !== 'object' || raced > 0) return undefined;
      raced += 1;
      if (how === 'gone') world.api.remove('pods', effect.name, 'ns');
      else world.controllers.deletePod(pod);
      return undefined;
    };
    setImage(world, 'agent', 2);
    const isDone = (): boolean => podsOf(world, 'agent').every((pod) => imageOf(pod) === 'agent:2');
    await world.clock.advanceUntil(() => raced > 0 && isDone(), { withinMs: 60_000 });
    await world.settle();
  });
}

test('row 45: while one node fails, a rolling update takes all the others', async () => {
  const world = await settled(rolling({ maxUnavailable: 2, maxSurge: 0 }));
  world.controllers.behaviour = (pod) => (nodeOf(pod) === 'n3' ? 'fail' : 'run');
  setImage(world, 'agent', 2);
  await world.advance(120_000);
  for (const node of SIX.filter((each) => each !== 'n3')) {
    assert.equal(imageOf(podOn(world, 'agent', node)), 'agent:2', node);
  }
  const onThird = podsOf(world, 'agent').filter((pod) => nodeOf(pod) === 'n3');
  assert.ok(
    onThird.every((pod) => phaseOf(pod) !== 'Running'),
    'its pods never ran',
  );
  world.controllers.behaviour = () => 'run';
  await world.settle();
});

test('row 46: a pod that succeeded is replaced once', async () => {
  const world = await settled(ONE_AT_ONCE);
  let born = 0;
  world.api.subscribe((commit) => {
    if (commit?.kind === 'pods' && commit.type === 'added') born += 1;
  });
  world.controllers.setPhase(podOn(world, 'agent', 'n2'), 'Succeeded');
  await world.settle();
  assert.equal(born, 1);
});

test('row 49, S3: a node that is not ready takes its part of the budget during a rolling update', async () => {
  const world = await settled(ONE_AT_ONCE);
  world.controllers.behaviour = (pod) => (nodeOf(pod) === 'n2' ? 'stay-pending' : 'run');
  setReady(world, podOn(world, 'agent', 'n2'), 'False');
  const ready = leastReady(world);
  await world.advance(2000);
  setImage(world, 'agent', 2);
  await world.advance(5 * 60_000);
  const updated = podsOf(world, 'agent').filter((pod) => imageOf(pod) === 'agent:2');
  assert.deepEqual(updated.map(nodeOf), ['n2'], 'nothing but the pod that was not ready went');
  assert.ok(ready() >= 5);
  world.controllers.behaviour = () => 'run';
  world.controllers.lookAtEverything();
  await world.settle();
});

test('row 50, S3: two updates within minReadySeconds take no more than the budget', async () => {
  const world = await settled({ ...ONE_AT_ONCE, minReadySeconds: 10 });
  const ready = leastReady(world);
  for (const tag of [2, 3]) {
    setImage(world, 'agent', tag);
    await world.advance(4000);
    world.assertSafe();
  }
  await world.settle();
  assert.equal(ready(), 5);
});

test('row 51, S2: a surge with pods that lose readiness, and a node that evicts, ends within its bounds', async () => {
  const world = await settled(SURGE);
  const dice = seededRandom(25);
  let born = 0;
  world.api.subscribe((commit) => {
    if (commit?.kind === 'pods' && commit.type === 'added') born += 1;
  });
  // Under disk pressure a kubelet ends each new pod at once (#124388).
  world.controllers.behaviour = (pod) => (nodeOf(pod) === 'n5' ? 'fail' : 'run');
  setImage(world, 'agent', 2);
  for (let step = 0; step < 240; step += 1) {
    for (const pod of podsOf(world, 'agent')) {
      if (pod.metadata.deletionTimestamp !== undefined || dice.next() > 1 / 25) continue;
      setReady(world, pod, 'False');
      world.clock.after(1000, () => {
        setReady(world, pod, 'True');
      });
    }
    await world.advance(500);
    world.assertSafe();
  }
  assert.ok(born <= 40, `${born} pods were made for six nodes`);
  world.controllers.behaviour = () => 'run';
  await world.settle();
});

test('row 52: taints and tolerations that come and go leave pods exactly where they belong', async () => {
  const world = await settled(ONE_AT_ONCE);
  const dice = seededRandom(52);
  const effects = ['NoSchedule', 'NoExecute', 'PreferNoSchedule'] as const;
  const counts = new Set<number>();
  for (let round = 0; round < 6; round += 1) {
    for (const node of SIX) {
      const effect = effects[Math.floor(dice.next() * 3)] ?? 'NoSchedule';
      const taints = dice.next() < 0.5 ? [] : [{ key: 'dedicated', value: 'gpu', effect }];
      world.api.put('nodes', rawNode(node, { taints }));
    }
    const tolerations = round % 2 === 0 ? [] : [{ key: 'dedicated', operator: 'Exists' }];
    world.api.editDaemonSet('agent', (spec) => {
      const template = spec['template'] as JsonObject;
      const podSpec = { ...(template['spec'] as JsonObject), tolerations };
      return { ...spec, template: { ...template, spec: podSpec } };
    });
    await world.settle();
    counts.add(podsOf(world, 'agent').length);
  }
  assert.ok(counts.size > 1, `${[...counts].join()} pods in six rounds`);
});

test('row 55: an orphaning cascade beside an overlapping selector hands over the same pods, one a node', async () => {
  const world = await settled(ONE_AT_ONCE);
  const uidsOf = (name: string): readonly string[] =>
    podsOf(world, name).map(({ metadata }) => metadata.uid);
  const before = uidsOf('agent');
  world.controllers.deleteDaemonSet('agent', 'orphan');
  await world.advance(3000);
  world.addDaemonSet('other', {
    spec: {
      ...rolling({ maxUnavailable: 1, maxSurge: 0 }),
      selector: { matchLabels: { app: 'agent' } },
      template: {
        metadata: { labels: { app: 'agent' } },
        spec: { containers: [{ name: 'main', image: 'agent:1' }] },
      },
    },
  });
  await world.settle();
  assert.equal(before.length, 6);
  assert.deepEqual(uidsOf('other').toSorted(), before.toSorted(), 'none was made anew');
  assert.equal(world.api.list('pods').length, 6);
});

test('row 59: 1,000 heartbeats of nodes cause no message and no run', async () => {
  const nodes = Array.from({ length: 50 }, (_, index) => `n${index}`);
  const world = await settled(ONE_AT_ONCE, nodes);
  const from = { messages: world.queues.events.length, runs: world.host.results.length };
  for (let beat = 0; beat < 20; beat += 1) {
    for (const name of nodes) {
      world.api.change('nodes', { namespace: '', name }, (object) => ({
        ...object,
        status: {
          conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: `beat ${beat}` }],
        },
      }));
    }
    await world.advance(100);
  }
  const sent = world.queues.events.slice(from.messages);
  const told = sent.filter(({ body }) => body.kind !== 'changes' || body.deltas.length > 0);
  assert.deepEqual(told, []);
  assert.ok(sent.length <= 2, `${sent.length} heartbeats of the watcher`);
  assert.equal(world.host.results.length, from.runs);
});

test('row 60, S9: a storm from no node to 300 is served in bursts of 250 at most', async () => {
  const world = await settled(ONE_AT_ONCE, []);
  const runs = world.host.results.length;
  for (let index = 0; index < 300; index += 1) world.addNode(`n${index}`);
  await world.converge();
  assert.equal(podsOf(world, 'agent').length, 300);
  const taken = world.host.results.length - runs;
  assert.ok(taken < 20, `${taken} runs for 300 nodes`);
});
