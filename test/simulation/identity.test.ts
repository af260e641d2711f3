// Who is who, and what time it is: registrations, senders, rebuilt clusters, wall clocks that are off.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { encodeWatcherMessage } from '../../src/adapters/sqs/schema/watcher-message-codec.ts';
import { podOn, podsOf, theWatcher } from '../support/simulation/look.ts';
import { rawNode } from '../support/simulation/objects.ts';
import { World } from '../support/simulation/world.ts';

test('row 63, S6: messages of a wrong sender change nothing', async () => {
  const world = await World.start({ nodes: ['n1', 'n2'] });
  world.addDaemonSet('agent');
  await world.settle();
  const last = world.queues.events.at(-1) ?? assert.fail('no message');
  const before = await world.meta();
  world.queues.send('events.fifo', {
    body: encodeWatcherMessage({
      ...last,
      seq: last.seq + 1,
      epoch: '999999' as typeof last.epoch,
    }),
    senderId: 'AROASOMEBODY:session',
    groupId: last.cluster,
    deduplicationId: 'forged',
  });
  await world.advance(2000);
  assert.deepEqual(await world.meta(), before);
  assert.equal(world.host.metrics.sum('IngestRefusals', 'wrong-sender'), 1);
  await world.settle();
});

test('L4, row 25: bodies that cannot be read are refused, and everything else goes on', async () => {
  const world = await World.start({ nodes: ['n1', 'n2'] });
  world.addDaemonSet('agent');
  await world.settle();
  const bodies = [
    '',
    '{',
    'null',
    '[]',
    '{"schema":99}',
    '{"__proto__":{"x":1}}',
    '"'.repeat(9000),
  ];
  for (const [index, body] of bodies.entries()) {
    const poison = { body, groupId: 'alpha', deduplicationId: `poison-${index}` };
    world.queues.send('events.fifo', { ...poison, senderId: 'AROAWATCHER:session' });
    world.queues.send('events.fifo', { ...poison, groupId: 'beta', senderId: 'AROAOTHER:session' });
    world.queues.send('reconcile.fifo', {
      ...poison,
      groupId: 'x',
      senderId: 'AROAFUNCTIONS:session',
    });
    world.queues.send('delay', { body, senderId: 'AROAFUNCTIONS:session' });
  }
  world.addNode('n3');
  await world.settle();
  assert.equal(podsOf(world, 'agent').length, 3);
  assert.ok(world.registry.refusals.size > 0, 'noted for people');
});

test('protocol 13: while the registry cannot be read nothing is done, and all of it afterwards', async () => {
  const world = await World.start({ nodes: ['n1', 'n2'] });
  world.addDaemonSet('agent');
  await world.settle();
  let throttled = 0;
  world.registry.hooks.before = () => {
    throttled += 1;
    throw new Error('injected: registry throttled');
  };
  const writes = world.observer.writes;
  world.addNode('n3');
  world.controllers.deletePod(podOn(world, 'agent', 'n1'));
  await world.advance(60_000);
  assert.equal(world.observer.writes, writes);
  assert.ok(throttled > 0, 'somebody asked the registry');
  world.registry.hooks = {};
  await world.settle();
  assert.equal(podsOf(world, 'agent').length, 3);
});

const SKEW_MS = 600_000;
for (const who of ['functions', 'watcher', 'api'] as const) {
  for (const skewMs of [SKEW_MS, -SKEW_MS]) {
    const direction = skewMs > 0 ? 'ahead' : 'behind';
    test(`faults row 14: the clock of ${who} ten minutes ${direction} loses nothing and doubles nothing`, async () => {
      const world = await World.start({ nodes: ['n1', 'n2', 'n3'], skewMs: { [who]: skewMs } });
      world.addDaemonSet('agent', { spec: { minReadySeconds: 0 } });
      await world.settle();
      world.addNode('n4');
      world.controllers.deletePod(podOn(world, 'agent', 'n1'));
      await world.advance(3000);
      world.controllers.setPhase(podOn(world, 'agent', 'n2'), 'Failed');
      world.api.put('nodes', rawNode('n3', { taints: [{ key: 'gone', effect: 'NoExecute' }] }));
      await world.settle(10 * 60_000);
      assert.equal(podsOf(world, 'agent').length, 3);
      // Silence and restarts are judged by clocks as well.
      world.stopWatcher(theWatcher(world));
      await world.advance(60_000);
      world.api.put('nodes', rawNode('n3'));
      world.startWatcher();
      await world.settle(10 * 60_000);
      assert.equal(podsOf(world, 'agent').length, 4);
    });
  }
}

test('faults rows 13, 14: a functions’ clock that steps by ten minutes, back and forth, hurts nothing', async () => {
  const world = await World.start({ nodes: ['n1', 'n2', 'n3'] });
  world.addDaemonSet('agent');
  await world.settle();
  for (const [round, skewMs] of [SKEW_MS, 0, -SKEW_MS, SKEW_MS, -SKEW_MS, 0].entries()) {
    world.controllers.deletePod(podOn(world, 'agent', 'n1'));
    world.addNode(`m${round}`);
    await world.advance(30);
    world.functionClock.skewMs = skewMs;
    // A clock that stepped back makes timers late by as much: the next event or resync is in time.
    await world.settle(30 * 60_000);
  }
  assert.equal(podsOf(world, 'agent').length, 9);
});
