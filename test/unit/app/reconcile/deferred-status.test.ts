/** Spec 2.3 step 9: a run that waits for its own writes still tells what the view shows, and only that (S7, L5). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Marks } from '../../../../src/core/model/watcher-message.ts';
import { nodeOf } from '../../../support/simulated-cluster.ts';
import { TimedWorld } from '../../../support/timed-world.ts';

const KEY = { namespace: 'system', name: 'agents' };

/** Settled on three nodes; the pod of a fourth one was created, and the view does not show it. */
async function waiting(): Promise<{ readonly world: TimedWorld; readonly marks: Marks }> {
  const world = new TimedWorld({ nodes: 3 });
  await world.settle();
  await world.play(60_000);
  const marks = (await world.view.readMeta(world.mirror.clusterUid))?.marks;
  assert.ok(marks !== undefined);
  world.mirror.hide = (pod) => nodeOf(pod) === 'node-0004';
  world.addNode('node-0004');
  await world.mirror.sync({ marks });
  await world.look();
  world.isSilent = true;
  return { world, marks };
}

function failReadiness(world: TimedWorld, node: string): void {
  const name = world.pods.find((pod) => nodeOf(pod) === node)?.metadata.name ?? '';
  world.cluster.change('pods', { ...KEY, name }, (pod) => ({
    ...pod,
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] },
  }));
}

describe('step 9: a run that is put off for its own writes', () => {
  it('writes the counters of a view that is sound otherwise', async () => {
    const { world, marks } = await waiting();
    failReadiness(world, 'node-0001');
    await world.mirror.sync({ marks });
    const result = await world.look();
    assert.equal(result.kind === 'deferred' && result.code, 'own-writes-unseen');
    assert.equal(world.daemonSet.status?.numberReady, 2);
    assert.equal(world.daemonSet.status.desiredNumberScheduled, 4);
  });

  it('writes them once, and wakes nothing by it (L5)', async () => {
    const { world, marks } = await waiting();
    failReadiness(world, 'node-0001');
    await world.mirror.sync({ marks });
    const before = world.sent('update-status');
    for (let look = 0; look < 5; look += 1) {
      await world.look();
      await world.mirror.sync({ marks });
    }
    const { runs } = await world.play(25_000);
    assert.equal(world.sent('update-status') - before, 1);
    assert.ok(runs >= 2 && runs <= 12, `${runs} runs in 25 s`);
  });

  it('is capped as before, however many counters it writes (row 64)', async () => {
    const { world, marks } = await waiting();
    for (const node of ['node-0001', 'node-0002', 'node-0003']) {
      await world.clock.advance(9_000);
      failReadiness(world, node);
      await world.mirror.sync({ marks });
      await world.look();
    }
    await world.clock.advance(4_000);
    const reads = (): number => world.sent('GET pods');
    const before = reads();
    await world.look();
    assert.ok(reads() > before, 'what is unseen is read live');
  });

  it('observes no generation, and leaves one that is new to a run that may act (S7)', async () => {
    const { world, marks } = await waiting();
    world.edit(() => ({}));
    failReadiness(world, 'node-0001');
    await world.mirror.sync({ marks });
    const before = world.sent('update-status');
    const result = await world.look();
    if (result.kind === 'deferred') assert.equal(world.sent('update-status'), before);
  });

  it('writes nothing by a view that was not heard of lately (protocol 1)', async () => {
    const { world, marks } = await waiting();
    failReadiness(world, 'node-0001');
    const longAgoMs = world.clock.nowMs() - 3_600_000;
    const heard = {
      Node: longAgoMs,
      Pod: longAgoMs,
      DaemonSet: longAgoMs,
      ControllerRevision: longAgoMs,
    };
    await world.mirror.sync({ marks, heardAtMs: heard });
    const before = world.sent('update-status');
    await world.look();
    assert.equal(world.sent('update-status'), before);
  });
});
