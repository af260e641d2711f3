/**
 * `npm start`, and `rollcall start` of the installed package: outcomes become exit codes, failures become sentences.
 *
 * Errors say what happened, why, and what to do next; a bug shows its stack and asks for a report.
 */
import type { CommandModule } from '../command-line/command-module.ts';
import { explainError } from '../command-line/explain-error.ts';
import { parseStartOptions, type CalledAs, type StartOptions } from './options.ts';
import { runStart } from './start.ts';
import { defined } from '@rollcall/base/defined.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { releaseCluster } from '../../engine/release-cluster.ts';
import { EXIT, usageError } from '../process/exit-codes.ts';
import { openWorkingDirectory } from '../process/working-directory.ts';
import { openActivity } from './activity.ts';
import { loadCluster } from '../reach/open-kubeconfig.ts';
import { createScreen } from './screen.ts';

/** Runs it with the arguments after its name; resolves to the exit code. `modules`: the commands that its page may ask. */
export async function runStartProgram(
  argv: readonly string[],
  calledAs: CalledAs,
  modules: readonly CommandModule[],
): Promise<number> {
  try {
    const parsed = parseStartOptions(argv, calledAs);
    if (parsed.kind === 'done') return parsed.exitCode;
    const { options } = parsed;
    return await (options.shouldRelease ? runRelease(options) : runStart(options, modules));
  } catch (error) {
    const { lines, exitCode } = explainError(error);
    process.stderr.write(lines.map((line) => `${line}\n`).join(''));
    return exitCode;
  }
}

/** The JSON document of `npm start -- --release --json`, described in docs/reference/json.md. */
export interface ReleaseReport {
  readonly apiVersion: 'rollcall.dev/v1alpha1';
  readonly kind: 'ReleaseReport';
  readonly result: 'handed-back';
  readonly cluster: string;
  readonly clusterUid: string;
  /** False if this registry knew of no takeover. */
  readonly wasTakenOver: boolean;
  readonly waitedMs: number;
  /** DaemonSets whose condition RollcallPaused was removed. */
  readonly clearedNotices: number;
  readonly durationMs: number;
}

/** Runs `--release`; returns the exit code. Throws CommandError and EngineRefusal. */
async function runRelease(options: StartOptions): Promise<number> {
  const { choice, dataDir, isJson } = options;
  if (choice.kind !== 'kubeconfig') {
    throw usageError(
      '--release hands back the cluster of a kubeconfig; local clusters end with the process.',
      'Pass --kubeconfig FILE.',
    );
  }
  const clock = createSystemClock();
  const startedMs = clock.monotonicMs();
  const screen = createScreen(options);
  const onProgress = (text: string): void => {
    screen.say(text);
  };
  const cluster = await loadCluster(choice, 'observe');
  const working = openWorkingDirectory(dataDir, onProgress);
  const { log } = openActivity(options, clock);
  const { clusterUid, result } = await releaseCluster({
    cluster,
    ...defined({ dataDir: working.data }),
    log,
    onProgress,
  }).finally(() => {
    working.release();
  });
  const { wasTakenOver, waitedMs, clearedNotices } = result;
  if (isJson) {
    const report: ReleaseReport = {
      apiVersion: 'rollcall.dev/v1alpha1',
      kind: 'ReleaseReport',
      result: 'handed-back',
      cluster: cluster.id,
      clusterUid,
      wasTakenOver,
      waitedMs: Math.round(waitedMs),
      clearedNotices,
      durationMs: Math.round(clock.monotonicMs() - startedMs),
    };
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    return EXIT.ok;
  }
  for (const line of nextSteps(cluster.id)) screen.say(line);
  return EXIT.ok;
}

function nextSteps(cluster: string): readonly string[] {
  return [
    `${cluster} is handed back: nothing of Rollcall acts there any more, and every pod was left as it is.`,
    'Next: switch the built-in controller on, by starting kube-controller-manager without',
    '-daemonset-controller in --controllers (the default is *). It goes on with the pods that are there;',
    'their names are replaced with the next rollout.',
  ];
}
