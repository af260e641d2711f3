// A function that has no time left (row 29): told 700 ms before its end by the stack that is deployed, and what was left of
// it when Lambda had its answer goes on in the next invocation of the same sandbox (rows 21, 30).
import { test } from 'node:test';
import assert from 'node:assert/strict';
import type { FunctionName } from '../support/simulation/function-host.ts';
import { TIMEOUTS_MS } from '../support/simulation/function-host.ts';
import { podsOf } from '../support/simulation/look.ts';
import { World } from '../support/simulation/world.ts';

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
