/**
 * A crash before or after every write of a recorded run, then a rerun: S1–S5 hold, and the end state is
 * that of the run without a crash (spec faults 1, 5, 29; row 75).
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Crash, crashAt } from '../../../support/crash-at-write.ts';
import { ReconcileWorld } from '../../../support/reconcile-world.ts';

type Moment = 'before' | 'after';

function endState(world: ReconcileWorld): unknown {
  const { placed, pods, daemonSet } = world;
  const names = pods.map((pod) => pod.metadata.name);
  const revisions = world.cluster.list('controllerrevisions').map(({ metadata }) => metadata.name);
  return { placed, names, revisions, status: daemonSet.status };
}

async function playCrash(
  scene: (world: ReconcileWorld) => Promise<void>,
  at: { readonly index: number; readonly moment: Moment },
): Promise<{ readonly world: ReconcileWorld; readonly hasCrashed: boolean }> {
  const world = new ReconcileWorld({ nodes: 3 });
  await scene(world);
  await world.mirror.sync();
  crashAt(world, at.index, at.moment);
  let hasCrashed = false;
  await world.run().catch((cause: unknown) => {
    if (!(cause instanceof Crash)) throw cause;
    hasCrashed = true;
  });
  world.view.hooks = {};
  world.cluster.hooks = {};
  // The hint was not acknowledged: it is delivered again, with what happened meanwhile in the view.
  await world.settle();
  return { world, hasCrashed };
}

async function everyCrash(scene: (world: ReconcileWorld) => Promise<void>): Promise<number> {
  const reference = await playCrash(scene, { index: 0, moment: 'before' });
  const expected = endState(reference.world);
  let crashes = 0;
  for (const moment of ['before', 'after'] as const) {
    for (let index = 1; ; index += 1) {
      const { world, hasCrashed } = await playCrash(scene, { index, moment });
      if (!hasCrashed) break;
      crashes += 1;
      assert.deepEqual(world.cluster.violations, [], `${moment} write ${index}`);
      assert.deepEqual(endState(world), expected, `${moment} write ${index}`);
    }
  }
  return crashes;
}

describe('a crash at any write', () => {
  it('of the first run leaves the same end state (S1–S5, L1)', async () => {
    const crashes = await everyCrash(() => Promise.resolve());
    // Revision, intents, 3 pods, status, outcomes, events: each before and after.
    assert.ok(crashes >= 14, `only ${crashes} crashes`);
  });

  it('of a run that deletes a failed and an unwanted pod leaves the same end state', async () => {
    const crashes = await everyCrash(async (world) => {
      await world.settle();
      await world.clock.advance(60_000);
      const [first] = world.pods;
      assert.ok(first !== undefined);
      world.setPhase(first.metadata.name, 'Failed');
      world.addNode('node-0002', { taints: [{ key: 'gone', effect: 'NoExecute' }] });
    });
    assert.ok(crashes >= 8, `only ${crashes} crashes`);
  });

  it('of the queue makes the run reject, so that its hint comes again', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    await world.mirror.sync();
    world.queue.failNext(1);
    await assert.rejects(world.run(), /queue refuses timers/);
    await world.settle();
    assert.deepEqual(world.placed, ['node-0001']);
    assert.deepEqual(world.cluster.violations, []);
  });
});
