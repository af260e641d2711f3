/**
 * Row 71 for history: an etcd that was restored gives generations out again, and nobody may have noticed it. The
 * watcher that would have is killed, and the new history is past the marks of the lost one before its word arrives.
 * Here the era never changes, so only the template tells one generation from its namesake.
 */
import { isEdited } from '../../../../src/app/reconcile/confirm/live-daemon-set.ts';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { daemonSet } from '../../../support/core-fixtures.ts';
import { codeOf, ReconcileWorld } from '../../../support/reconcile-world.ts';

/** The new history gets past every version that the lost one gave out. */
function overtake(world: ReconcileWorld, lostVersion: string): void {
  while (Number(world.cluster.version) <= Number(lostVersion)) world.addNode('node-0001');
}

const imagesOf = (world: ReconcileWorld): readonly unknown[] =>
  world.pods.map((pod) => {
    const spec = pod['spec'] as { readonly containers: readonly { readonly image: unknown }[] };
    return spec.containers[0]?.image;
  });
const revisionsOf = (world: ReconcileWorld): number =>
  world.cluster.list('controllerrevisions').length;

describe('row 71: a generation that was given out twice', () => {
  it('gets no revision of the template that is lost', async () => {
    const world = await ReconcileWorld.settled({ nodes: 2 });
    const backup = world.cluster.backup();
    world.setImage('example/agent:lost');
    await world.mirror.sync();
    const lostVersion = world.cluster.version;
    world.cluster.restore(backup);
    world.setImage('example/agent:2');
    const before = revisionsOf(world);
    assert.equal(codeOf(await world.run()), 'daemon-set-changed');
    assert.equal(revisionsOf(world), before);
    overtake(world, lostVersion);
    await world.settle();
    assert.deepEqual(imagesOf(world), ['example/agent:2', 'example/agent:2']);
  });

  it('gets the revision of its own template, although another one was current at it', async () => {
    const world = await ReconcileWorld.settled({ nodes: 2 });
    const backup = world.cluster.backup();
    world.edit(() => ({ minReadySeconds: 1 }));
    await world.settle();
    const lostVersion = world.cluster.version;
    world.cluster.restore(backup);
    world.setImage('example/agent:2');
    overtake(world, lostVersion);
    await world.settle();
    assert.deepEqual(imagesOf(world), ['example/agent:2', 'example/agent:2']);
  });

  it('counts as edited; a field that one API server alone fills in does not', () => {
    const of = (container: object): DaemonSetObject =>
      daemonSet({ podSpec: { containers: [{ name: 'main', image: 'agent:1', ...container }] } });
    assert.equal(isEdited(of({ image: 'agent:2' }), of({})), true);
    assert.equal(isEdited(of({ newlyDefaulted: 'Yes' }), of({})), false);
    assert.equal(isEdited(of({}), of({ newlyDefaulted: 'Yes' })), false);
    assert.equal(isEdited(of({}), daemonSet({ metadata: { generation: 2 } })), true);
  });
});
