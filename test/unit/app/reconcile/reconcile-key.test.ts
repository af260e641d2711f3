/** One reconcile from hint to pods: the plain path, and silence afterwards. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ReconcileWorld } from '../../../support/reconcile-world.ts';

describe('reconcileKey', () => {
  it('creates one pod per eligible node, then falls silent (S1, L1)', async () => {
    const world = await ReconcileWorld.settled({ nodes: 5 });
    assert.deepEqual(
      world.placed,
      world.cluster.list('nodes').map((node) => node.metadata.name),
    );
    assert.deepEqual(world.cluster.violations, []);
    const { status } = world.daemonSet;
    assert.equal(status?.desiredNumberScheduled, 5);
    assert.equal(status?.numberReady, 5);
    assert.equal(status?.observedGeneration, 1);
    const requests = world.cluster.requests.length;
    const writes = world.view.calls.filter(({ operation }) => operation === 'writeState').length;
    assert.equal((await world.run()).kind, 'skipped');
    assert.equal(world.cluster.requests.length, requests);
    assert.equal(
      world.view.calls.filter(({ operation }) => operation === 'writeState').length,
      writes,
    );
  });
});
