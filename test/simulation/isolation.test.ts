/**
 * Tenant isolation on virtual time (L3): three healthy clusters, and one that floods,
 * hangs or answers garbage with twenty times their keys. The published factor is held with room to spare.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Outcome } from '../../src/core/model/effects.ts';
import { FleetWorld, answerGarbage, hang, recover } from '../support/isolation/fleet-world.ts';
import type { FleetMember } from '../support/isolation/fleet-world.ts';
import { World } from '../support/simulation/world.ts';

const HEALTHY = ['alpha', 'beta', 'gamma'];
const NOISY_KEYS = 60;
const CHANGES = 3;
/** docs/promise.md, L3: at most so many times the latency alone … */
const FACTOR = 3;
/** … and once for each outage of the noisy cluster, the time-out of a read more. */
const TIMEOUT_MS = 5_000;

/** Another webhook's answer to every pod. */
const FORBIDDEN: Outcome = { kind: 'refused', code: 'forbidden', status: 403, message: 'no' };

interface Fleet {
  readonly world: FleetWorld;
  readonly healthy: readonly FleetMember[];
  readonly noisy: FleetMember;
}

async function start(): Promise<Fleet> {
  const world = new FleetWorld();
  const healthy = HEALTHY.map((name) => world.add({ name, daemonSets: 3 }));
  const noisy = world.add({ name: 'noisy', daemonSets: NOISY_KEYS });
  await world.clock.advance(30_000);
  return { world, healthy, noisy };
}

/** Latencies of changes in the healthy clusters, one after the other in each, sorted. */
async function measure({ world, healthy }: Fleet, round: string): Promise<readonly number[]> {
  const latencies: number[] = [];
  const measuring = healthy.map(async (member) => {
    for (let change = 0; change < CHANGES; change += 1) {
      latencies.push(await world.latencyOf(member, `${round}-${String(change)}`));
    }
  });
  let isOver = false;
  void Promise.all(measuring).then(() => (isOver = true));
  for (let waitedMs = 0; !isOver; waitedMs += 250) {
    assert.ok(waitedMs < 120_000, `${String(latencies.length)} changes in ten minutes`);
    await world.clock.advance(250);
  }
  return latencies.sort((left, right) => left - right);
}

const worst = (latencies: readonly number[]): number => latencies.at(-1) ?? 0;
async function beside<T>(
  { world }: Fleet,
  noise: { readonly everyMs: number; readonly make: () => Promise<void> },
  task: () => Promise<T>,
): Promise<T> {
  let isOver = false;
  const again = (): void => {
    if (isOver) return;
    void noise.make();
    world.clock.after(noise.everyMs, again);
  };
  again();
  try {
    return await task();
  } finally {
    isOver = true;
  }
}

function assertWithin(latencies: readonly number[], alone: readonly number[], graceMs = 0): void {
  const boundMs = FACTOR * worst(alone) + graceMs;
  assert.ok(worst(latencies) <= boundMs, `${latencies.join()} beside ${alone.join()}`);
}

describe('one noisy cluster among healthy ones (L3, row 61)', () => {
  it('that floods with thousands of keys leaves the latency of the others as it was', async () => {
    const fleet = await start();
    const { world, noisy } = fleet;
    const alone = await measure(fleet, 'alone');
    const flood = { everyMs: 2_000, make: () => world.flood(noisy, 5_000) };
    assertWithin(await beside(fleet, flood, () => measure(fleet, 'flooded')), alone);
    world.assertSafe();
  });

  it('that hangs costs them one time-out at its beginning, and nothing from then on', async () => {
    const fleet = await start();
    const { world, noisy } = fleet;
    const alone = await measure(fleet, 'alone');
    hang(noisy);
    // Something to do for each of its keys, and every one is hinted by itself.
    world.addNode(noisy, 'node-1');
    const trickle = { everyMs: 500, make: () => world.trickle(noisy) };
    const first = await beside(fleet, trickle, () => measure(fleet, 'first'));
    assertWithin(first, alone, TIMEOUT_MS);
    assertWithin(await beside(fleet, trickle, () => measure(fleet, 'later')), alone);
    world.assertSafe();
  });

  it('that is slow, with 100 keys that wait for their timers, leaves the others their room', async () => {
    const world = new FleetWorld();
    const healthy = [world.add({ name: 'alpha', daemonSets: 3 })];
    const slow = world.add({ name: 'slow', daemonSets: 100 });
    const fleet = { world, healthy, noisy: slow };
    await world.clock.advance(30_000);
    const alone = await measure(fleet, 'alone');
    // Every request is answered, late, and every pod refused: each key looks again by a timer of its own.
    slow.site.requestDelayMs = () => 4_000;
    slow.site.intervene = ({ kind }) =>
      kind === 'create-pod' ? { kind: 'answer', outcome: FORBIDDEN } : undefined;
    world.addNode(slow, 'node-1');
    await world.clock.advance(60_000);
    let busiest = 0;
    const note = (): Promise<void> => {
      busiest = Math.max(busiest, world.runningOf(slow));
      return Promise.resolve();
    };
    const watch = { everyMs: 500, make: note };
    assertWithin(await beside(fleet, watch, () => measure(fleet, 'slow')), alone);
    assert.ok(busiest <= 12, `${String(busiest)} runs of one slow cluster at a time`);
    world.assertSafe();
  });

  it('that answers garbage is asked rarely, and comes back by itself (L1)', async () => {
    const fleet = await start();
    const { world, noisy } = fleet;
    const alone = await measure(fleet, 'alone');
    answerGarbage(noisy);
    world.addNode(noisy, 'node-1');
    assertWithin(await measure(fleet, 'garbage'), alone);
    const before = noisy.site.api.requests.length;
    await world.clock.advance(60_000);
    const asked = noisy.site.api.requests.length - before;
    assert.ok(asked <= 60, `${String(asked)} requests in a minute for ${String(NOISY_KEYS)} keys`);
    recover(noisy);
    await world.clock.advance(90_000);
    const pods = noisy.site.api.list('pods').length;
    assert.equal(pods, 2 * NOISY_KEYS, 'every key was looked at again');
    world.assertSafe();
  });
});

describe('queues that stand still for ten minutes (row 27)', () => {
  it('leave a backlog that is worked off in any order, coalesced, and to the same end (L1)', async () => {
    const world = await World.start({ nodes: ['a', 'b'] });
    world.addDaemonSet('agent');
    await world.settle();
    const queues = ['events.fifo', 'reconcile.fifo', 'delay'] as const;
    for (const queue of queues) world.mapping(queue).isPaused = true;
    for (let minute = 0; minute < 10; minute += 1) {
      world.addNode(`late-${String(minute)}`);
      world.hint('agent');
      await world.advance(60_000);
    }
    const before = world.host.results.length;
    for (const queue of queues.toReversed()) world.resume(queue);
    await world.settle();
    const runs = world.host.results.slice(before);
    assert.ok(runs.filter((run) => run.includes('skipped')).length > 0, 'hints were coalesced');
    assert.ok(runs.length < 60, `${String(runs.length)} runs for ten changes`);
    for (const queue of ['events-dead.fifo', 'reconcile-dead.fifo', 'delay-dead'] as const) {
      const { visible, inFlight } = world.queues.named(queue).queue.counts(world.clock.nowMs());
      assert.equal(visible + inFlight, 0, `${queue}: nothing is given up`);
    }
  });
});
