/** Staged rollouts beside the built-in loop, on a real control plane where it is on (issue 17). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { podPath } from '../scenarios/daemon-set.ts';
import { StagedStage } from './staged-stage.ts';
import { goBack, tellStory } from './staged-story.ts';

const skip =
  (process.env['ROLLCALL_TEST_KUBECONFIG'] ?? '') === ''
    ? skipWithoutTools([TOOLS.go])
    : 'needs a control plane of its own';

describe('staged rollouts in copilot', { timeout: 1_700_000, skip }, () => {
  let stage: StagedStage;

  before(async () => {
    stage = await StagedStage.open('copilot');
  });
  after(async () => {
    await (stage as StagedStage | undefined)?.close();
  });

  tellStory('copilot', () => stage, 'with-each-change');

  it('removed, leaves a DaemonSet that works: every pod stays, and one that is deleted comes back', async () => {
    // The bad revision that came again is held, and stays the template: what the built-in loop makes would be of it.
    await goBack(stage);
    const former = stage.podUids();
    await stage.stop();
    await stage.untilStill();
    assert.deepEqual(stage.podUids(), former);
    const [victim] = [...stage.bare.observer.pods.values()].filter(({ name }) =>
      name.startsWith('agent-'),
    );
    assert.ok(victim !== undefined);
    await stage.bare.admin.delete(podPath(victim));
    await stage.until('the pod back', () => {
      const uid = stage.podUids().get(victim.node ?? '');
      return uid !== undefined && uid !== victim.uid;
    });
    await stage.untilVersion('b');
  });
});
