/**
 * Reconciles of a cluster whose API server does not answer (L3, row 61, row 12): what they cost, what they
 * do meanwhile, and how they come back.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { breakerPolicy, type ClusterBreaker } from '../../../../src/core/model/breaker.ts';
import type { LiveRead } from '../../../../src/ports/cluster/cluster-access.ts';
import { ReconcileWorld } from '../../../support/reconcile-world.ts';

const HANG_MS = 5_000;

/** Every request hangs until its time-out. */
function hang(world: ReconcileWorld): void {
  const wait = async (): Promise<LiveRead<never>> => {
    await world.clock.sleep(HANG_MS);
    return { kind: 'unavailable', message: 'ETIMEDOUT', isRefused: false };
  };
  world.cluster.hooks.onRead = wait;
  world.cluster.hooks.beforeEffect = async () => {
    await world.clock.sleep(HANG_MS);
    return { kind: 'answer', outcome: { kind: 'ambiguous', message: 'ETIMEDOUT' } };
  };
}

function recover(world: ReconcileWorld): void {
  world.cluster.hooks = {};
}

async function breakerOf(world: ReconcileWorld): Promise<ClusterBreaker | undefined> {
  return (await world.view.readMeta(world.registration.clusterUid))?.breaker;
}

/** One run, with time passing while it waits; answers its result and how long it took. */
async function run(
  world: ReconcileWorld,
): Promise<{ code: string; tookMs: number; nextLookAtMs: number }> {
  const startedMs = world.clock.monotonicMs();
  let isOver = false;
  const running = world.run().finally(() => (isOver = true));
  while (!isOver) {
    await world.clock.advance(100);
    if (world.clock.monotonicMs() - startedMs > 60_000) throw new Error('the run does not end');
  }
  const result = await running;
  return {
    code: 'code' in result ? result.code : result.kind,
    tookMs: world.clock.monotonicMs() - startedMs,
    nextLookAtMs: result.kind === 'deferred' ? result.nextLookAtMs : world.clock.nowMs(),
  };
}

async function runWhenDue(world: ReconcileWorld): Promise<Awaited<ReturnType<typeof run>>> {
  const state = await world.view.readState(world.ref);
  const waitMs = (state?.dueAtMs ?? 0) - world.clock.nowMs();
  if (waitMs > 0) await world.clock.advance(waitMs);
  return run(world);
}

async function openedWorld(): Promise<ReconcileWorld> {
  const world = new ReconcileWorld();
  await world.mirror.sync();
  hang(world);
  for (let runs = 0; runs < breakerPolicy.failuresToOpen; runs += 1) await runWhenDue(world);
  assert.notEqual((await breakerOf(world))?.open, undefined, 'the breaker is not open');
  return world;
}

describe('a cluster that answers', () => {
  it('costs no write of the breaker and no request more (L3)', async () => {
    const world = await ReconcileWorld.settled();
    assert.equal(await breakerOf(world), undefined);
    assert.deepEqual(
      world.view.calls.filter(({ operation }) => operation === 'writeBreaker'),
      [],
    );
  });
});

describe('a cluster that hangs (L3, row 61)', () => {
  it('costs a run one time-out, whatever it had in mind', async () => {
    const world = new ReconcileWorld();
    await world.mirror.sync();
    hang(world);
    const { tookMs } = await run(world);
    assert.ok(tookMs < 2 * HANG_MS, `it took ${String(tookMs)} ms`);
  });

  it('opens its breaker after three runs; then runs send nothing and take no time', async () => {
    const world = await openedWorld();
    const before = world.cluster.requests.length;
    const { code, tookMs, nextLookAtMs } = await run(world);
    assert.equal(code, 'breaker-open');
    assert.ok(tookMs <= 100);
    assert.equal(world.cluster.requests.length, before);
    const open = (await breakerOf(world))?.open;
    assert.ok(open !== undefined && nextLookAtMs >= open.untilMs, 'protocol 11: a due time');
  });

  it('says in the verdicts why there is no pod (WaitingForCluster)', async () => {
    const world = await openedWorld();
    await run(world);
    const verdicts = await world.explain();
    assert.deepEqual([...new Set(verdicts?.map(({ code }) => code))], ['WaitingForCluster']);
  });

  it('lets a flood of hints cost small reads: no request, no write, no timer each', async () => {
    const world = await openedWorld();
    await run(world);
    const before = {
      writes: world.view.calls.filter(({ isWrite }) => isWrite).length,
      timers: world.queue.timers.length,
      requests: world.cluster.requests.length,
    };
    for (let hint = 0; hint < 50; hint += 1) {
      assert.equal((await world.run()).kind, 'deferred');
    }
    assert.equal(world.view.calls.filter(({ isWrite }) => isWrite).length, before.writes);
    assert.ok(world.queue.timers.length - before.timers <= 1, 'protocol 12: at most one repeat');
    assert.equal(world.cluster.requests.length, before.requests);
  });

  it('sends one probe when it is due, and waits longer when that fails', async () => {
    const world = await openedWorld();
    const first = (await breakerOf(world))?.open;
    assert.ok(first !== undefined);
    await world.clock.advance(first.untilMs - world.clock.nowMs());
    // Two runs at the same time: one of them asks.
    const [left, right] = [world.run(), world.run()];
    await world.clock.advance(2 * HANG_MS);
    const codes = (await Promise.all([left, right])).map((result) =>
      'code' in result ? result.code : result.kind,
    );
    assert.equal(codes.filter((code) => code === 'breaker-open').length, 1, codes.join());
    const second = (await breakerOf(world))?.open;
    assert.equal(second?.delayMs, 2 * first.delayMs);
  });

  it('closes with the first answer, and everything is done then (L1)', async () => {
    const world = await openedWorld();
    recover(world);
    await world.settle();
    assert.equal((await breakerOf(world))?.open, undefined);
    assert.equal(world.owned.length, 3);
    assert.equal(world.metrics.sum('BreakerChanges'), 2);
    assert.deepEqual(world.cluster.violations, []);
  });

  it('is left to its timers, never for longer than the cap, however long it hangs', async () => {
    const world = await openedWorld();
    for (let runs = 0; runs < 20; runs += 1) await runWhenDue(world);
    const waitMs =
      ((await world.view.readState(world.ref))?.dueAtMs ?? Infinity) - world.clock.nowMs();
    assert.ok(waitMs <= 300_000 * 1.2);
    const { open } = (await breakerOf(world)) ?? {};
    assert.ok(open !== undefined && open.untilMs - world.clock.nowMs() <= 36_000);
    recover(world);
    await world.settle();
    assert.equal(world.owned.length, 3);
  });
});

describe('what is no failure of the API server', () => {
  it('back-pressure slows and opens nothing (429, Retry-After)', async () => {
    const world = new ReconcileWorld();
    await world.mirror.sync();
    world.cluster.hooks.onRead = () => ({
      kind: 'unavailable',
      message: 'HTTP 429',
      isRefused: false,
      retryAfterMs: 1_000,
    });
    for (let runs = 0; runs < 5; runs += 1) await runWhenDue(world);
    assert.equal(await breakerOf(world), undefined);
  });

  it('some failures among answers are a server that is alive (row 12: 30 % of creates fail)', async () => {
    const world = new ReconcileWorld({ nodes: 10 });
    let index = 0;
    world.cluster.hooks.beforeEffect = (effect) => {
      index += 1;
      if (effect.kind !== 'create-pod' || index % 3 !== 0) return undefined;
      return { kind: 'answer', outcome: { kind: 'ambiguous', message: 'HTTP 500' } };
    };
    await world.settle();
    assert.equal(world.owned.length, 10);
    assert.equal((await breakerOf(world))?.open, undefined);
  });

  it('a breaker that cannot be written holds nobody (IAM, a table in trouble)', async () => {
    const world = await openedWorld();
    recover(world);
    const open = (await breakerOf(world))?.open;
    assert.ok(open !== undefined);
    await world.clock.advance(open.untilMs + 1 - world.clock.nowMs());
    world.view.hooks.before = ({ operation }) => {
      if (operation === 'writeBreaker') throw new Error('injected: access denied');
    };
    const { code } = await runWhenDue(world);
    assert.notEqual(code, 'breaker-open');
    assert.equal(world.pods.length, 3);
  });
});
