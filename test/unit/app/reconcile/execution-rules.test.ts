/** protocol 7, rows 12, 38, 57, 90, 92: batches, fences, refusals, and who may be touched at all. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RefusalCode } from '../../../../src/core/model/effects.ts';
import { codeOf, ReconcileWorld } from '../../../support/reconcile-world.ts';

/** Calls back at the `index`-th create. */
function atCreate(world: ReconcileWorld, index: number, act: () => void): void {
  let seen = 0;
  world.cluster.hooks = {
    beforeEffect: (effect) => {
      if (effect.kind !== 'create-pod') return undefined;
      seen += 1;
      if (seen === index) act();
      return undefined;
    },
  };
}

describe('protocol 7: before each batch', () => {
  it('a freeze is noticed: at most one batch more (row 92)', async () => {
    const world = new ReconcileWorld({ nodes: 100 });
    await world.mirror.sync();
    atCreate(world, 4, () => {
      world.register({ isFrozen: true });
    });
    assert.equal(codeOf(await world.run()), 'interrupted');
    assert.equal(world.sent('create-pod'), 7, 'batches of 1, 2 and 4');
    await world.mirror.sync();
    await world.clock.advance(5_000);
    assert.equal((await world.run()).kind, 'observed');
    assert.equal(world.sent('create-pod'), 7);
    world.register({ configVersion: 3 });
    await world.settle();
    assert.equal(world.placed.length, 100);
  });

  it('a registry that became unreadable counts as frozen (protocol 13)', async () => {
    const world = new ReconcileWorld({ nodes: 20 });
    await world.mirror.sync();
    atCreate(world, 1, () => {
      world.registry.hooks = {
        before: () => {
          throw new Error('throttled');
        },
      };
    });
    assert.equal(codeOf(await world.run()), 'registry-unreadable');
    assert.equal(world.sent('create-pod'), 1);
  });

  it('a DaemonSet that is being deleted gets no further pod (S5)', async () => {
    const world = new ReconcileWorld({ nodes: 20 });
    await world.mirror.sync();
    let seen = 0;
    world.cluster.hooks = {
      afterEffect: (effect) => {
        if (effect.kind !== 'create-pod') return;
        seen += 1;
        if (seen !== 3) return;
        world.change(({ metadata }) => ({
          metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
        }));
      },
    };
    assert.equal(codeOf(await world.run()), 'daemon-set-changed');
    assert.equal(world.sent('create-pod'), 3);
    assert.deepEqual(world.cluster.violations, []);
  });

  it('a state that another run wrote stops this one', async () => {
    const world = new ReconcileWorld({ nodes: 20 });
    await world.mirror.sync();
    let seen = 0;
    world.cluster.hooks = {
      afterEffect: async (effect) => {
        if (effect.kind !== 'create-pod') return;
        seen += 1;
        if (seen !== 1) return;
        await world.view.writeState(world.ref, await world.state());
      },
    };
    await world.run();
    assert.equal(world.sent('create-pod'), 1);
    const state = await world.state();
    assert.equal(state.memo, undefined, 'a loser merges its intents, never its memo');
    assert.equal(state.intents.length, 1, 'and withdraws what it never sent');
    world.cluster.hooks = {};
    await world.settle();
    assert.equal(world.placed.length, 20);
  });

  it('the deadline stops further batches; what was not sent is withdrawn (spec faults 29)', async () => {
    const world = new ReconcileWorld({ nodes: 20 });
    await world.mirror.sync();
    world.cluster.hooks = { beforeEffect: () => world.clock.advance(2_000).then(() => undefined) };
    const result = await world.run({}, 12_000);
    const creates = world.sent('create-pod');
    assert.ok(creates >= 1 && creates < 20, `${creates} creates`);
    assert.equal(result.kind, 'deferred');
    world.cluster.hooks = {};
    await world.settle();
    assert.equal(world.placed.length, 20);
    assert.deepEqual(world.cluster.violations, []);
  });
});

describe('a sandbox that stood still', () => {
  /** Its monotonic clock stands still while it does; that of the wall goes on. */
  function standsStill(world: ReconcileWorld, forMs: number): void {
    const { clock } = world;
    const [wall, monotonic] = [clock.nowMs.bind(clock), clock.monotonicMs.bind(clock)];
    const recordedAtMs = wall();
    clock.nowMs = () => wall() + forMs;
    clock.monotonicMs = () => Math.min(monotonic(), recordedAtMs);
  }

  it('sends nothing that it recorded before, though its own clock says that there is time (rows 21, 30, S1)', async () => {
    const world = new ReconcileWorld({ nodes: 3 });
    await world.mirror.sync();
    const write = world.view.writeState.bind(world.view);
    let isRecorded = false;
    world.view.writeState = async (ref, state) => {
      const written = await write(ref, state);
      if (!isRecorded) standsStill(world, 60_000);
      isRecorded = true;
      return written;
    };
    const result = await world.run({}, 30_000);
    assert.ok(isRecorded);
    assert.equal(world.sent('create-pod'), 0);
    assert.equal(result.kind === 'deferred' && result.code, 'interrupted');
  });
});

describe('slow start', () => {
  it('stops after a batch in which something went wrong (row 12)', async () => {
    const world = new ReconcileWorld({ nodes: 100 });
    await world.mirror.sync();
    world.cluster.hooks = {
      beforeEffect: (effect, index) =>
        effect.kind === 'create-pod' && index === 4
          ? { kind: 'answer', outcome: { kind: 'ambiguous', message: '500' } }
          : undefined,
    };
    await world.run();
    const creates = world.sent('create-pod');
    assert.ok(creates >= 3 && creates <= 7, `${creates} creates`);
    world.cluster.hooks = {};
    await world.settle();
    assert.equal(world.placed.length, 100);
  });

  it('caps a run at 250 creates and leaves the rest to the next (S9)', async () => {
    const world = new ReconcileWorld({ nodes: 260 });
    await world.mirror.sync();
    const result = await world.run();
    assert.equal(world.sent('create-pod'), 250);
    assert.equal(result.kind === 'deferred' && result.code, 'capped');
    await world.settle();
    assert.equal(world.placed.length, 260);
  });

  it('needs at most 1.1 requests per pod beside events for 1,000 nodes', async () => {
    const world = await ReconcileWorld.settled({ nodes: 1_000 });
    assert.equal(world.placed.length, 1_000);
    const counted = world.cluster.requests.filter((request) => !request.startsWith('create-event'));
    assert.ok(counted.length <= 1_100, `${counted.length} requests`);
    const lists = counted.filter((request) => request.startsWith('LIST pods'));
    assert.equal(lists.length, 1, 'the one before the first creates (protocol 9)');
  });
});

describe('refusals', () => {
  const refuse =
    (code: RefusalCode, nodes: RegExp) =>
    (pod: { readonly metadata: unknown }): { code: RefusalCode } | undefined =>
      nodes.test(JSON.stringify(pod)) ? { code } : undefined;

  it('of some nodes do not stop the others, and back off per node', async () => {
    const world = new ReconcileWorld({ nodes: 40 });
    world.cluster.hooks = { admitPod: refuse('admission', /node-000[1-5]/) };
    await world.settle({ withinMs: 30_000 });
    assert.equal(world.placed.length, 35);
    const refused = world.metrics.sum('ReconcileRefusedPods');
    assert.ok(refused >= 10 && refused <= 5 * 6, `${refused} refusals in 30 s`);
    const told = world.cluster.list('events').filter(({ reason }) => reason === 'FailedCreate');
    assert.ok(told.length > 0);
    for (const { message } of told)
      assert.match(String(message), /^Error creating: refused: admission$/);
    world.cluster.hooks = {};
    await world.settle();
    assert.equal(world.placed.length, 40);
  });

  it('of every node cost few requests per run, and end when the refusals end', async () => {
    const world = new ReconcileWorld({ nodes: 100 });
    world.cluster.hooks = { admitPod: refuse('quota', /./) };
    await world.mirror.sync();
    assert.equal(codeOf(await world.run()), 'refused');
    assert.equal(world.sent('create-pod'), 16);
    await world.run();
    assert.equal(world.sent('create-pod'), 16, 'a hint does not get around the back-off');
    world.cluster.hooks = {};
    await world.settle();
    assert.equal(world.placed.length, 100);
  });

  it('of a terminating namespace are silent and never a hot loop (row 57)', async () => {
    const world = await ReconcileWorld.settled({ nodes: 10 });
    world.addNode('node-0099');
    world.cluster.isNamespaceTerminating = true;
    const events = world.cluster.list('events').length;
    const before = world.sent('create-pod');
    await world.settle({ withinMs: 60_000 });
    const tries = world.sent('create-pod') - before;
    assert.ok(tries >= 1 && tries <= 6, `${tries} tries in a minute`);
    assert.equal(world.cluster.list('events').length, events);
  });

  it('born terminating: replaced with back-off, no freeze (row 42)', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    world.cluster.hooks = {
      admitPod: (pod) => ({
        ...pod,
        metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
      }),
    };
    await world.mirror.sync();
    assert.equal(codeOf(await world.run()), 'refused');
    world.cluster.hooks = {};
    await world.settle();
    assert.deepEqual(world.placed, ['node-0001']);
    assert.equal(world.pods[0]?.metadata.deletionTimestamp, undefined);
  });
});

describe('who may be touched', () => {
  it('observe: verdicts only, no request to the cluster, no connection', async () => {
    const world = new ReconcileWorld({ nodes: 2, mode: 'observe' });
    await world.mirror.sync();
    assert.equal((await world.run()).kind, 'observed');
    assert.equal(world.connector.connects, 0);
    const verdicts = await world.explain();
    assert.equal(verdicts?.length, 2);
    assert.equal((await world.run()).kind, 'skipped');
  });

  it('another cluster behind the endpoint: refused, nothing is sent (row 90, S6)', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    await world.mirror.sync();
    world.connector.refusal = { kind: 'wrong-cluster', foundUid: 'other' };
    const result = await world.run();
    assert.equal(result.kind === 'refused' && result.reason, 'wrong-cluster');
    assert.deepEqual(world.cluster.requests, []);
    assert.equal(world.log.at('warn').length, 1);
  });

  it('an unknown cluster: refused, one log line, one metric', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    await world.mirror.sync();
    const hint = { ...world.hint, key: { ...world.hint.key, cluster: 'nobody' as never } };
    const { reconcileKey } = await import('../../../../src/app/reconcile/reconcile-key.ts');
    const result = await reconcileKey(hint, { deadlineMs: 60_000 }, world.dependencies);
    assert.equal(result.kind === 'refused' && result.reason, 'unknown-cluster');
    assert.equal(world.log.at('warn').length, 1);
    assert.equal(world.metrics.sum('ReconcileRefusals', 'unknown-cluster'), 1);
  });

  it('an API server in trouble: no throw, a timer that waits longer each time', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    await world.mirror.sync();
    world.connector.refusal = { kind: 'unavailable', message: 'no route' };
    const waits: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      const result = await world.run();
      assert.ok(result.kind === 'deferred');
      waits.push(result.nextLookAtMs - world.clock.nowMs());
      await world.clock.advance(result.nextLookAtMs - world.clock.nowMs());
    }
    assert.deepEqual(waits, [2_000, 4_000, 8_000, 16_000]);
    world.connector.refusal = undefined;
    await world.settle();
    assert.deepEqual(world.placed, ['node-0001']);
  });
});
