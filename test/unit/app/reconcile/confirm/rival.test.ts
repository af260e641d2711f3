/** Whoever else writes a status in takeover pauses that DaemonSet; in copilot that is the built-in controller at its work. */
import { describe, it } from 'node:test';
import { clusterId, uid } from '../../../../../src/core/model/identifiers.ts';
import type { ClusterMode } from '../../../../../src/core/model/registration.ts';
import { noteForeignStatusWrite } from '../../../../../src/app/reconcile/confirm/rival.ts';
import { ReconcileWorld } from '../../../../support/reconcile-world.ts';

import assert from 'node:assert/strict';

async function seenIn(mode: ClusterMode): Promise<boolean> {
  const world = new ReconcileWorld();
  const sentinel = { uid: uid('sentinel'), createdAtMs: 0 };
  world.register({ mode, sentinel });
  const registration = await world.registry.readCluster(clusterId('a'));
  const fieldsV1 = { 'f:status': { 'f:numberReady': {} } };
  const written = { operation: 'Update', subresource: 'status', fieldsV1 } as const;
  const time = new Date(world.clock.nowMs()).toISOString();
  const managedFields = [{ ...written, manager: 'kube-controller-manager', time }];
  const object = { ...world.daemonSet, metadata: { ...world.daemonSet.metadata, managedFields } };
  const context = { hint: world.hint, dependencies: world.dependencies, note: {} };
  const run = { context, input: { stored: { registration } }, access: world.cluster };
  const paused = await noteForeignStatusWrite({ object }, run as never); // as a run has them
  assert.equal(world.metrics.sum('ConflictSuspected') > 0, paused !== undefined);
  assert.equal(world.metrics.sum('ConflictingControllers'), 0);
  return paused !== undefined;
}

describe('another writer of a status', () => {
  it('is suspected in takeover', async () => {
    assert.equal(await seenIn('takeover'), true);
  });

  it('is not in copilot', async () => {
    assert.equal(await seenIn('copilot'), false);
  });
});
