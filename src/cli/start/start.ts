/**
 * Runs the engine for a person: live table, latest activity, Ctrl-C, `--exit-when-settled`, `--json`.
 *
 * stdout holds the table, or with `--json` exactly one document and nothing else; progress and log
 * lines go to stderr. Leaving waits for what was begun, so that nothing is left half-done.
 */
import { isDeepStrictEqual } from 'node:util';
import { createSystemClock } from '../../adapters/system/system-clock.ts';
import type { Clock } from '../../ports/clock.ts';
import { startEngine } from '../../local/engine.ts';
import type { Engine } from '../../local/engine.ts';
import type { ClusterOverview } from '../../local/overview.ts';
import { EXIT } from '../exit-codes.ts';
import { createActivity } from './activity.ts';
import type { Activity } from './activity.ts';
import { loadCluster } from './load-cluster.ts';
import type { StartOptions } from './options.ts';
import { buildReport } from './report.ts';
import type { StartReport } from './report.ts';
import { createScreen } from './screen.ts';
import type { Screen } from './screen.ts';
import { judgeSettled } from './settled.ts';
import { renderTable } from './table.ts';

const REFRESH_MS = 500;
const ACTIVITY_LINES_MAX = 8;

/** Runs until settled, timed out or interrupted; returns the exit code. */
export async function runStart(options: StartOptions): Promise<number> {
  const clock = createSystemClock();
  const cluster = await loadCluster(options);
  const screen = createScreen(options.isJson ? process.stderr : process.stdout);
  const activity = createActivity({
    linesMax: ACTIVITY_LINES_MAX,
    nowText: () => new Date(clock.nowMs()).toISOString().slice(11, 19),
    ...(options.isVerbose
      ? {
          onLine: (line: string): void => {
            process.stderr.write(`${line}\n`);
          },
        }
      : {}),
  });
  const interrupted = listenForInterrupt(screen);
  const engine = await startEngine({
    clusters: [cluster],
    ...(options.dataDir === undefined ? {} : { dataDir: options.dataDir }),
    log: activity.log,
    metrics: { count: () => undefined, record: () => undefined },
    onProgress: (text) => {
      screen.say(text);
    },
  });
  const startedAtMs = clock.monotonicMs();
  const end = await watch({ options, engine, screen, activity, clock, signal: interrupted.signal });
  await engine.stop();
  interrupted.dispose();
  if (options.isJson) {
    const durationMs = Math.round(clock.monotonicMs() - startedAtMs);
    process.stdout.write(`${JSON.stringify(buildReport({ ...end, durationMs }), null, 2)}\n`);
  }
  return end.result === 'timed-out' ? EXIT.timedOut : EXIT.ok;
}

interface Watching {
  readonly options: StartOptions;
  readonly engine: Engine;
  readonly screen: Screen;
  readonly activity: Activity;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

type End = Pick<StartReport, 'result' | 'clusters'> & { readonly waitingFor?: string };

/** Redraws until there is a reason to leave. */
async function watch(watching: Watching): Promise<End> {
  const { options, engine, screen, activity, clock, signal } = watching;
  const startedAtMs = clock.monotonicMs();
  let changedAtMs = startedAtMs;
  let last: readonly ClusterOverview[] = [];
  for (;;) {
    const clusters = await engine.overview();
    if (!isDeepStrictEqual(clusters, last)) {
      last = clusters;
      changedAtMs = clock.monotonicMs();
    }
    screen.show([...clusters.flatMap((one) => renderTable(one)), ...activity.recent()]);
    if (signal.aborted) return { result: 'interrupted', clusters };
    if (options.shouldExitWhenSettled) {
      const quietMs = clock.monotonicMs() - changedAtMs;
      const waitingFor = whatIsAwaited(clusters, quietMs);
      if (waitingFor === undefined) return { result: 'settled', clusters };
      if (clock.monotonicMs() - startedAtMs > options.settleTimeoutMs) {
        screen.say(`not settled in time; still waiting for ${waitingFor}`);
        return { result: 'timed-out', waitingFor, clusters };
      }
    }
    await clock.sleep(REFRESH_MS, signal);
  }
}

function whatIsAwaited(clusters: readonly ClusterOverview[], quietMs: number): string | undefined {
  for (const cluster of clusters) {
    const settled = judgeSettled(cluster, quietMs);
    if (settled.kind === 'busy') return `${cluster.cluster}: ${settled.waitingFor}`;
  }
  return undefined;
}

/** The first Ctrl-C leaves in order; the second one at once. */
function listenForInterrupt(screen: Screen): {
  readonly signal: AbortSignal;
  readonly dispose: () => void;
} {
  const controller = new AbortController();
  const onSignal = (): void => {
    if (controller.signal.aborted) process.exit(EXIT.failed);
    screen.say('leaving: finishing what was begun (Ctrl-C again to leave at once)');
    controller.abort();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return {
    signal: controller.signal,
    dispose: () => {
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
    },
  };
}
