// What the built-in controller does and never tests (end of the specification), where it takes the whole path to see it.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { podOn, podsOf, theWatcher } from '../support/simulation/look.ts';
import { World } from '../support/simulation/world.ts';

async function settledWorld(nodes: readonly string[]): Promise<World> {
  const world = await World.start({ nodes });
  world.addDaemonSet('agent');
  await world.settle();
  return world;
}

test('upstream never tests: tombstone of pods; one that vanished while no watcher ran is replaced', async () => {
  const world = await settledWorld(['n1', 'n2', 'n3']);
  const { uid, name } = podOn(world, 'agent', 'n2').metadata;
  world.stopWatcher(theWatcher(world));
  await world.advance(1000);
  world.api.remove('pods', name, 'ns');
  await world.advance(5000);
  assert.equal(podsOf(world, 'agent').length, 2);
  world.startWatcher();
  await world.settle();
  assert.notEqual(podOn(world, 'agent', 'n2').metadata.uid, uid);
});

test('upstream never tests: tombstone of pods; one whose deletion the watch lost is found missing by the relist', async () => {
  const world = await settledWorld(['n1', 'n2', 'n3']);
  const { name } = podOn(world, 'agent', 'n2').metadata;
  const { faults } = theWatcher(world);
  // The deletion is lost with its stream; when a stream works again, its position is compacted.
  faults.frozen.add('Pod');
  world.api.remove('pods', name, 'ns');
  await world.advance(1000);
  world.api.compact();
  await world.advance(20 * 60_000);
  faults.frozen.clear();
  await world.settle(60 * 60_000);
  assert.equal(podsOf(world, 'agent').length, 3);
});

test('upstream never tests: double deletion observation; seen terminating and seen gone, one deletion settles one', async () => {
  const world = await settledWorld(['n1', 'n2', 'n3']);
  // Two go at once; the kubelet of one of them never confirms.
  world.controllers.deadNodes.add('n2');
  for (const node of ['n1', 'n2']) world.controllers.deletePod(podOn(world, 'agent', node));
  await world.advance(10_000);
  assert.equal(podOn(world, 'agent', 'n1').metadata.deletionTimestamp, undefined, 'replaced once');
  assert.notEqual(podOn(world, 'agent', 'n2').metadata.deletionTimestamp, undefined, 'waited for');
  const before = podOn(world, 'agent', 'n1').metadata.uid;
  world.hint('agent');
  await world.advance(60_000);
  assert.equal(podOn(world, 'agent', 'n1').metadata.uid, before, 'and not made again');
  world.controllers.deadNodes.clear();
  world.controllers.lookAtEverything();
  await world.settle();
  assert.equal(podsOf(world, 'agent').length, 3);
});

test('upstream never tests: expectation expiry; half an hour of a stale view makes no second pod (row 13)', async () => {
  const world = await settledWorld(['n1', 'n2']);
  const { faults } = theWatcher(world);
  // The node is heard of, its pod is not.
  faults.frozen.add('Pod');
  world.addNode('n3');
  await world.advance(3000);
  assert.equal(podsOf(world, 'agent').length, 3);
  let created = 0;
  world.site.afterEffect = (effect) => {
    if (effect.kind === 'create-pod') created += 1;
  };
  for (let minute = 0; minute < 30; minute += 1) {
    world.hint('agent');
    await world.advance(60_000);
    world.assertSafe();
  }
  assert.equal(created, 0, 'none was even asked for');
  faults.frozen.clear();
  await world.settle(60 * 60_000);
  assert.equal(podsOf(world, 'agent').length, 3);
});
