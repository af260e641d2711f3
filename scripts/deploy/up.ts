/**
 * `npm run deploy:local`: brings everything up, says what runs where, and stays until it is told to leave.
 *
 * Leaves when everything is settled (if asked to), when time is up, on a signal, or when something that was started
 * died; whatever the reason, what was started is stopped.
 */
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { EXIT } from '../../src/cli/process/exit-codes.ts';
import { listenForInterrupt } from '../../src/cli/process/listen-for-interrupt.ts';
import { openActivity } from '../../src/cli/start/activity.ts';
import { writeEnvironment } from '../../src/cli/start/second-terminal.ts';
import { awsEnvironment, STAGE } from './aws-environment.ts';
import { startLocalDeployment, type LocalDeployment } from './local-deployment.ts';
import type { DeployOptions } from './options.ts';
import { buildLocalDeploymentReport, describeLocalDeployment } from './report.ts';
import type { LocalDeploymentReport } from './report.ts';
import { isDeepStrictEqual } from 'node:util';
import { judgeSettled } from '../../src/cli/start/table.ts';
import type { Stack } from '../../src/cli/reach/stack.ts';
import type { ClusterId } from '../../src/core/model/identifiers.ts';
import { Overviews, type ClusterOverview } from '../../src/engine/overview.ts';

const LOOK_MS = 500;

/** Runs until settled, timed out or interrupted; returns the exit code. */
export async function runUp(options: DeployOptions): Promise<number> {
  const interrupted = listenForInterrupt(EXIT.failed, () => {
    process.stderr.write('leaving (Ctrl-C again to leave at once)\n');
  });
  let failure: Error | undefined;
  const say = (text: string): void => {
    process.stderr.write(`${text}\n`);
  };
  const running = await startLocalDeployment({
    endpoint: options.endpoint,
    nodeCount: options.nodeCount,
    environment: process.env,
    log: openActivity({ isVerbose: false }, createSystemClock()).log,
    say,
    onFailure: (error) => {
      failure = error;
      interrupted.abort();
    },
  });
  try {
    const lines = describeLocalDeployment(running, await writeSecondTerminal(running));
    (options.isJson ? process.stderr : process.stdout).write(`${lines.join('\n')}\n`);
    const end = await stay({ options, running, signal: interrupted.signal, say });
    if (failure !== undefined) throw failure;
    if (options.isJson) {
      const report = buildLocalDeploymentReport(running, end);
      process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    }
    return end.result === 'timed-out' ? EXIT.timedOut : EXIT.ok;
  } finally {
    say('stopping what was started here …');
    await running.stop();
    interrupted.dispose();
  }
}

function writeSecondTerminal({ directory, managed, emulator }: LocalDeployment): Promise<string> {
  const made = Object.entries(awsEnvironment(emulator.endpoint, {}));
  return writeEnvironment(directory, {
    KUBECONFIG: managed.kubeconfigPath,
    ROLLCALL_STAGE: STAGE,
    ...Object.fromEntries(made.map(([name, value = '']) => [name, value])),
  });
}

type End = Pick<LocalDeploymentReport, 'result' | 'waitingFor' | 'cluster'>;

interface Staying {
  readonly options: DeployOptions;
  readonly running: LocalDeployment;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
}

/** Stays until there is a reason to leave; says once when everything is settled. */
async function stay({ options, running, signal, say }: Staying): Promise<End> {
  const clock = createSystemClock();
  const settlement = createSettlement(running.stack, running.managed.cluster.id);
  const startedAtMs = clock.monotonicMs();
  let wasSaid = '';
  for (;;) {
    running.managed.watcher.assertRunning();
    const progress = await settlement.look();
    const known = progress === undefined ? {} : { cluster: progress.overview };
    if (signal.aborted) return { result: 'interrupted', ...known };
    const waitingFor = progress === undefined ? 'the registration' : progress.waitingFor;
    const text = waitingFor === undefined ? 'settled' : `waiting for ${waitingFor}`;
    if (text !== wasSaid) say(text);
    wasSaid = text;
    if (options.shouldExitWhenSettled) {
      if (waitingFor === undefined) return { result: 'settled', ...known };
      if (clock.monotonicMs() - startedAtMs > options.settleTimeoutMs) {
        return { result: 'timed-out', waitingFor, ...known };
      }
    }
    await clock.sleep(LOOK_MS, signal);
  }
}

/** What is known of a cluster at one moment. */
interface Progress {
  readonly overview: ClusterOverview;
  /** What is still waited for; undefined when settled. */
  readonly waitingFor?: string;
}

/** Looks at a cluster again and again; remembers since when nothing moves. */
function createSettlement(
  stack: Stack,
  cluster: ClusterId,
): { readonly look: () => Promise<Progress | undefined> } {
  const overviews = new Overviews({ ...stack, clock: createSystemClock() });
  let last: ClusterOverview | undefined;
  let changedAtMs = performance.now();
  return {
    look: async () => {
      const overview = await overviews.read(cluster);
      if (overview === undefined) return undefined;
      if (!isDeepStrictEqual(overview, last)) changedAtMs = performance.now();
      last = overview;
      const settled = judgeSettled(overview, performance.now() - changedAtMs);
      return settled.kind === 'settled'
        ? { overview }
        : { overview, waitingFor: settled.waitingFor };
    },
  };
}
