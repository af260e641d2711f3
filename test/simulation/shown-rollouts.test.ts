/** What `rollcall rollout status` says of a rollout's budget. */
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { uncoloured } from '../../src/cli/command-line/colour.ts';
import { renderStatus } from '../../src/cli/rollout/render-status.ts';
import { POLICY_ANNOTATION } from '../../src/core/policy/rollout-policy.ts';
import { podOn, setImage } from '../support/simulation/look.ts';
import { statusOf } from '../support/simulation/rollout-status.ts';
import { World } from '../support/simulation/world.ts';

const NODES = ['n1', 'n2', 'n3', 'n4'];
const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '100%' } };

/** DaemonSets at rest, by name with the text of their policies. */
async function resting(sets: Readonly<Record<string, string>>): Promise<World> {
  const world = await World.start({ seed: 1, nodes: NODES });
  for (const [name, policy] of Object.entries(sets)) {
    const annotations = { [POLICY_ANNOTATION]: policy };
    world.addDaemonSet(name, { annotations, spec: { updateStrategy, minReadySeconds: 0 } });
  }
  await world.settle();
  return world;
}

/** Its pod on n1 goes, and the next one does not start. */
async function stuckOnFirstNode(world: World, name: string): Promise<void> {
  const old = podOn(world, name, 'n1').metadata.uid;
  let isGone = false;
  world.api.subscribe((commit) => {
    if (commit?.type !== 'deleted' || commit.object.metadata.uid !== old) return;
    world.controllers.deadNodes.add('n1');
    isGone = true;
  });
  setImage(world, name, 'two');
  await world.clock.advanceUntil(() => isGone, { withinMs: 10 * 60_000 });
}

describe('the status of a rollout', () => {
  it('names who uses the budget, and how much of it is free', async () => {
    const policy = 'maxUnavailable: 3\ncanary: {nodes: 1}\nsoak: 1s';
    const world = await resting({ cni: policy });
    await stuckOnFirstNode(world, 'cni');
    await world.advance(5_000);
    const { budget, ...rest } = await statusOf(world, 'cni');
    assert.deepEqual(
      budget?.users.map(({ node }) => node),
      ['n1'],
    );
    assert.equal(budget.freeNodes, 2);
    const text = renderStatus({ ...rest, budget })
      .map(uncoloured)
      .join('\n');
    assert.match(text, /budget: +1 of 3 unavailable, 2 free; used by n1 \([A-Z]/);
  });
});
