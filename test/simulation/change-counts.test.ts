/**
 * What a join costs in requests, counted on virtual time (issue 16): a count that grows fails here, seconds never do.
 *
 * The world is kinder than a cluster: no wire delays but those of the queues, and ten keys that end together. The figures
 * of a real control plane are those of `npm run bench -- join`. Reads and writes are calls of the store, those of the
 * audits with them; some forty seconds are counted, a tick of resync among them. Lower a bound when the count falls.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { rawNode } from '../support/simulation/objects.ts';
import { World } from '../support/simulation/world.ts';

const DAEMON_SETS_COUNT = 10;
const QUIET_AFTER_MS = 40_000;

type Counts = Record<
  'messages' | 'hints' | 'invocations' | 'runs' | 'reads' | 'writes' | 'requests',
  number
>;

/** Counts the calls of the view's methods whose names begin like that. */
function countCalls(view: object, prefix: RegExp): () => number {
  let count = 0;
  for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(view))) {
    if (!prefix.test(name)) continue;
    const original: unknown = Reflect.get(view, name);
    if (typeof original !== 'function') continue;
    Object.defineProperty(view, name, {
      configurable: true,
      writable: true,
      value: (...input: unknown[]): unknown => {
        count += 1;
        return Reflect.apply(original, view, input);
      },
    });
  }
  return () => count;
}

async function settledWorld(): Promise<{ readonly world: World; readonly counts: () => Counts }> {
  const world = await World.start({ nodes: ['n1', 'n2', 'n3', 'n4'] });
  for (let index = 0; index < DAEMON_SETS_COUNT; index += 1) {
    world.addDaemonSet(`agent-${String(index)}`);
  }
  await world.settle();
  const reads = countCalls(world.view, /^(read|list)[A-Z]/);
  const writes = countCalls(world.view, /^(write(?!IfOlder)|raise|remove)[A-Z]/);
  let requests = 0;
  const { onRequest } = world.observer;
  world.observer.onRequest = (key) => {
    requests += 1;
    onRequest(key);
  };
  const counts = (): Counts => ({
    messages: world.queues.events.length,
    hints: world.host.metrics.sum('IngestHints'),
    invocations: world.host.invocations,
    runs: world.host.results.length,
    reads: reads(),
    writes: writes(),
    requests,
  });
  return { world, counts };
}

async function costOf(change: (world: World) => void): Promise<Counts> {
  const { world, counts } = await settledWorld();
  const before = counts();
  change(world);
  await world.advance(QUIET_AFTER_MS);
  await world.converge();
  const after = counts();
  const names = Object.keys(after) as (keyof Counts)[];
  return Object.fromEntries(names.map((name) => [name, after[name] - before[name]])) as Counts;
}

function assertWithin(counts: Counts, bounds: Counts): void {
  for (const name of Object.keys(bounds) as (keyof Counts)[]) {
    assert.ok(counts[name] <= bounds[name], `${name}: ${JSON.stringify(counts)}`);
  }
}

describe('what a change of a cluster with ten DaemonSets costs', () => {
  it('a node that joins', async () => {
    const counts = await costOf((world) => {
      world.addNode('joined');
    });
    assertWithin(counts, {
      messages: 3,
      hints: 30,
      invocations: 9,
      runs: 40,
      reads: 210,
      writes: 58,
      requests: 40,
    });
  });

  it('a node whose label no DaemonSet asks for', async () => {
    const counts = await costOf((world) => {
      world.api.put('nodes', rawNode('n1', { labels: { 'example.com/rack': 'b' } }));
    });
    assertWithin(counts, {
      messages: 1,
      hints: 0,
      invocations: 2,
      runs: 0,
      reads: 4,
      writes: 4,
      requests: 0,
    });
  });

  it('a pod that somebody deleted', async () => {
    const counts = await costOf((world) => {
      const [pod] = world.api.list('pods');
      assert.ok(pod !== undefined);
      world.controllers.deletePod(pod);
    });
    assertWithin(counts, {
      messages: 2,
      hints: 2,
      invocations: 7,
      runs: 3,
      reads: 24,
      writes: 9,
      requests: 3,
    });
  });
});
