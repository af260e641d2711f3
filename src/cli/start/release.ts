/**
 * Hands a cluster back for a person: progress while it waits, then what to do next.
 *
 * With `--json` stdout holds one document and nothing else; progress goes to stderr. Refusals and
 * failures are thrown, and main.ts says them.
 */
import { defined } from '@rollcall/base/defined.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { releaseCluster } from '../../engine/release-cluster.ts';
import { EXIT, usageError } from '../process/exit-codes.ts';
import { openWorkingDirectory } from '../process/working-directory.ts';
import { openActivity } from './activity.ts';
import { loadCluster } from '../reach/open-kubeconfig.ts';
import type { StartOptions } from './options.ts';
import { createScreen } from './screen.ts';

/** The JSON document of `npm start -- --release --json`, described in docs/reference.md. */
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
export async function runRelease(options: StartOptions): Promise<number> {
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
