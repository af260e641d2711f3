/**
 * Five cells of the table of answers (test/unit/cli/answers.test.ts) on a real kube-apiserver, where functions are stopped in earnest:
 * what `rollcall rollout status` and `why` say while every pod is gone and nobody makes another.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openEngineStack, runOnEngine, type CommandRun } from '../../support/engine-commands.ts';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { expectStatuses, openFleet, type Fleet } from '../recovery/fleet.ts';
import { livePods } from '../rollouts/rolled.ts';
import { podPath } from '../scenarios/daemon-set.ts';

const NODES = 3;
const DEADLINE_MS = 420_000;
/** Where the command asks as if so much later: a run is missed by then, a turn of resync (outages.ts) not yet. */
const LATER_MS = 230_000;
const SET = ['conformance', 'default/agent-0'] as const;
const NOTE = { by: 'ann', why: 'INC-1', functions: ['reconcile', 'fleet'] };

const skip = skipWithoutTools([TOOLS.go]);

describe('answers over a real API server', { timeout: 1_200_000, skip }, () => {
  let fleet: Fleet;

  before(async () => {
    fleet = await openFleet('answers', { nodes: NODES, daemonSets: 1 });
  });
  after(async () => {
    await (fleet as Fleet | undefined)?.stage.close();
  });

  const askLater = (laterByMs: number, argv: readonly string[]): Promise<CommandRun> =>
    runOnEngine(argv, { engine: fleet.stage.engine(), environment: { USER: 'ann' }, laterByMs });
  const ask = (...argv: readonly string[]): Promise<CommandRun> => askLater(0, argv);

  /** Asks again until the first line is as it should be: the view is some seconds behind the cluster. */
  const until = (argv: readonly string[], text: RegExp, laterByMs = 0): Promise<CommandRun> =>
    pollUntil({ description: String(text), deadlineMs: DEADLINE_MS }, async () => {
      const run = await askLater(laterByMs, argv);
      return text.test(run.stdout) ? run : undefined;
    });

  async function losePods(): Promise<void> {
    const [set] = fleet.sets;
    assert.ok(set !== undefined);
    for (const pod of livePods(fleet.stage, set)) {
      await fleet.stage.admin.delete(podPath(pod));
    }
  }

  const status = ['rollout', 'status', ...SET];
  const explain = ['why', SET[1], '--cluster', SET[0]];

  it('are Done (0) while all is well', async () => {
    const run = await until(status, /: Done: every node runs the newest template\n/);
    assert.equal(run.exitCode, 0);
  });

  it('say who froze it, and that nodes wait', async () => {
    await ask('freeze', '--why', 'INC-1', '--yes');
    await losePods();
    const run = await until(
      explain,
      /^! The whole stack is frozen by ann \([^()]+\) \(INC-1\)[^]*3 Waiting/,
    );
    assert.equal(run.exitCode, 0);
    await ask('thaw', '--yes');
    await expectStatuses(fleet);
  });

  it('say who stopped it, and leave with 7', async () => {
    const engine = fleet.stage.engine();
    await engine.aws.disableMappings('reconcile');
    const stack = openEngineStack(engine);
    const { freezes, clock } = stack;
    await freezes.writeStop({ ...NOTE, atMs: clock.nowMs() });
    await losePods();
    const explained = await until(explain, /^! stopped since \S+ by ann \(INC-1\)[^]*3 Waiting/);
    assert.equal(explained.exitCode, 7);
    assert.doesNotMatch(explained.stdout, /being created/);
    const run = await ask(...status, '--watch', '--timeout', '60');
    assert.equal(run.exitCode, 7, run.stdout);
    assert.match(run.stdout, /: Stopped: as of the last run: /);
    await freezes.writeStop(undefined);
    stack.close();
  });

  it('say that no function came, where nobody noted the stop', async () => {
    const run = await until(status, /^! a look has been due since [^]*: Stopped: /, LATER_MS);
    assert.equal(run.exitCode, 7);
  });

  it('are Done (0) again once functions are called', async () => {
    fleet.stage.engine().aws.enableMappings('reconcile');
    await expectStatuses(fleet);
    const run = await until(status, /^conformance\/default\/agent-0: Done: /);
    assert.equal(run.exitCode, 0);
  });
});
