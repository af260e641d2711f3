/** Moving a cluster between two stacks: never two that may write, from a crash anywhere (S6). */
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, it } from 'node:test';
import { moveBack } from '../../../../src/app/clusters/move-back.ts';
import { moveCluster } from '../../../../src/app/clusters/move-cluster.ts';
import type { MoveDependencies, MoveResult } from '../../../../src/app/clusters/move-types.ts';
import { clusterId, clusterUid, uid } from '../../../../src/core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../../src/core/model/registration.ts';
import { MemoryCredentialStore } from '../../../support/memory-credential-store.ts';
import { MemoryRegistryStore } from '../../../support/memory-registry-store.ts';
import { MemoryViewStore } from '../../../support/memory-view-store.ts';
import type { StoreCall } from '../../../support/store-hooks.ts';
import { metaOf, registrationOf } from '../../../support/store-suite.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

const ID = clusterId('prod');
const UID = clusterUid('uid-of-prod');

class Side {
  readonly name: string;
  readonly registry = new MemoryRegistryStore();
  readonly view = new MemoryViewStore();
  readonly credentials = new MemoryCredentialStore();

  constructor(name: string) {
    this.name = name;
  }
}

class Crash extends Error {}

/** True in what the test itself asks of the stores: no hook sees it. */
const behind = new AsyncLocalStorage<true>();

/** Two stacks, a watcher that sends to one of them, and an eye on who may write. */
class World {
  readonly clock = new VirtualClock();
  readonly old = new Side('prod.eu-west-1');
  readonly next = new Side('canary.eu-west-1');
  /** Where the watcher sends; its snapshot arrives a while after it was turned. */
  watcherAt: Side = this.old;
  controller = new AbortController();
  readonly turns: string[] = [];
  readonly woken: string[] = [];
  wakeFails = false;
  /** Dies at the `index`-th write from 0 on; before or after it took effect. */
  dieAt: { index: number; moment: 'before' | 'after' } | undefined;
  writes = 0;

  constructor() {
    for (const side of [this.old, this.next]) {
      for (const store of [side.registry, side.view]) {
        store.hooks = {
          before: (call) => {
            if (behind.getStore() !== true) this.#count(call, 'before');
          },
          after: async (call) => {
            if (behind.getStore() === true) return;
            await this.#requireOneWriter();
            this.#count(call, 'after');
          },
        };
      }
    }
  }

  #count(call: StoreCall, moment: 'before' | 'after'): void {
    if (!call.isWrite) return;
    const isDue = this.dieAt?.index === this.writes && this.dieAt.moment === moment;
    if (moment === 'after') this.writes += 1;
    if (isDue) throw new Crash(`${moment} ${call.operation} ${call.target}`);
  }

  /** What each registry holds, past the hooks. */
  registrations(): Promise<readonly (ClusterRegistration | undefined)[]> {
    return behind.run(true, () =>
      Promise.all([this.old, this.next].map(({ registry }) => registry.readCluster(ID))),
    );
  }

  async #requireOneWriter(): Promise<void> {
    const all = await this.registrations();
    const writers = all.filter((one) => one?.mode === 'takeover' && !one.isFrozen);
    assert.ok(writers.length <= 1, 'two stacks may write at once');
  }

  dependencies(): MoveDependencies {
    const { clock, old: from, next: to } = this;
    return {
      from,
      to,
      clock,
      requestTimeoutMs: 10_000,
      functionMaxMs: 30_000,
      viewTimeoutMs: 600_000,
      signal: this.controller.signal,
      turnWatcher: (side) => {
        this.turns.push(side);
        this.watcherAt = side === 'to' ? to : from;
        return Promise.resolve();
      },
      wake: (registration, side) => {
        this.woken.push(side);
        return this.wakeFails ? Promise.reject(new Error('no queue')) : Promise.resolve();
      },
    };
  }

  /** Runs with time moving, the watcher sending a snapshot where it is turned to. */
  async run(move: typeof moveCluster = moveCluster): Promise<MoveResult> {
    let isDone = false;
    const running = move(ID, this.dependencies()).finally(() => {
      isDone = true;
    });
    running.catch(() => undefined);
    while (!isDone) {
      await this.clock.advance(1000);
      await behind.run(true, () => this.#sendSnapshot());
    }
    return running;
  }

  /** As ingest would: only a registered cluster is heard, and a snapshot makes its view whole. */
  async #sendSnapshot(): Promise<void> {
    const { registry, view } = this.watcherAt;
    const registration = await registry.readCluster(ID);
    const meta = (await view.readMeta(UID)) ?? metaOf(UID);
    const isHeard = registration !== undefined && !meta.isComplete && this.isWatcherUp;
    if (isHeard) await view.writeMeta({ ...meta, isComplete: true });
  }

  isWatcherUp = true;
}

const takenOver: Partial<ClusterRegistration> = {
  mode: 'takeover',
  authentication: { kind: 'eks', clusterName: 'prod', region: 'eu-west-1' },
  takeoverProbedAtMs: 5,
  sentinel: { uid: uid('probe-1'), createdAtMs: 4 },
};

async function worldOf(changes: Partial<ClusterRegistration> = takenOver): Promise<World> {
  const world = new World();
  world.old.registry.seed({ ...registrationOf(ID), ...changes });
  await world.old.view.writeMeta({ ...metaOf(UID), isComplete: true });
  world.writes = 0;
  return world;
}

/** The same registration, but for its version. */
function sameBut(
  actual: ClusterRegistration | undefined,
  expected: Partial<ClusterRegistration>,
): void {
  const { configVersion: _version, ...rest } = actual ?? registrationOf('none');
  const { configVersion: _one, ...wanted } = { ...registrationOf(ID), ...expected };
  assert.deepEqual(rest, wanted);
}

describe('moving a cluster to another stack', () => {
  it('freezes, waits until nothing is under way, turns the watcher, and lifts its own freeze', async () => {
    const world = await worldOf();
    const startedMs = world.clock.nowMs();
    const result = await world.run();
    assert.equal(result.kind, 'moved');
    assert.ok(world.clock.nowMs() - startedMs >= 50_000, 'a function and twice a request');
    const [old, next] = await world.registrations();
    assert.equal(old, undefined);
    sameBut(next, takenOver);
    assert.deepEqual(world.turns, ['to']);
    assert.deepEqual(world.woken, ['to']);
    assert.deepEqual(await world.run(), { kind: 'already-there' });
  });

  it('leaves a freeze that was there before, and waits for nothing in mode observe', async () => {
    const frozen = await worldOf({ ...takenOver, isFrozen: true });
    await frozen.run();
    sameBut((await frozen.registrations())[1], { ...takenOver, isFrozen: true });
    const observed = await worldOf({});
    const startedMs = observed.clock.nowMs();
    await observed.run();
    assert.ok(observed.clock.nowMs() - startedMs < 30_000);
    sameBut((await observed.registrations())[1], {});
  });

  it('goes on from a crash at any write, and ends alike (never two writers)', async () => {
    for (const moment of ['before', 'after'] as const) {
      for (let index = 0; index < 40; index += 1) {
        const world = await worldOf();
        world.dieAt = { index, moment };
        const died = await world.run().catch((error: unknown) => error);
        world.dieAt = undefined;
        if (!(died instanceof Crash)) {
          assert.ok(index >= 5, `only ${String(index)} writes were tried`);
          break;
        }
        const result = await world.run();
        assert.ok(['moved', 'already-there'].includes(result.kind), `${died.message}`);
        const [old, next] = await world.registrations();
        assert.equal(old, undefined, died.message);
        sameBut(next, takenOver);
      }
    }
  });

  it('is called back from a crash at any write, until it has arrived', async () => {
    let calledBack = 0;
    for (let index = 0; index < 40; index += 1) {
      const world = await worldOf();
      world.dieAt = { index, moment: 'after' };
      const died = await world.run().catch((error: unknown) => error);
      world.dieAt = undefined;
      if (!(died instanceof Crash)) break;
      const result = await world.run(moveBack);
      const [old, next] = await world.registrations();
      if (result.kind === 'called-back') {
        calledBack += 1;
        sameBut(old, takenOver);
        assert.equal(next, undefined);
        assert.equal(world.watcherAt, world.old);
        assert.equal((await world.run()).kind, 'moved', 'and it may be moved again');
      } else {
        assert.deepEqual(result, { kind: 'refused', reason: 'arrived-already' });
        assert.equal((await world.run()).kind !== 'refused', true);
      }
    }
    assert.equal(calledBack, 2, 'after the freeze, and after it was registered');
  });

  /** The watcher never came, and calling back died after the write of this index, if it makes so many. */
  async function dieCallingBackAt(index: number): Promise<{ world: World; died: unknown }> {
    const world = await worldOf();
    world.isWatcherUp = false;
    assert.equal((await world.run()).kind, 'timed-out');
    world.isWatcherUp = true;
    world.writes = 0;
    world.dieAt = { index, moment: 'after' };
    const died = await world.run(moveBack).catch((error: unknown) => error);
    world.dieAt = undefined;
    return { world, died };
  }

  it('goes on with calling back from a crash at any write', async () => {
    for (let index = 0; index < 40; index += 1) {
      const { world, died } = await dieCallingBackAt(index);
      if (!(died instanceof Crash)) {
        assert.ok(index >= 3);
        break;
      }
      await world.run(moveBack);
      const [old, next] = await world.registrations();
      sameBut(old, takenOver);
      assert.equal(next, undefined);
    }
  });

  it('lifts its own freeze though calling it back died at any write before it went on', async () => {
    let crashes = 0;
    for (let index = 0; index < 40; index += 1) {
      const { world, died } = await dieCallingBackAt(index);
      if (!(died instanceof Crash)) break;
      crashes += 1;
      assert.equal((await world.run()).kind, 'moved', died.message);
      const [old, next] = await world.registrations();
      assert.equal(old, undefined, died.message);
      sameBut(next, takenOver);
    }
    assert.ok(crashes >= 3);
  });

  it('leaves no token in the stack that the cluster is not in, moved or called back (S11)', async () => {
    for (const [move, sideOf] of [
      [moveCluster, ({ old }: World) => old],
      [moveBack, ({ next }: World) => next],
    ] as const) {
      const world = await worldOf();
      const token = { clusterUid: UID, ciphertext: 'AAAA', issuedAtMs: 1, expiresAtMs: 2 };
      if (move === moveBack) {
        world.isWatcherUp = false;
        assert.equal((await world.run()).kind, 'timed-out');
        world.isWatcherUp = true;
      }
      const { credentials } = sideOf(world);
      for (const purpose of ['ask', 'act'] as const) {
        await credentials.writeToken(ID, purpose, token);
      }
      assert.ok(['moved', 'called-back'].includes((await world.run(move)).kind));
      assert.equal(await credentials.readToken(ID, 'ask'), undefined);
      assert.equal(await credentials.readToken(ID, 'act'), undefined);
    }
  });

  it('stays frozen in both when the watcher does not come, and says so', async () => {
    const world = await worldOf();
    world.isWatcherUp = false;
    assert.deepEqual(await world.run(), { kind: 'timed-out', waitsFor: 'view' });
    const [old, next] = await world.registrations();
    assert.ok(old?.isFrozen === true && next?.isFrozen === true);
    const before = world.clock.nowMs();
    world.isWatcherUp = true;
    assert.equal((await world.run()).kind, 'moved');
    assert.ok(world.clock.nowMs() - before < 50_000, 'what was silent is not waited for again');
  });

  it('believes only a view that was announced after the cluster was registered there', async () => {
    const world = await worldOf();
    await world.next.view.writeMeta({ ...metaOf(UID), isComplete: true });
    world.isWatcherUp = false;
    assert.deepEqual(await world.run(), { kind: 'timed-out', waitsFor: 'view' });
  });

  it('loses to whoever changes the old registration meanwhile, and begins its wait anew', async () => {
    const world = await worldOf();
    const { turnWatcher } = world.dependencies();
    const dependencies = {
      ...world.dependencies(),
      turnWatcher: async (side: 'from' | 'to', turnId: string) => {
        const [old] = await world.registrations();
        assert.ok(old !== undefined);
        world.old.registry.seed({ ...old, configVersion: old.configVersion + 1 });
        await turnWatcher(side, turnId);
      },
    };
    world.dependencies = () => dependencies;
    assert.deepEqual(await world.run(), { kind: 'lost', step: 'remove' });
    const [old, next] = await world.registrations();
    assert.ok(old?.isFrozen === true && next?.isFrozen === true);
  });

  it('waits for a token of the renewer where one is needed, under the new roles', async () => {
    const world = await worldOf({
      ...takenOver,
      authentication: { kind: 'bound-token', renewerRoleId: 'AROAOLD' },
    });
    const roles = { senderRoleId: 'AROANEWSENDER', renewerRoleId: 'AROANEWRENEWER' };
    const dependencies = { ...world.dependencies(), ...roles };
    world.dependencies = () => dependencies;
    assert.deepEqual(await world.run(), { kind: 'timed-out', waitsFor: 'token' });
    await world.next.credentials.writeToken(ID, 'act', {
      clusterUid: UID,
      ciphertext: 'AAAA',
      issuedAtMs: 1,
      expiresAtMs: 2,
    });
    assert.equal((await world.run()).kind, 'moved');
    const [, next] = await world.registrations();
    assert.equal(next?.senderRoleId, 'AROANEWSENDER');
    assert.deepEqual(next.authentication, { kind: 'bound-token', renewerRoleId: 'AROANEWRENEWER' });
  });

  it('refuses what is no move', async () => {
    const refused = (reason: string): object => ({ kind: 'refused', reason });
    const none = new World();
    assert.deepEqual(await none.run(), refused('unknown-cluster'));
    assert.deepEqual(await none.run(moveBack), refused('unknown-cluster'));
    const both = await worldOf();
    both.next.registry.seed(registrationOf(ID));
    assert.deepEqual(await both.run(), refused('registered-in-both'));
    assert.equal((await both.registrations())[0]?.isFrozen, false, 'nothing was frozen');
    assert.deepEqual(await both.run(moveBack), refused('not-moving'));
    const twin = await worldOf();
    twin.next.registry.seed({ ...registrationOf('twin'), clusterUid: UID });
    assert.deepEqual(await twin.run(), refused('uid-taken'));
    assert.deepEqual((await twin.run(moveBack)).kind, 'called-back', 'the freeze is lifted again');
    const elsewhere = await worldOf();
    elsewhere.isWatcherUp = false;
    await elsewhere.run();
    const other = { ...elsewhere.dependencies(), to: new Side('third.eu-west-1') };
    assert.deepEqual(await moveCluster(ID, other), refused('another-move'));
  });

  it('leaves at a safe point on Ctrl-C', async () => {
    const world = await worldOf();
    world.isWatcherUp = false;
    world.controller.abort();
    assert.deepEqual(await world.run(), { kind: 'interrupted' });
    world.controller = new AbortController();
    world.isWatcherUp = true;
    assert.equal((await world.run()).kind, 'moved');
  });
});
