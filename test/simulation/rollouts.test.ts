// Rolling updates end to end: budgets and revisions on the API server's own state (S2, S3), under faults.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import type { JsonObject } from '@rollcall/base/json.ts';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import type { GateRule, Passage } from '../support/simulation/gate.ts';
import { imageOf, podOn, podsOf, setImage, watchReady } from '../support/simulation/look.ts';
import { rawNode, type RawDaemonSetOptions } from '../support/simulation/objects.ts';
import { World } from '../support/simulation/world.ts';

const SIX = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6'];

const unavailable = (maxUnavailable: number | string): JsonObject => ({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable, maxSurge: 0 } },
});
const surge = (maxSurge: number | string): JsonObject => ({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable: 0 } },
});

async function settled(
  spec: JsonObject,
  options: { readonly nodes?: readonly string[]; readonly seed?: number } = {},
): Promise<World> {
  const world = await World.start({ nodes: SIX, ...options });
  const daemonSet: RawDaemonSetOptions = { spec };
  world.addDaemonSet('agent', daemonSet);
  await world.settle();
  // Without lag a view is no older than a request and its repetition.
  world.site.availability.boundMs = 40_000;
  return world;
}

function leastReady(world: World): () => number {
  let least = podsOf(world, 'agent').length;
  watchReady(world, 'agent', (ready) => {
    least = Math.min(least, ready);
  });
  return () => least;
}

const imagesOf = (world: World): readonly string[] => podsOf(world, 'agent').map(imageOf);
const uidsOf = (world: World): readonly string[] =>
  podsOf(world, 'agent').map(({ metadata }) => metadata.uid);

function once(order: 'kill' | 'freeze', isHere: (passage: Passage) => boolean): GateRule {
  let isDone = false;
  return (passage) => {
    if (isDone || !isHere(passage)) return undefined;
    isDone = true;
    return order;
  };
}

for (const [bound, least] of [
  [1, 5],
  [2, 4],
  ['50%', 3],
  ['34%', 3],
] as const) {
  test(`S3: with maxUnavailable ${bound} of six nodes never fewer than ${least} are ready (spec 2.9)`, async () => {
    const world = await settled(unavailable(bound));
    const ready = leastReady(world);
    setImage(world, 'agent', 2);
    await world.settle();
    assert.equal(ready(), least);
    assert.equal(world.site.availability.judged, 6, 'each pod went once');
  });
}

for (const bound of [1, 2, '50%', '100%'] as const) {
  test(`S2, S3: with maxSurge ${bound} no node is ever without a ready pod (spec 2.9)`, async () => {
    const world = await settled(surge(bound));
    const ready = leastReady(world);
    setImage(world, 'agent', 2);
    await world.settle();
    assert.equal(ready(), 6);
    assert.equal(world.site.availability.judged, 6, 'each pod went once');
  });
}

test('L2: surge with minReadySeconds 10 advances within 12 seconds each time, with no outside event', async () => {
  const world = await settled({ ...surge(1), minReadySeconds: 10 }, { nodes: SIX.slice(0, 4) });
  const fromMs = world.clock.monotonicMs();
  setImage(world, 'agent', 2);
  const bornMs: number[] = [];
  world.api.subscribe((commit) => {
    if (commit?.kind === 'pods' && commit.type === 'added') bornMs.push(world.clock.monotonicMs());
  });
  await world.clock.advanceUntil(() => imagesOf(world).every((image) => image === 'agent:2'), {
    withinMs: 60_000,
  });
  assert.equal(bornMs.length, 4);
  for (const [index, atMs] of bornMs.entries()) {
    const stepMs = atMs - (bornMs[index - 1] ?? fromMs);
    assert.ok(index === 0 ? stepMs < 2000 : stepMs >= 10_000 && stepMs <= 12_000, `${stepMs} ms`);
  }
  await world.settle();
});

for (const functions of [-600_000, 600_000]) {
  test(`L1, S2, row 14: a surge with minReadySeconds ends although clocks are ${functions / 60_000} minutes off (#77203)`, async () => {
    const world = await World.start({ nodes: SIX, skewMs: { functions } });
    world.addDaemonSet('agent', { spec: { ...surge(1), minReadySeconds: 20 } });
    await world.settle();
    const ready = leastReady(world);
    setImage(world, 'agent', 2);
    // A clock that is behind sees each pod become available ten minutes late.
    await world.settle(90 * 60_000);
    assert.equal(ready(), 6);
    assert.ok(imagesOf(world).every((image) => image === 'agent:2'));
  });
}

for (const [name, spec] of [
  ['maxUnavailable', unavailable(1)],
  ['maxSurge', surge(1)],
] as const) {
  test(`row 56: a rollback half-way restarts no pod that was never replaced (${name})`, async () => {
    const world = await settled(spec);
    const before = uidsOf(world);
    setImage(world, 'agent', 2);
    const isHalf = (): boolean =>
      imagesOf(world).filter((image) => image === 'agent:2').length === 3;
    await world.clock.advanceUntil(isHalf, { withinMs: 60_000 });
    const kept = uidsOf(world).filter((uid) => before.includes(uid));
    const untouched = podsOf(world, 'agent').filter(
      ({ metadata }) => kept.includes(metadata.uid) && metadata.deletionTimestamp === undefined,
    );
    setImage(world, 'agent', 1);
    await world.settle();
    assert.ok(untouched.length >= 2);
    const after = new Set(uidsOf(world));
    for (const { metadata } of untouched)
      assert.ok(after.has(metadata.uid), `${metadata.name} stays`);
    assert.ok(imagesOf(world).every((image) => image === 'agent:1'));
  });
}

test('OnDelete replaces nothing; what is deleted comes back current; another strategy rolls the rest', async () => {
  const world = await settled({ updateStrategy: { type: 'OnDelete' } });
  setImage(world, 'agent', 2);
  await world.settle();
  assert.ok(imagesOf(world).every((image) => image === 'agent:1'));
  world.controllers.deletePod(podOn(world, 'agent', 'n3'));
  await world.settle();
  assert.equal(imageOf(podOn(world, 'agent', 'n3')), 'agent:2');
  assert.equal(imagesOf(world).filter((image) => image === 'agent:2').length, 1);
  const ready = leastReady(world);
  world.api.editDaemonSet('agent', (spec) => ({ ...spec, ...unavailable(1) }));
  await world.settle();
  assert.ok(imagesOf(world).every((image) => image === 'agent:2'));
  assert.equal(ready(), 5);
});

test('S3: three bad updates in a row cost no more than the budget, and a good one ends it (#123232, row 7)', async () => {
  const world = await settled(unavailable(2));
  const ready = leastReady(world);
  world.controllers.behaviour = (pod) => (imageOf(pod) === 'agent:9' ? 'run' : 'stay-pending');
  for (const tag of [2, 3, 4]) {
    setImage(world, 'agent', tag);
    await world.advance(60_000);
    world.assertSafe();
  }
  assert.equal(ready(), 4);
  setImage(world, 'agent', 9);
  await world.settle();
  assert.equal(ready(), 4);
});

test('S3: an update that never becomes ready stops a surge at maxSurge; the old pods stay (spec 2.9)', async () => {
  const world = await settled(surge(2));
  const ready = leastReady(world);
  world.controllers.behaviour = (pod) => (imageOf(pod) === 'agent:3' ? 'run' : 'stay-pending');
  setImage(world, 'agent', 2);
  await world.advance(10 * 60_000);
  assert.equal(imagesOf(world).filter((image) => image === 'agent:2').length, 2);
  assert.equal(ready(), 6);
  setImage(world, 'agent', 3);
  await world.settle();
  assert.equal(ready(), 6);
});

test('upstream never tests: stuck-terminating node consuming maxUnavailable; with 1 a dead node holds up the rollout, with 2 it does not (row 48)', async () => {
  const world = await settled(unavailable(1));
  world.controllers.deadNodes.add('n2');
  world.controllers.deletePod(podOn(world, 'agent', 'n2'));
  await world.advance(5000);
  setImage(world, 'agent', 2);
  await world.advance(5 * 60_000);
  assert.ok(
    imagesOf(world).every((image) => image === 'agent:1'),
    'nothing was replaced',
  );
  world.api.editDaemonSet('agent', (spec) => ({ ...spec, ...unavailable(2) }));
  await world.advance(5 * 60_000);
  assert.equal(imagesOf(world).filter((image) => image === 'agent:2').length, 5);
  world.controllers.deadNodes.clear();
  world.controllers.lookAtEverything();
  await world.settle();
});

for (const spec of [unavailable(1), unavailable(3), surge(1), surge(3)]) {
  const bounds = (spec['updateStrategy'] as JsonObject)['rollingUpdate'] as JsonObject;
  const name = JSON.stringify(bounds);
  test(`S2, S3, row 22: duplicates, reordering and lost hints with ${name}`, async () => {
    const world = await settled(spec, { seed: 11 });
    const dice = seededRandom(4713);
    const fates = { copy: 0, keep: 0, drop: 0 };
    world.deliveryDelayMs = () => Math.floor(dice.next() * 400);
    world.fate = (queue) => {
      const draw = dice.next();
      const fate = draw < 0.3 ? 'copy' : draw < 0.4 ? 'keep' : 'drop';
      if (draw >= 0.6 || (fate === 'drop' && queue !== 'reconcile.fifo')) return 'deliver';
      fates[fate] += 1;
      return fate;
    };
    for (const tag of [2, 3, 2, 3, 2, 3, 2]) {
      setImage(world, 'agent', tag);
      await world.advance(4000);
      world.assertSafe();
    }
    assert.ok(
      Object.values(fates).every((count) => count > 0),
      JSON.stringify(fates),
    );
    world.deliveryDelayMs = () => 1;
    world.fate = () => 'deliver';
    await world.settle(6.5 * 3_600_000);
  });

  test(`S2, S3, rows 10, 78: lost answers and late requests with ${name}`, async () => {
    const world = await settled(spec, { seed: 12 });
    const dice = seededRandom(99);
    const befell = { lost: 0, late: 0 };
    world.site.intervene = (effect) => {
      if (effect.kind === 'create-event' || effect.kind === 'patch-event') return undefined;
      const draw = dice.next();
      if (draw > 0.5) return undefined;
      befell[draw < 0.3 ? 'lost' : 'late'] += 1;
      if (draw < 0.3) return { kind: 'lose-answer' };
      world.clock.after(Math.floor(dice.next() * 18_000), () => {
        world.api.releaseStuck();
      });
      return { kind: 'stuck' };
    };
    for (const tag of [2, 3, 2]) {
      setImage(world, 'agent', tag);
      await world.advance(45_000);
      world.assertSafe();
    }
    assert.ok(befell.lost > 1 && befell.late > 1, JSON.stringify(befell));
    world.site.intervene = () => undefined;
    await world.settle();
  });
}

test('S3, row 76: of two overlapping runs only one spends the budget', async () => {
  const world = await settled(unavailable(1));
  const isBefore = ({ operation, moment }: Passage): boolean =>
    operation === 'writeState' && moment === 'before';
  const rules = [once('freeze', isBefore), once('freeze', isBefore)];
  world.host.ruleFor = (name) => (name === 'reconcile' ? rules.shift() : undefined);
  setImage(world, 'agent', 2);
  await world.advance(500);
  assert.equal(world.host.frozen.length, 1, 'the older run stands before the lock');
  void world.reconcileNow('agent');
  await world.advance(500);
  assert.equal(world.host.frozen.length, 2, 'the younger one as well');
  const ready = leastReady(world);
  for (const gate of world.host.frozen.splice(0).toReversed()) gate.thaw();
  await world.settle();
  assert.equal(ready(), 5);
});

for (const [name, spec, first] of [
  ['maxUnavailable 1', unavailable(1), 1],
  ['maxSurge 1', surge(1), 2],
] as const) {
  test(`S2, S3, row 1: a rollout whose runs are killed at every third of their passages keeps the bounds (${name})`, async () => {
    for (let passage: number = first; ; passage += 3) {
      const world = await settled(spec, { nodes: ['n1', 'n2', 'n3'] });
      let isKilled = false;
      const rules = [0, 1].map((): GateRule => (each) => {
        isKilled ||= each.index === passage;
        return each.index === passage ? 'kill' : undefined;
      });
      world.host.ruleFor = (kind) => (kind === 'reconcile' ? rules.shift() : undefined);
      setImage(world, 'agent', 2);
      await world.settle();
      if (!isKilled) return assert.ok(passage > 20, `a run has ${passage} passages`);
    }
  });
}

test('row 86: a switch to surge while a create is on its way makes no second pod of the revision', async () => {
  const world = await settled(unavailable(1), { nodes: ['n1', 'n2'] });
  let isStuck = false;
  world.site.intervene = (effect) => {
    if (effect.kind !== 'create-pod' || isStuck) return undefined;
    isStuck = true;
    return { kind: 'stuck' };
  };
  setImage(world, 'agent', 2);
  await world.clock.advanceUntil(() => isStuck, { withinMs: 10_000 });
  world.api.editDaemonSet('agent', (spec) => ({ ...spec, ...surge(1) }));
  await world.advance(8000);
  world.api.releaseStuck();
  await world.settle();
  assert.equal(podsOf(world, 'agent').length, 2);
});

test('row 86: a create that was re-issued after an edit blocks no later surge under its name', async () => {
  const world = await settled(surge(1), { nodes: ['n1', 'n2'] });
  let lost = 0;
  world.site.intervene = (effect) => {
    if (effect.kind !== 'create-pod' || lost > 0) return undefined;
    lost += 1;
    return { kind: 'stuck' };
  };
  setImage(world, 'agent', 2);
  await world.clock.advanceUntil(() => lost === 1, { withinMs: 10_000 });
  world.api.dropStuck();
  // The name of revision 2 is used again, for a pod of revision 3.
  setImage(world, 'agent', 3);
  await world.settle();
  setImage(world, 'agent', 2);
  await world.settle();
  assert.ok(imagesOf(world).every((image) => image === 'agent:2'));
});

test('S2, S3: strategies that change while it rolls, and nodes that come and go, leave it exact', async () => {
  const world = await settled(unavailable(1), { seed: 5 });
  setImage(world, 'agent', 2);
  await world.advance(1200);
  world.api.editDaemonSet('agent', (spec) => ({ ...spec, ...surge(2) }));
  await world.advance(900);
  world.addNode('n7');
  world.controllers.removeNode('n1');
  await world.advance(700);
  world.api.editDaemonSet('agent', (spec) => ({ ...spec, ...unavailable('50%') }));
  setImage(world, 'agent', 3);
  await world.advance(500);
  world.api.put('nodes', rawNode('n4', { taints: [{ key: 'dedicated', effect: 'NoSchedule' }] }));
  await world.advance(900);
  world.api.editDaemonSet('agent', (spec) => ({ ...spec, updateStrategy: { type: 'OnDelete' } }));
  await world.advance(2000);
  world.api.put('nodes', rawNode('n4'));
  world.api.editDaemonSet('agent', (spec) => ({ ...spec, ...surge('50%') }));
  await world.settle();
  assert.ok(imagesOf(world).every((image) => image === 'agent:3'));
});
