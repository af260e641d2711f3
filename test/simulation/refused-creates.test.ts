// No create is refused because an old pod still bears the name, and none is made beside one that still ends (S1, S13);
// what a quota refuses for an hour is tried now and then, and made when there is room again (row 57).
import { test } from 'node:test';
import assert from 'node:assert/strict';
import type { JsonObject } from '@rollcall/base/json.ts';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import { nodeOf } from '../support/simulated-cluster.ts';
import { phaseOf } from '../support/simulation/controllers.ts';
import { podOn, podsOf, setImage } from '../support/simulation/look.ts';
import { rawNode } from '../support/simulation/objects.ts';
import { World } from '../support/simulation/world.ts';

const NODES = Array.from({ length: 24 }, (_, index) => `n${index + 1}`);
const SEED = 4160;
const NO_SURGE = { rollingUpdate: { maxUnavailable: '50%', maxSurge: 0 } };
const SURGE = { rollingUpdate: { maxUnavailable: 0, maxSurge: '50%' } };

interface Counts {
  creates: number;
  /** Names that a pod bore when the request arrived: answered 409. */
  readonly refused: string[];
  /** Creates on a node with a pod that is not over, terminating or not. */
  readonly beside: string[];
}

/** Containers end some time before their pod goes: it is terminal meanwhile, as a kubelet tells it. */
function endContainersFirst(world: World, random: { readonly next: () => number }): void {
  const seen = new Set<string>();
  world.api.subscribe((commit) => {
    if (commit?.kind !== 'pods' || commit.type === 'deleted') return;
    const { uid, deletionTimestamp, name, namespace } = commit.object.metadata;
    if (deletionTimestamp === undefined || seen.has(uid)) return;
    seen.add(uid);
    world.clock.after(Math.floor(random.next() * 15_000), () => {
      const pod = world.api.find('pods', name, namespace);
      if (pod?.metadata.uid === uid) world.controllers.setPhase(pod, 'Succeeded');
    });
  });
}

/** A settled world whose pods take from half a second to half a minute to end. */
async function slowWorld(strategy: JsonObject): Promise<{ world: World; counts: Counts }> {
  const world = await World.start({ nodes: NODES, seed: SEED });
  const random = seededRandom(SEED);
  world.controllers.stopDelayMs = () => 500 + Math.floor(random.next() * 29_500);
  endContainersFirst(world, random);
  world.addDaemonSet('agent', { spec: { updateStrategy: { type: 'RollingUpdate', ...strategy } } });
  await world.settle();
  world.site.availability.boundMs = 40_000;
  const counts: Counts = { creates: 0, refused: [], beside: [] };
  world.site.intervene = (effect) => {
    if (effect.kind !== 'create-pod') return undefined;
    counts.creates += 1;
    const { name, namespace, node } = effect;
    if (world.api.find('pods', name, namespace) !== undefined) counts.refused.push(name);
    const isOver = (phase: string): boolean => phase === 'Failed' || phase === 'Succeeded';
    const others = podsOf(world, 'agent').filter((pod) => nodeOf(pod) === node);
    if (others.some((pod) => !isOver(phaseOf(pod)))) counts.beside.push(node);
    return undefined;
  };
  return { world, counts };
}

for (const [title, strategy] of [
  ['without surge, and none is made beside a pod that still ends (spec 2.7)', NO_SURGE],
  ['with surge', SURGE],
] as const) {
  test(`A.0: rollouts of pods that end slowly have no create refused ${title}`, async () => {
    const { world, counts } = await slowWorld(strategy);
    setImage(world, 'agent', 2);
    await world.settle(60 * 60_000);
    setImage(world, 'agent', 3);
    await world.advance(20_000);
    // Back, and on again, while half of them end.
    setImage(world, 'agent', 2);
    await world.advance(10_000);
    setImage(world, 'agent', 4);
    await world.settle(60 * 60_000);
    assert.ok(counts.creates >= 2 * NODES.length, `${counts.creates} creates, seed ${SEED}`);
    assert.deepEqual(counts.refused, [], `of ${counts.creates} creates, seed ${SEED}`);
    if (strategy === NO_SURGE) assert.deepEqual(counts.beside, []);
  });
}

test('A.0: pods that fail, are evicted, or lose their node leave no name in the way, nor room beside them', async () => {
  const { world, counts } = await slowWorld(NO_SURGE);
  for (const node of ['n1', 'n2', 'n3', 'n4']) world.controllers.failingNodes.add(node);
  for (const node of ['n1', 'n2', 'n5', 'n6']) {
    world.controllers.deletePod(podOn(world, 'agent', node));
  }
  await world.advance(40_000);
  world.controllers.removeNode('n7');
  await world.advance(1000);
  world.api.put('nodes', rawNode('n7'));
  await world.advance(60_000);
  world.controllers.failingNodes.clear();
  await world.settle(60 * 60_000);
  assert.ok(counts.creates >= 6, `${counts.creates} creates, seed ${SEED}`);
  assert.deepEqual(counts.refused, [], `of ${counts.creates} creates, seed ${SEED}`);
  assert.deepEqual(counts.beside, []);
});

const FOUR = NODES.slice(0, 4);
const HALF_HOUR_MS = 30 * 60_000;
/** Two seconds doubling to five minutes, each a fifth sooner or later: of each node, by when the chain is at its end. */
const FIRST_HALF_MAX = 15;
const SECOND_HALF_MAX = 8;
/** The longest step of the back-off. */
const HEALS_MS = 6 * 60_000;

test('row 57, L5: an hour in which a quota refuses every pod costs 23 creates of each node at most, and heals within six minutes', async () => {
  const world = await World.start({ nodes: FOUR });
  const counts = { creates: 0, others: 0 };
  world.site.isFull = true;
  world.site.api.hooks.admitPod = () => (world.site.isFull ? { code: 'quota' } : undefined);
  world.site.intervene = ({ kind }) => {
    counts[kind === 'create-pod' ? 'creates' : 'others'] += 1;
    return undefined;
  };
  world.addDaemonSet('agent');
  await world.advance(HALF_HOUR_MS);
  const first = { ...counts };
  assert.ok(first.creates >= FOUR.length, 'nothing was refused');
  assert.ok(first.creates <= FIRST_HALF_MAX * FOUR.length, `${first.creates} creates at first`);
  await world.advance(HALF_HOUR_MS);
  const creates = counts.creates - first.creates;
  assert.ok(creates >= 4 * FOUR.length, `given up: ${creates} creates in the second half hour`);
  assert.ok(creates <= SECOND_HALF_MAX * FOUR.length, `${creates} creates in the second half`);
  // Besides: its status, its revision, and an event that is told again with each run.
  assert.ok(counts.others <= counts.creates, `${counts.others} other requests`);
  assert.deepEqual(podsOf(world, 'agent'), []);
  world.site.isFull = false;
  await world.advance(HEALS_MS);
  assert.equal(podsOf(world, 'agent').length, FOUR.length, 'there is room, and pods are missing');
  await world.settle();
  await world.rest();
});
