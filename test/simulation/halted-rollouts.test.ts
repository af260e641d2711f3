/** A rollout in stages meets each failure: it is halted on its canary by what the watcher told, and touches nothing else (issue 17). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { uid } from '../../src/core/model/identifiers.ts';
import type { BreachCause } from '../../src/core/model/rollout-record.ts';
import { POLICY_ANNOTATION } from '../../src/core/policy/rollout-policy.ts';
import type { Ailment } from '../support/simulation/ailments.ts';
import { imageOf, podsOf, setImage } from '../support/simulation/look.ts';
import { World } from '../support/simulation/world.ts';

const NODES = Array.from({ length: 8 }, (_, index) => `n${String(index + 1)}`);
const CANARIES = 2;
const POLICY = `{canary: {nodes: ${String(CANARIES)}}, maxUnavailable: 2, soak: 15m}`;

/** A rolling update to an image that is ill; the breach, if there is one within the time. */
async function roll(ailment: Ailment, withinMs: number) {
  const world = await World.start({ nodes: NODES });
  const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } };
  world.addDaemonSet('agent', { spec: { updateStrategy } });
  world.api.change('daemonsets', { namespace: 'ns', name: 'agent' }, (object) => ({
    ...object,
    metadata: { ...object.metadata, annotations: { [POLICY_ANNOTATION]: POLICY } },
  }));
  await world.settle();
  setImage(world, 'agent', `2-simulate-${ailment}`);
  await world.advance(withinMs);
  const found = world.api.find('daemonsets', 'agent', 'ns');
  const ref = { clusterUid: world.api.clusterUid, uid: uid(found?.metadata.uid ?? '') };
  const state = await world.view.readState(ref);
  const ill = podsOf(world, 'agent').filter((pod) => imageOf(pod).includes('simulate'));
  return { breach: state?.rollout?.breach, illCount: ill.length };
}

describe('S16: a rollout in stages is halted', () => {
  const MINUTE_MS = 60_000;
  const rows: readonly (readonly [Ailment, BreachCause, number])[] = [
    ['config-error', 'StartFailure', MINUTE_MS],
    ['start-error', 'StartFailure', 2 * MINUTE_MS],
    ['init-fails', 'StartFailure', 2 * MINUTE_MS],
    ['crash-loop', 'Restarts', 2 * MINUTE_MS],
    ['slow-leak', 'OOMKilled', 14 * MINUTE_MS],
    ['flap', 'Flapping', 5 * MINUTE_MS],
  ];

  it('by bad-image although nothing comes while its pod waits', async () => {
    const { breach, illCount } = await roll('bad-image', MINUTE_MS);
    assert.equal(breach?.cause, 'StartFailure');
    assert.ok(illCount <= CANARIES);
  });

  for (const [ailment, cause, withinMs] of rows) {
    it(`by ${ailment}, within ${String(withinMs / MINUTE_MS)} min, as ${cause}`, async () => {
      const { breach, illCount } = await roll(ailment, withinMs);
      assert.equal(breach?.cause, cause);
      assert.ok(illCount <= CANARIES, `${String(illCount)} nodes were touched`);
    });
  }
});
