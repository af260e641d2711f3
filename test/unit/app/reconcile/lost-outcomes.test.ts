/**
 * protocol 4: outcomes whose write lost against another are merged into what is stored, before the run ends.
 *
 * Another writer comes in between the intents and the outcomes of a run; the write after that is held.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { uid } from '../../../../src/core/model/identifiers.ts';
import type { DaemonSetState } from '../../../../src/core/model/state.ts';
import { ReconcileWorld } from '../../../support/reconcile-world.ts';
import { settle } from '@rollcall/base/testing/virtual-clock.ts';

/** A world in which the write of outcomes is lost, and the one that merges them waits to be let go. */
async function heldWorld(): Promise<{
  readonly world: ReconcileWorld;
  readonly stored: () => Promise<DaemonSetState | undefined>;
  /** Resolves when the merging write is at hand. */
  readonly held: Promise<void>;
  readonly letGo: () => void;
}> {
  const world = new ReconcileWorld({ nodes: 2 });
  await world.mirror.sync();
  const ref = { clusterUid: world.registration.clusterUid, uid: uid(world.daemonSet.metadata.uid) };
  const arrived = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  let writes = 0;
  world.view.hooks.before = async ({ operation }) => {
    if (operation !== 'writeState') return;
    writes += 1;
    if (writes === 2) {
      // Between the intents and their outcomes; this write is counted as well.
      const state = await world.view.readState(ref);
      assert.ok(state !== undefined, 'the intents are recorded');
      assert.equal(await world.view.writeState(ref, { ...state, dueAtMs: 1 }), 'written');
    }
    if (writes !== 4) return;
    arrived.resolve();
    await released.promise;
  };
  return {
    world,
    stored: () => world.view.readState(ref),
    held: arrived.promise,
    letGo: released.resolve,
  };
}

/** UIDs that the API server answered for each intent. */
function answered(state: DaemonSetState | undefined): readonly unknown[] {
  const intents = state?.intents ?? [];
  return intents.map((intent) => (intent.kind === 'create' ? intent.answer?.uid : undefined));
}

describe('protocol 4: outcomes whose write was lost', () => {
  it('are merged into the stored state before the run ends', async () => {
    const { world, stored, held, letGo } = await heldWorld();
    let isOver = false;
    const run = world.run().finally(() => (isOver = true));
    await Promise.race([held, run]);
    // Every promise reaction that is not behind the held write runs.
    await settle();
    assert.equal(isOver, false, 'the run ended before its outcomes were written');
    assert.deepEqual(answered(await stored()), [undefined, undefined]);
    letGo();
    await run;
    const state = await stored();
    assert.deepEqual(
      answered(state),
      world.pods.map(({ metadata }) => metadata.uid),
    );
    assert.equal(state?.dueAtMs, 1, 'what the other writer wrote stays');
    assert.equal(state?.memo, undefined, 'a memo of a lost write is forgotten');
  });

  it('give back the intents of the run to a state that was lost meanwhile (row 34)', async () => {
    const world = new ReconcileWorld({ nodes: 2 });
    await world.mirror.sync();
    let writes = 0;
    world.view.hooks.before = ({ operation }) => {
      if (operation === 'writeState' && (writes += 1) === 2) world.view.lose('STATE');
    };
    await world.run();
    const ref = {
      clusterUid: world.registration.clusterUid,
      uid: uid(world.daemonSet.metadata.uid),
    };
    assert.deepEqual(
      answered(await world.view.readState(ref)),
      world.pods.map(({ metadata }) => metadata.uid),
    );
  });
});
