/** Staged rollouts in place of the built-in loop, on a real control plane where it is off (issue 17): the story of copilot. */
import { after, before, describe } from 'node:test';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { StagedStage } from './staged-stage.ts';
import { tellStory } from './staged-story.ts';

const skip =
  (process.env['ROLLCALL_TEST_KUBECONFIG'] ?? '') === ''
    ? skipWithoutTools([TOOLS.go])
    : 'needs a control plane of its own';

describe('staged rollouts in takeover', { timeout: 1_700_000, skip }, () => {
  let stage: StagedStage;

  before(async () => {
    stage = await StagedStage.open('takeover');
  });
  after(async () => {
    await (stage as StagedStage | undefined)?.close();
  });

  tellStory('takeover', () => stage, 'with-each-change');
});
