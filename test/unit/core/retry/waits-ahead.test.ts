/** Row 14: what a clock that was ahead wrote into a state makes nobody wait by as much as clocks differ. */
import { describe, it } from 'node:test';
import type { NodeName } from '../../../../src/core/model/identifiers.ts';
import { emptyState, type DaemonSetState } from '../../../../src/core/model/state.ts';
import { withoutWaitsAhead } from '../../../../src/core/retry/retry.ts';
import { ReconcileWorld } from '../../../support/reconcile-world.ts';

import assert from 'node:assert/strict';

const AHEAD_MS = 900_000;

describe('a wait that a clock ahead recorded (row 14, L1)', () => {
  it('is over: the namespace is back, and pods are made at once', async () => {
    const world = new ReconcileWorld({ nodes: 2 });
    const outcome = {
      kind: 'refused',
      code: 'namespace-terminating',
      status: 403,
      message: 'no',
    } as const;
    world.cluster.hooks = {
      beforeEffect: (effect) =>
        effect.kind === 'create-revision' ? { kind: 'answer', outcome } : undefined,
    };
    world.clock.stepWall(AHEAD_MS);
    const first = await world.step();
    assert.equal(first.kind === 'deferred' && first.code, 'namespace-terminating');
    world.cluster.hooks = {};
    world.clock.stepWall(-AHEAD_MS);
    for (let run = 0; run < 4; run += 1) {
      await world.clock.advance(5_000);
      await world.step();
    }
    assert.deepEqual(world.placed, ['node-0001', 'node-0002']);
  });

  it('ends no wait that is as long as it was to be, whatever its jitter', () => {
    const nowMs = 1_000_000;
    const wait = { delayMs: 2_000, notBeforeMs: nowMs + 2_400 };
    const node = 'n1' as NodeName;
    const state: DaemonSetState = {
      ...emptyState(nowMs),
      retry: { ...wait, code: 'history', holdsCreates: false },
      refusals: [{ ...wait, node, generation: 1, code: 'forbidden', message: 'no' }],
      refusedWrites: [{ ...wait, code: 'status-refused', holdsCreates: false }],
      look: { code: 'own-writes-unseen', delayMs: 2_000, atMs: nowMs + 2_000 },
      backoff: [{ node, generation: 1, delayMs: 2_000, advancedAtMs: nowMs }],
      deferredSinceMs: nowMs + 1_000,
    };
    assert.deepEqual(withoutWaitsAhead(state, nowMs), state);
    const ended = withoutWaitsAhead(state, nowMs - AHEAD_MS);
    const over = nowMs - AHEAD_MS;
    assert.deepEqual(
      [ended.retry, ended.refusals?.[0], ended.refusedWrites?.[0]].map((one) => one?.notBeforeMs),
      [over, over, over],
    );
    assert.equal(ended.look, undefined);
    assert.equal(ended.backoff[0]?.advancedAtMs, over - 2_000);
    assert.equal(ended.deferredSinceMs, undefined);
    assert.equal(ended.retry?.delayMs, 2_000, 'what is refused again waits longer than before');
  });

  it('is no reason to skip: a memo of the future is not believed (protocol 11)', async () => {
    const world = await ReconcileWorld.settled({ nodes: 1 });
    assert.equal((await world.run()).kind, 'skipped');
    world.clock.stepWall(-30_000);
    assert.equal((await world.run()).kind, 'skipped', 'clocks may differ by a little');
    world.clock.stepWall(-AHEAD_MS);
    assert.notEqual((await world.run()).kind, 'skipped');
    assert.equal((await world.run()).kind, 'skipped', 'its own memo is');
  });
});
