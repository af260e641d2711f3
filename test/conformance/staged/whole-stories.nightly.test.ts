/** The whole story of staged rollouts in both modes: every bad release and every way back, which each change plays in one of them. */
import { after, before, describe } from 'node:test';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { StagedStage } from './staged-stage.ts';
import { tellStory } from './staged-story.ts';

const skip =
  (process.env['ROLLCALL_TEST_KUBECONFIG'] ?? '') === ''
    ? skipWithoutTools([TOOLS.go])
    : 'needs a control plane of its own';

for (const mode of ['copilot', 'takeover'] as const) {
  describe(`staged rollouts in ${mode}, the whole story`, { timeout: 1_700_000, skip }, () => {
    let stage: StagedStage;

    before(async () => {
      stage = await StagedStage.open(mode);
    });
    after(async () => {
      await (stage as StagedStage | undefined)?.close();
    });

    tellStory(mode, () => stage, 'whole');
  });
}
