// Messages, slices and whole tables that are lost or late: what ingest and reconcile make of it together. And a function
// that has no time left (row 29): the deployed stack tells it 700 ms before its end, and what is left of it when Lambda has its
// answer goes on in the next invocation of the same sandbox (rows 21, 30).
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { TIMEOUTS_MS, type FunctionName } from '../support/simulation/function-host.ts';
import { podOn, podsOf } from '../support/simulation/look.ts';
import { World } from '../support/simulation/world.ts';

async function settledWorld(nodes: readonly string[]): Promise<World> {
  const world = await World.start({ nodes });
  world.addDaemonSet('agent');
  await world.settle();
  return world;
}

test('row 81, protocol 18: while slices of a snapshot are missing there is no effect', async () => {
  const nodes = Array.from({ length: 40 }, (_, index) => `n${String(index).padStart(2, '0')}`);
  const world = new World({ nodes, watcher: { messageBytesMax: 3000 } });
  world.addDaemonSet('agent');
  let seen = 0;
  world.fate = (queue) => {
    if (queue === 'events.fifo') seen += 1;
    return 'deliver';
  };
  world.deliveryDelayMs = (queue) => (queue === 'events.fifo' ? 2000 : 1);
  world.startWatcher();
  let checked = 0;
  while (!(await world.view.readMeta(world.api.clusterUid))?.isComplete) {
    world.hint('agent');
    await world.advance(500);
    const isComplete = (await world.view.readMeta(world.api.clusterUid))?.isComplete === true;
    if (isComplete) break;
    checked += 1;
    assert.equal(world.observer.writes, 0, 'no effect before the manifest');
  }
  assert.ok(checked > 3, `it was incomplete at ${checked} looks`);
  assert.ok(seen > 3, `the snapshot took ${seen} messages`);
  world.deliveryDelayMs = () => 1;
  await world.settle();
});

test('row 81: a slice that vanishes again after the snapshot that brought it back is asked for again', async () => {
  const world = await settledWorld(['n1', 'n2', 'n3']);
  for (const lost of ['once', 'twice', 'three times']) {
    assert.equal(world.view.lose('SLICE uid-of-kube-system nodes'), 1, lost);
    world.observer.forgetView();
    world.host.coolDown();
    world.controllers.deletePod(podOn(world, 'agent', 'n1'));
    await world.settle();
    assert.equal(podsOf(world, 'agent').length, 3);
  }
});

test('row 81: several slices that vanished at once are one loss, not an endless redelivery', async () => {
  const world = await settledWorld(['n1', 'n2', 'n3']);
  assert.ok(world.view.lose('SLICE') >= 3);
  world.observer.forgetView();
  world.host.coolDown();
  // One message with deltas for two of the lost slices.
  world.controllers.deletePod(podOn(world, 'agent', 'n1'));
  world.addNode('n4');
  await world.settle();
  assert.equal(podsOf(world, 'agent').length, 4);
});

test('row 34, protocol 6: a lost state alone is repaired by names', async () => {
  const world = await settledWorld(['n1', 'n2', 'n3']);
  assert.equal(world.view.lose('STATE'), 1);
  // The newest entries of the log are in the state, and are lost with it.
  world.observer.logs.forget(world.clock.nowMs());
  world.addNode('n4');
  world.controllers.deletePod(podOn(world, 'agent', 'n1'));
  await world.settle();
  assert.equal(podsOf(world, 'agent').length, 4);
});

test('row 26, L2: hints that are lost for ever are made up for by resync', async () => {
  const world = await settledWorld(['n1', 'n2']);
  world.fate = (queue) => (queue === 'reconcile.fifo' ? 'drop' : 'deliver');
  world.addNode('n3');
  await world.advance(5000);
  assert.equal(podsOf(world, 'agent').length, 2);
  world.fate = () => 'deliver';
  await world.settle(6.5 * 3_600_000);
  assert.equal(podsOf(world, 'agent').length, 3);
});

/** One call of the next invocation of a function takes until 300 ms before the function would be stopped. */
function holdOnce(
  world: World,
  name: FunctionName,
  operation: string,
): { readonly held: number[] } {
  const held: number[] = [];
  world.host.ruleFor = (invoked) => {
    if (invoked !== name || held.length > 0) return undefined;
    return (passage) => {
      if (held.length > 0 || passage.moment !== 'before' || passage.operation !== operation) return;
      held.push(world.clock.monotonicMs());
      return world.clock.sleep(TIMEOUTS_MS[name] - 300);
    };
  };
  return { held };
}

for (const [name, operation] of [
  ['reconcile', 'writeState'],
  ['reconcile', 'execute'],
  ['ingest', 'writeSlice'],
] as const) {
  test(`row 29: ${name} whose ${operation} lasts too long ends 700 ms before its time-out, wakes up beside the next, and nothing is broken`, async () => {
    const world = await World.start({ nodes: ['n1', 'n2'] });
    const { held } = holdOnce(world, name, operation);
    world.addDaemonSet('agent');
    if (name === 'ingest') world.addNode('n3');
    while (held.length === 0) await world.advance(100);
    const ended = (): number => world.host.metrics.sum('HandlerFailures', 'HandlerTimeoutError');
    const toEndMs = (held[0] ?? 0) + TIMEOUTS_MS[name] - 700 - world.clock.monotonicMs();
    // Calls before the held one took some of the time.
    await world.advance(toEndMs - 1000);
    assert.equal(ended(), 0, 'it was told too early');
    await world.advance(1000);
    assert.equal(ended(), 1, 'it was not told in time');
    await world.settle();
    assert.equal(world.host.woken, 1, 'what was left did not go on');
    assert.equal(podsOf(world, 'agent').length, name === 'ingest' ? 3 : 2);
    world.assertSafe();
  });
}
