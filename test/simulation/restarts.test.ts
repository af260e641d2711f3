// Watchers that come and go, and an etcd that goes back: epochs and eras, end to end.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { World as SimulatedWorld, type World } from '../support/simulation/world.ts';
import { auditMarks } from '../support/simulation/mark-audit.ts';
import { rawNode } from '../support/simulation/objects.ts';
import { podsOf, theWatcher } from '../support/simulation/look.ts';

async function settledWorld(options: { readonly nodes: readonly string[] }): Promise<World> {
  const world = await SimulatedWorld.start(options);
  world.addDaemonSet('agent');
  await world.settle();
  return world;
}

const MOMENTS = [
  'while the watcher runs',
  'while the watcher is down',
  'to before the present epoch, while the watcher is down',
] as const;
for (const moment of MOMENTS) {
  test(`row 71, protocol 15: etcd restored ${moment} begins a new era, and nothing waits for ever`, async () => {
    const world = await settledWorld({ nodes: ['n1', 'n2', 'n3'] });
    const backup = world.api.backup();
    world.addNode('n4');
    world.controllers.removeNode('n1');
    world.controllers.deletePod(podsOf(world, 'agent')[1] ?? assert.fail('no pod'));
    const isDown = moment !== 'while the watcher runs';
    if (moment.startsWith('to before')) {
      for (let round = 0; round < 30; round += 1) {
        world.addNode('n3', { labels: { round: `${round}` } });
      }
      world.stopWatcher(theWatcher(world));
      world.startWatcher();
    }
    await world.settle();
    const before = await world.meta();
    if (isDown) world.stopWatcher(theWatcher(world));
    world.api.restore(backup);
    if (isDown) world.startWatcher();
    world.addNode('n5');
    await world.advance(60_000);
    const after = await world.meta();
    assert.ok(after.era > before.era, `era ${after.era} after ${before.era}`);
    assert.equal(after.isComplete, true, 'the view is whole again within a minute');
    await world.settle(5 * 60_000);
    assert.deepEqual(
      podsOf(world, 'agent').map((pod) => pod.metadata.deletionTimestamp),
      [undefined, undefined, undefined, undefined],
    );
  });
}

test('row 71: an etcd restored far back, whose versions are given out again, is followed', async () => {
  const world = await SimulatedWorld.start({ nodes: ['n1', 'n2'] });
  const backup = world.api.backup();
  world.addDaemonSet('agent');
  await world.settle();
  world.api.restore(backup);
  // The same versions again, with other contents.
  world.addDaemonSet('other');
  world.addNode('n3');
  world.addNode('n4');
  await world.settle();
  assert.equal(podsOf(world, 'other').length, 4);
  assert.equal(podsOf(world, 'agent').length, 0);
});

test('row 71, protocol 14: a Lease version that is given out again after a restore fools no sleeping watcher', async () => {
  const world = await settledWorld({ nodes: ['n1', 'n2'] });
  const old = theWatcher(world);
  const backup = world.api.backup();
  const leaseOf = (): string =>
    world.api.find('leases', 'rollcall-watcher', 'rollcall-system')?.metadata.resourceVersion ?? '';
  const before = leaseOf();
  for (let round = 0; round < 40; round += 1)
    world.addNode('n2', { labels: { round: `${round}` } });
  await world.clock.advanceUntil(() => leaseOf() !== before, { withinMs: 20_000 });
  const held = Number(leaseOf());
  old.clock.freeze();
  world.api.restore(backup);
  const other = world.startWatcher();
  await world.advance(15_000);
  world.stopWatcher(other);
  world.addNode('n3');
  // In the new history the Lease gets the very version that the sleeper holds, from another holder.
  const key = { namespace: 'rollcall-system', name: 'rollcall-watcher' };
  while (Number(world.api.version) < held) world.api.change('leases', key, (lease) => lease);
  assert.equal(leaseOf(), String(held));
  old.clock.thaw();
  await world.settle();
  assert.equal(podsOf(world, 'agent').length, 3);
});

test('protocol 15: without a credential a lower epoch is accepted after 13 minutes of silence', async () => {
  const world = await SimulatedWorld.start({ nodes: ['n1'] });
  await world.reconfigure({ mode: 'observe', authentication: { kind: 'none' } });
  await world.advance(60_000);
  const backup = world.api.backup();
  world.stopWatcher(theWatcher(world));
  for (let round = 0; round < 30; round += 1)
    world.addNode('n2', { labels: { round: `${round}` } });
  world.startWatcher();
  await world.advance(5000);
  const before = await world.meta();
  world.stopWatcher(theWatcher(world));
  world.api.restore(backup);
  const process = world.startWatcher();
  await world.advance(12 * 60_000);
  assert.equal((await world.meta()).epoch, before.epoch, 'the lower epoch waits');
  await world.advance(6 * 60_000);
  const after = await world.meta();
  assert.equal(after.incarnation, process.watcher.status().incarnation);
  assert.ok(after.era > before.era);
});

test('row 80: a mark never vouches for data that an older watcher sent past the newer list', async () => {
  const world = await settledWorld({ nodes: ['n1', 'n2', 'n3'] });
  const old = theWatcher(world);
  // The older one does not notice that it lost the Lease, and goes on sending.
  old.faults.failure = (what) =>
    what.endsWith('lease') ? { kind: 'unavailable', message: 'injected' } : undefined;
  let held = 6;
  world.queues.faults.sendEvent = (message) => {
    const isFresh = message.incarnation !== old.watcher.status().incarnation;
    if (!isFresh || message.body.kind !== 'announcement' || held === 0) return undefined;
    held -= 1;
    return { outcome: { kind: 'unsent', message: 'injected' }, applied: false };
  };
  world.startWatcher();
  for (let round = 0; round < 40; round += 1) {
    world.addNode(`n${round % 4}`, { labels: { round: `${round}` } });
    await world.advance(100);
  }
  old.faults.failure = () => undefined;
  await world.settle();
  const { findings, cuts } = auditMarks(world.api, world.queues.events);
  assert.deepEqual(findings, []);
  assert.ok(cuts > 5);
  assert.equal(held, 0, 'the announcement was held back');
});

test('row 84, protocol 2: changes during paged lists and while sends fail leave every mark honest', async () => {
  const nodes = Array.from({ length: 23 }, (_, index) => `n${index}`);
  const { DEFAULT_WATCHER_OPTIONS } = await import('../../src/watcher/session/options.ts');
  const listWatch = {
    ...DEFAULT_WATCHER_OPTIONS.listWatch,
    pageLimit: 5,
    isWatchListWanted: false,
  };
  const world = new SimulatedWorld({ nodes, watcher: { listWatch, messageBytesMax: 6000 } });
  world.addDaemonSet('agent');
  let sends = 0;
  world.queues.faults.sendEvent = () => {
    sends += 1;
    if (sends % 3 !== 0) return undefined;
    return { outcome: { kind: 'ambiguous', message: 'injected' }, applied: sends % 2 === 0 };
  };
  world.startWatcher();
  for (let round = 0; round < 60; round += 1) {
    world.api.put('nodes', rawNode(`n${(round * 7) % 30}`, { labels: { round: `${round}` } }));
    if (round % 11 === 0) world.controllers.removeNode(`n${round % 5}`);
    if (round === 30) world.api.compact();
    await world.advance(round < 20 ? 1 : 150);
  }
  await world.settle();
  const { findings, cuts } = auditMarks(world.api, world.queues.events);
  assert.deepEqual(findings, []);
  assert.ok(cuts > 10);
  assert.ok(sends > 30, `${sends} sends, of which every third failed`);
});

test('row 89: ambiguous and failed sends leave no gap and lose no change', async () => {
  const world = await settledWorld({ nodes: ['n1', 'n2'] });
  const failed = { ambiguous: 0, unsent: 0 };
  world.queues.faults.sendEvent = () => {
    const draw = world.random.next();
    if (draw >= 0.7) return undefined;
    const kind = draw < 0.5 ? 'ambiguous' : 'unsent';
    failed[kind] += 1;
    return { outcome: { kind, message: 'injected' }, applied: draw < 0.3 };
  };
  for (let round = 0; round < 300; round += 1) {
    world.addNode(`m${round % 7}`, { labels: { round: `${round}` } });
    await world.advance(400);
  }
  world.queues.faults.sendEvent = () => undefined;
  assert.ok(failed.ambiguous > 5 && failed.unsent > 5, JSON.stringify(failed));
  await world.settle();
  const { findings } = auditMarks(world.api, world.queues.events);
  assert.deepEqual(findings, []);
  assert.equal((await world.meta()).broken, 0, 'no loss was ever suspected');
});
