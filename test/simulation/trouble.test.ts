/** What functions see of pods that do not get well, through watcher, queue and store, and what that costs in messages (issue 17). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { uid } from '../../src/core/model/identifiers.ts';
import type { PodProjection, PodTrouble } from '../../src/core/model/projections.ts';
import type { Ailment } from '../support/simulation/ailments.ts';
import { setImage } from '../support/simulation/look.ts';
import { World } from '../support/simulation/world.ts';

const NODES = ['n1', 'n2', 'n3'];
const HOUR_MS = 3_600_000;
const STRATEGY = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } };

/** A rolling update to an image that is ill; an hour later. */
async function roll(ailment: Ailment): Promise<{
  readonly ill: readonly PodProjection[];
  readonly troubles: readonly PodTrouble[];
  /** Messages of the last hour, in which nothing but the illness happened. */
  readonly messages: number;
}> {
  const world = await World.start({ nodes: NODES });
  world.addDaemonSet('agent', { spec: { updateStrategy: STRATEGY } });
  await world.settle();
  setImage(world, 'agent', `2-simulate-${ailment}`);
  await world.advance(HOUR_MS / 2);
  const before = world.queues.events.length;
  await world.advance(HOUR_MS);
  const found = world.api.find('daemonsets', 'agent', 'ns');
  const slice = await world.view.readSlice({
    clusterUid: world.api.clusterUid,
    set: `pods/${uid(found?.metadata.uid ?? '')}`,
    index: 0,
  });
  const pods = (slice?.objects ?? []).flatMap(({ object }) =>
    object.kind === 'Pod' ? [object] : [],
  );
  const ill = pods.filter(({ trouble, phase }) => trouble !== undefined || phase === 'Failed');
  const troubles = ill.flatMap(({ trouble }) => (trouble === undefined ? [] : [trouble]));
  return { ill, troubles, messages: world.queues.events.length - before };
}

describe('a rolling update to an image that', () => {
  it('cannot be pulled: one pod says so, and says nothing again', async () => {
    const { troubles } = await roll('bad-image');
    assert.deepEqual(troubles, [{ waiting: 'ImagePullBackOff', container: 'main' }]);
  });

  it('lacks its configuration: one pod says so', async () => {
    const { troubles } = await roll('config-error');
    assert.deepEqual(troubles, [{ waiting: 'CreateContainerConfigError', container: 'main' }]);
  });

  it('cannot be started: its exits say so', async () => {
    const { troubles } = await roll('start-error');
    assert.deepEqual(
      [...new Set(troubles.map(({ lastExit }) => lastExit?.reason))],
      ['StartError'],
    );
  });

  it('crashes: exits and restarts of an hour are in one view', async () => {
    const { troubles, messages } = await roll('crash-loop');
    assert.ok(troubles.every(({ lastExit }) => lastExit?.reason === 'Error'));
    assert.ok(troubles.some(({ restarts = 0 }) => restarts >= 12));
    assert.ok(messages < 200, String(messages));
  });

  it('leaks slowly: the rollout goes on over it, and each pod tells of its kills', async () => {
    const { troubles } = await roll('slow-leak');
    assert.equal(troubles.length, NODES.length);
    for (const { restarts = 0, waiting, lastExit } of troubles) {
      assert.ok(restarts >= 5);
      assert.equal(waiting, undefined);
      assert.equal(lastExit?.reason, 'OOMKilled');
    }
  });

  it('has an init container that fails: the pod stays Pending', async () => {
    const { ill } = await roll('init-fails');
    assert.deepEqual(
      ill.map(({ phase, trouble }) => [phase, trouble?.lastExit?.exitCode]),
      [['Pending', 3]],
    );
  });
});
