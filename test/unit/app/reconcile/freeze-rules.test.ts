/** protocol 7, 13, S17: the freeze of the stack, and of a DaemonSet in every cluster (issue 18). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Freeze } from '../../../../src/core/may-act/freeze.ts';
import { onDelete, putPod } from '../../../support/foreign-pods.ts';
import { codeOf, ReconcileWorld } from '../../../support/reconcile-world.ts';

const NOTE = { by: 'ann', why: 'bad kernel', atMs: 1 };
const STACK = { all: NOTE, daemonSets: {} };
const AGENTS = { daemonSets: { 'system/agents': NOTE } };
const OTHER = { daemonSets: { 'system/dns': NOTE } };
const NOTHING = { daemonSets: {} };

/** Freezes at the `index`-th create. */
function freezeAtCreate(
  world: ReconcileWorld,
  index: number,
  freeze: Omit<Freeze, 'version'>,
): void {
  let seen = 0;
  world.cluster.hooks = {
    beforeEffect: (effect) => {
      if (effect.kind === 'create-pod' && (seen += 1) === index) world.freezes.seed(freeze);
      return undefined;
    },
  };
}

describe('a freeze of the stack', () => {
  for (const [title, freeze] of [
    ['of everything', STACK],
    ['of the DaemonSet by name', AGENTS],
  ] as const) {
    it(`${title} lets one batch more pass, nothing until the thaw, and the rest after it`, async () => {
      const world = new ReconcileWorld({ nodes: 100 });
      await world.mirror.sync();
      freezeAtCreate(world, 4, freeze);
      const result = await world.run();
      assert.equal(result.kind === 'deferred' && result.code, 'interrupted');
      assert.match(
        result.kind === 'deferred' ? result.message : '',
        /is frozen by ann \(bad kernel\)/,
      );
      assert.equal(world.sent('create-pod'), 7, 'batches of 1, 2 and 4');
      await world.clock.advance(5_000);
      const frozen = await world.step();
      assert.equal(frozen.kind === 'observed' && frozen.code, 'frozen');
      await world.settle();
      assert.equal(world.sent('create-pod'), 7);
      assert.equal(world.daemonSet.status?.currentNumberScheduled, 7, 'its status goes on');
      assert.equal((await world.run()).kind, 'skipped', 'frozen, and seen to be');
      world.freezes.seed(NOTHING);
      // Nobody touched the view since: the thaw alone makes it something new.
      assert.notEqual((await world.run()).kind, 'skipped');
      await world.settle();
      assert.equal(world.placed.length, 100);
    });
  }

  for (const isFrozen of [false, true]) {
    const title = isFrozen
      ? 'that comes during adoptions stops the creates after them'
      : 'that does not come lets the creates follow adoptions in the same run';
    it(title, async () => {
      const world = new ReconcileWorld({ nodes: 20, ...onDelete });
      putPod(world, { name: 'orphan', node: 'node-0001' });
      await world.mirror.sync();
      let adoptions = 0;
      world.cluster.hooks = {
        beforeEffect: (effect) => {
          if (effect.kind !== 'patch' || effect.purpose !== 'adopt') return undefined;
          adoptions += 1;
          if (isFrozen) world.freezes.seed(STACK);
          return undefined;
        },
      };
      const result = await world.run();
      assert.equal(adoptions, 1);
      assert.equal(world.sent('create-pod'), isFrozen ? 0 : 19);
      if (!isFrozen) return;
      assert.equal(result.kind === 'deferred' && result.code, 'interrupted');
      world.freezes.seed(NOTHING);
      await world.settle();
      assert.equal(world.owned.length, 20);
    });
  }

  it('of another DaemonSet changes nothing here, and voids no memo', async () => {
    const world = new ReconcileWorld({ nodes: 20 });
    await world.mirror.sync();
    freezeAtCreate(world, 4, OTHER);
    await world.settle();
    assert.equal(world.placed.length, 20);
    world.freezes.seed(NOTHING);
    assert.equal((await world.run()).kind, 'skipped');
    world.freezes.seed({ daemonSets: { 'other/agents': NOTE } });
    assert.equal((await world.run()).kind, 'skipped');
  });

  it('lets the first hundred deletes of two hundred and fifty finish (row 92)', async () => {
    const world = await ReconcileWorld.settled({ nodes: 250 });
    for (const { metadata } of world.cluster.list('nodes')) {
      world.cluster.change('nodes', { namespace: '', name: metadata.name }, (node) => ({
        ...node,
        spec: { taints: [{ key: 'gone', effect: 'NoExecute' }] },
      }));
    }
    let deletes = 0;
    world.cluster.hooks = {
      beforeEffect: (effect) => {
        if (effect.kind === 'delete-pod' && (deletes += 1) === 7) world.freezes.seed(STACK);
        return undefined;
      },
    };
    assert.equal(codeOf(await world.step()), 'interrupted');
    assert.equal(deletes, 100);
  });

  it('that cannot be read counts as one: nothing is sent, and no memo is written (protocol 13)', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    await world.mirror.sync();
    world.freezes.hooks = {
      before: () => {
        throw new Error('is no freeze');
      },
    };
    assert.equal(codeOf(await world.run()), 'registry-unreadable');
    assert.deepEqual(world.cluster.requests, []);
    assert.ok(
      !world.view.calls.some(({ isWrite, operation }) => isWrite && operation === 'writeState'),
    );
    assert.equal(world.queue.timers.length, 1);
  });

  it('that becomes unreadable stops a run at its next batch (protocol 13)', async () => {
    const world = new ReconcileWorld({ nodes: 20 });
    await world.mirror.sync();
    world.cluster.hooks = {
      beforeEffect: () => {
        world.freezes.hooks = {
          before: () => {
            throw new Error('throttled');
          },
        };
        return undefined;
      },
    };
    assert.equal(codeOf(await world.run()), 'registry-unreadable');
    assert.equal(world.sent('create-pod'), 1);
  });

  it('is told of on every node, with who and why', async () => {
    const world = await ReconcileWorld.settled({ nodes: 1 });
    world.freezes.seed(STACK);
    world.addNode('node-0002');
    await world.mirror.sync();
    const told = (await world.explain())?.find(({ node }) => node === 'node-0002');
    assert.match(told?.message ?? '', /The whole stack is frozen by ann \(bad kernel\)/);
  });

  it('only observes in copilot', async () => {
    const world = await ReconcileWorld.settled({ nodes: 1, mode: 'copilot' });
    world.freezes.seed(STACK);
    const result = await world.step();
    assert.equal(result.kind === 'observed' && result.code, 'frozen');
  });
});
