/**
 * The whole process killed at 50 seeded points while the stage churns, and started again on its data:
 * the same end state, and never two non-terminal pods of a DaemonSet on a node, as the witness sees it.
 *
 * Replay: ROLLCALL_SEED=<seed> npm run test:conformance -- test/conformance/scenarios/kills.test.ts
 */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { EXPECTED_NODES, applyExamples, uidOf } from './examples.ts';
import { expectNoDoublePlacement, expectPodsOn } from './expectations.ts';
import { churn, endChurn } from './churn.ts';
import { createSeeded, seedOfRun } from './seeded.ts';
import { describeOnBackend } from './backends.ts';
import { openBareStage, type BareStage } from './stage.ts';
import { repositoryPath } from './repository.ts';

const KILLS_COUNT = 50;
/** From just after the process began to well after it has caught up. */
const LIFE_MS = { from: 300, to: 3500 };
const CHURN_STEPS_PER_LIFE = 3;
const SEED = seedOfRun(20261122);

describeOnBackend(
  `killed at ${String(KILLS_COUNT)} points (seed ${String(SEED)})`,
  { timeout: 1_700_000 },
  (backend) => {
    const seeded = createSeeded(SEED);
    let stage: BareStage;
    let dataDir: string;
    let uids: Readonly<Record<string, string>>;
    let running: ChildProcess | undefined;

    before(async () => {
      stage = await openBareStage({ backend, name: 'scenario-kills' });
      dataDir = await mkdtemp(join(tmpdir(), 'rollcall-kills-'));
      uids = await applyExamples(stage);
    });
    after(async () => {
      running?.kill('SIGKILL');
      await (stage as BareStage | undefined)?.close();
      await rm(dataDir, { recursive: true, force: true });
    });

    it('settles first, so that takeover is entered', async () => {
      const { code, errors } = await runToEnd();
      assert.equal(code, 0, errors);
    });

    it('reaches the same end state', async (context) => {
      for (let life = 0; life < KILLS_COUNT; life += 1) {
        const lifeMs = seeded.integer(LIFE_MS);
        const what: string[] = [];
        running = start([]);
        for (let step = 0; step < CHURN_STEPS_PER_LIFE; step += 1) {
          what.push(await churn(stage, seeded));
          await delay(lifeMs / CHURN_STEPS_PER_LIFE);
        }
        const exited = once(running, 'exit');
        running.kill('SIGKILL');
        await exited;
        context.diagnostic(`life ${String(life)}: ${String(lifeMs)} ms; ${what.join('; ')}`);
      }
      await endChurn(stage);
      const { code, errors } = await runToEnd();
      assert.equal(code, 0, errors);
      for (const [name, nodes] of Object.entries(EXPECTED_NODES)) {
        await expectPodsOn(stage, uidOf(uids, name), nodes);
      }
    });

    it('never had two non-terminal pods of a DaemonSet on a node (S1)', () => {
      expectNoDoublePlacement(stage);
    });

    function start(more: readonly string[]): ChildProcess {
      const main = repositoryPath('src/cli/main.ts');
      const options = ['--kubeconfig', stage.cluster.access.kubeconfigPath, '--mode', 'takeover'];
      return spawn(process.execPath, [main, ...options, '--data', dataDir, '--json', ...more], {
        stdio: ['ignore', 'ignore', 'pipe'],
      });
    }

    async function runToEnd(): Promise<{ readonly code: number | null; readonly errors: string }> {
      const child = start(['--exit-when-settled']);
      running = child;
      const errors: Buffer[] = [];
      child.stderr?.on('data', (chunk: Buffer) => errors.push(chunk));
      const [code] = (await once(child, 'exit')) as [number | null];
      return { code, errors: Buffer.concat(errors).toString('utf8').slice(-4000) };
    }
  },
);
