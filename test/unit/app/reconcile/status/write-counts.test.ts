/** Counts are written in one request where what was seen still stands (ADR 0031, protocol 8). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resourceVersion } from '../../../../../src/core/model/identifiers.ts';
import { isPatch } from '../../../../../src/core/status/status-patch.ts';
import type { Effect, Outcome } from '../../../../../src/core/model/effects.ts';
import { codeOf, ReconcileWorld } from '../../../../support/reconcile-world.ts';

type How = 'patch' | 'put';

const howOf = (effect: Effect): How | undefined => {
  if (effect.kind !== 'update-status') return undefined;
  return isPatch(effect.body) ? 'patch' : 'put';
};

/** Two ready pods; a third node waits for nothing but a status. */
async function unreadyWorld(): Promise<{ world: ReconcileWorld; writes: How[] }> {
  const world = await ReconcileWorld.settled({ nodes: 2 });
  world.setPhase(world.pods[0]?.metadata.name ?? '', 'Pending');
  await world.mirror.sync();
  return { world, writes: recordWrites(world) };
}

function recordWrites(world: ReconcileWorld, answer?: (how: How) => Outcome | undefined): How[] {
  const writes: How[] = [];
  world.cluster.hooks = {
    beforeEffect: (effect) => {
      const how = howOf(effect);
      if (how === undefined) return undefined;
      writes.push(how);
      const outcome = answer?.(how);
      return outcome === undefined ? undefined : { kind: 'answer', outcome };
    },
  };
  return writes;
}

const FORBIDDEN: Outcome = { kind: 'refused', code: 'forbidden', status: 403, message: 'no right' };

describe('counts', () => {
  it('are one patch, and leave what others keep in the status', async () => {
    const { world, writes } = await unreadyWorld();
    const reads = world.cluster.requests.length;
    assert.equal((await world.run()).kind, 'acted');
    assert.deepEqual(writes, ['patch']);
    assert.deepEqual(world.cluster.requests.slice(reads), ['update-status agents']);
    assert.equal(world.daemonSet.status?.numberReady, 1);
  });

  it('are read and PUT where the object moved on without what they rest on', async () => {
    const { world, writes } = await unreadyWorld();
    world.change(({ metadata }) => ({
      metadata: { ...metadata, annotations: { theirs: 'kept' } },
    }));
    assert.equal((await world.run()).kind, 'acted');
    assert.deepEqual(writes, ['patch', 'put']);
    assert.equal(world.daemonSet.status?.numberReady, 1);
    assert.deepEqual(world.daemonSet.metadata.annotations, { theirs: 'kept' });
  });

  it('are PUT where patches are refused, which is not tried again for each of them', async () => {
    const { world } = await unreadyWorld();
    const writes = recordWrites(world, (how) => (how === 'patch' ? FORBIDDEN : undefined));
    assert.equal((await world.run()).kind, 'acted');
    assert.equal(world.daemonSet.status?.numberReady, 1);
    await world.mirror.sync();
    world.setPhase(world.pods[1]?.metadata.name ?? '', 'Pending');
    await world.mirror.sync();
    assert.equal((await world.run()).kind, 'acted');
    assert.deepEqual(writes, ['patch', 'put', 'put']);
    assert.equal(world.daemonSet.status?.numberReady, 0);
  });

  it('that an etcd behind what was seen took, end like a conflict (row 71)', async () => {
    const { world, writes } = await unreadyWorld();
    await world.mirror.sync({ marks: { DaemonSet: resourceVersion('99999') } });
    assert.equal(codeOf(await world.run()), 'status-conflict');
    assert.deepEqual(writes, ['patch']);
  });

  it('that were sent and not answered for leave the run incomplete', async () => {
    const { world } = await unreadyWorld();
    const lost: Outcome = { kind: 'ambiguous', message: 'connection lost' };
    const writes = recordWrites(world, () => lost);
    assert.equal(codeOf(await world.run()), 'cluster-unavailable');
    assert.deepEqual(writes, ['patch']);
  });
});
