// Rules of protocol.md that only show with all parts together; the others have unit tests (docs/promise.md).
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { podOn, podsOf, theWatcher } from '../support/simulation/look.ts';
import { rawNode } from '../support/simulation/objects.ts';
import { World } from '../support/simulation/world.ts';

async function settledWorld(nodes: readonly string[]): Promise<World> {
  const world = await World.start({ nodes });
  world.addDaemonSet('agent');
  await world.settle();
  return world;
}

test('protocol 1: work that is to be done while the cluster is silent waits, and is done in the end', async () => {
  const world = await settledWorld(['n1', 'n2']);
  world.site.intervene = (effect) =>
    effect.kind === 'create-pod'
      ? { kind: 'answer', outcome: { kind: 'unsent', message: 'injected' } }
      : undefined;
  world.addNode('n3');
  await world.advance(2000);
  world.stopWatcher(theWatcher(world));
  await world.advance(30 * 60_000);
  // n3 goes while nobody watches: soon no pod may be asked for there any more (S5).
  world.controllers.removeNode('n3');
  await world.advance(25 * 60_000);
  world.assertSafe();
  let created = 0;
  world.site.intervene = (effect) => {
    if (effect.kind === 'create-pod') created += 1;
    return undefined;
  };
  await world.advance(10 * 60_000);
  world.assertSafe();
  assert.equal(created, 0, 'nothing was made for a node that is gone');
  world.startWatcher();
  await world.settle();
  assert.equal(podsOf(world, 'agent').length, 2);
});

test('protocol 16: crossing 300 nodes while all runs re-slices the view, and nothing is touched', async () => {
  const nodes = Array.from({ length: 290 }, (_, index) => `n${String(index).padStart(3, '0')}`);
  const world = await World.start({ nodes });
  world.addDaemonSet('agent', { nodeSelector: { few: 'yes' } });
  for (const name of nodes.slice(0, 5)) world.addNode(name, { labels: { few: 'yes' } });
  await world.settle();
  const before = podsOf(world, 'agent').map((pod) => pod.metadata.uid);
  for (let index = 0; index < 20; index += 1) world.addNode(`m${index}`);
  await world.settle();
  assert.equal((await world.meta()).sliceCount, 4);
  assert.deepEqual(
    podsOf(world, 'agent').map((pod) => pod.metadata.uid),
    before,
  );
  world.addNode('m1', { labels: { few: 'yes' } });
  await world.settle();
  assert.equal(podsOf(world, 'agent').length, 6);
});

test('protocol 23: a throttled table exhausts no receives and loses nothing', async () => {
  const world = await settledWorld(['n1', 'n2']);
  let isThrottled = true;
  let throttled = 0;
  world.view.hooks.before = () => {
    if (!isThrottled) return;
    throttled += 1;
    throw new Error('injected: table throttled');
  };
  world.addNode('n3');
  await world.advance(10 * 60_000);
  isThrottled = false;
  assert.ok(throttled > 0);
  for (const queue of ['events-dead.fifo', 'reconcile-dead.fifo', 'delay-dead'] as const) {
    const { visible, inFlight } = world.queues.named(queue).queue.counts(world.clock.nowMs());
    assert.equal(visible + inFlight, 0, `${queue}: nothing is given up`);
  }
  await world.settle(60 * 60_000);
  assert.equal(podsOf(world, 'agent').length, 3);
});

test('L1: a node removed and re-made under its name has one pod', async () => {
  const world = await settledWorld(['n1', 'n2']);
  world.controllers.removeNode('n1');
  await world.advance(700);
  world.api.put('nodes', rawNode('n1'));
  await world.settle();
  assert.equal(podOn(world, 'agent', 'n1').metadata.deletionTimestamp, undefined);
  assert.equal(podsOf(world, 'agent').length, 2);
});
