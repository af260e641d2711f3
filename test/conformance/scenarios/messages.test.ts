/**
 * Messages duplicated, reordered across groups, delayed and dropped while the stage churns: the same
 * end state, and never two non-terminal pods of a DaemonSet on a node, as the witness sees it.
 *
 * Replay: ROLLCALL_SEED=<seed> npm run test:conformance -- test/conformance/scenarios/messages.test.ts
 */
import { after, before, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { EXPECTED_NODES, applyExamples, uidOf } from './examples.ts';
import { expectNoDoublePlacement, expectPodsOn } from './expectations.ts';
import { churn, endChurn } from './churn.ts';
import { createSeeded, seedOfRun } from './seeded.ts';
import { describeOnBackend } from './backends.ts';
import { openStage, type Stage } from './stage.ts';

const STEPS_COUNT = 100;
/** Some steps meet a quiet cluster, some meet one that is still busy with the last one. */
const PAUSE_MS = { from: 0, to: 500 };
const SETTLE_DEADLINE_MS = 240_000;
const SEED = seedOfRun(20261121);

describeOnBackend(
  `disturbed messages (seed ${String(SEED)})`,
  { timeout: 1_200_000 },
  (backend) => {
    const seeded = createSeeded(SEED);
    let stage: Stage;
    let uids: Readonly<Record<string, string>>;

    before(async () => {
      stage = await openStage({ backend, name: 'scenario-messages' });
      uids = await applyExamples(stage);
      for (const [name, nodes] of Object.entries(EXPECTED_NODES)) {
        await expectPodsOn(stage, uidOf(uids, name), nodes);
      }
      const { seed } = seeded;
      const faults = { seed, duplicate: 0.3, reorder: 0.3, delay: 0.3, drop: 0.05 };
      await stage.restartEngine({ faults });
    });
    after(async () => {
      await (stage as Stage | undefined)?.close();
    });

    it('lead to the same end state once the disturbance ends', async (context) => {
      for (let step = 0; step < STEPS_COUNT; step += 1) {
        const what = await churn(stage, seeded);
        context.diagnostic(`step ${String(step)}: ${what}`);
        await delay(seeded.integer(PAUSE_MS));
      }
      await endChurn(stage);
      await stage.restartEngine({ faults: undefined });
      for (const [name, nodes] of Object.entries(EXPECTED_NODES)) {
        await expectPodsOn(stage, uidOf(uids, name), { nodes, deadlineMs: SETTLE_DEADLINE_MS });
      }
    });

    it('never led to two non-terminal pods of a DaemonSet on a node (S1)', () => {
      expectNoDoublePlacement(stage);
    });
  },
);
