/**
 * The program of the watcher's image: its first argument says what it does; without one it watches.
 *
 *   (none, or flags)    watches one cluster until a signal
 *   renew-credential    sends one sealed token of the functions (renew-main.ts)
 *
 * In a cluster watching needs two settings: ROLLCALL_CLUSTER (the registered name) and
 * ROLLCALL_EVENTS_QUEUE_URL. Everything else has a flag or variable of its own, see watch-settings.ts.
 * AWS credentials come from the environment, as the SDK finds them. Exit codes: 0 after a signal,
 * 1 if the address of the probes cannot be bound, 2 for settings that cannot be used. After a signal the Lease is given back, so that a replica need not wait.
 */
import { SQSClient } from '@aws-sdk/client-sqs';
import { CALL_LIMITS, createAwsClient } from '../adapters/aws/create-client.ts';
import { ApiWatchSource } from '../adapters/kubernetes/watch/watch-source.ts';
import { readWatchSettings } from '../adapters/kubernetes/settings/watch-settings.ts';
import type {
  ProbeAddress,
  WatchSettings,
} from '../adapters/kubernetes/settings/watch-settings.ts';
import { createEventQueue } from '../adapters/sqs/event-queue.ts';
import { createConsoleLog, createRedactor, safeText } from '../adapters/system/logs.ts';
import { openHttpEndpoint, plain } from '../adapters/system/http-endpoint.ts';
import type { HttpEndpoint, HttpText } from '../adapters/system/http-endpoint.ts';
import {
  createPrometheusMetrics,
  processReadings,
  PROMETHEUS_CONTENT_TYPE,
} from '../adapters/system/prometheus-metrics.ts';
import type { PrometheusMetrics } from '../adapters/system/prometheus-metrics.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { defined } from '@rollcall/base/defined.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import { judgeHealth, type Health } from './process/health.ts';
import { observeQueue, observeSource, Vitals } from './process/vitals.ts';
import { DEFAULT_WATCHER_OPTIONS } from './session/options.ts';
import { watcherReadings } from './process/readings.ts';
import { createWatcher, type Watcher } from './session/watcher.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
/** Of what an API server said, in a probe's answer. */
const PROBLEM_LENGTH_MAX = 300;

type Settings = Extract<WatchSettings, { readonly kind: 'settings' }>;

/** Programs by first argument. Each gets what follows it. */
const PROGRAMS: Readonly<Record<string, (commandLine: readonly string[]) => Promise<void>>> = {
  watch: runWatch,
  // Loaded when it is asked for: a watcher carries nothing of it.
  'renew-credential': async (rest) => (await import('./renew-main.ts')).runRenewal(rest),
};

async function main(commandLine: readonly string[]): Promise<void> {
  const [first, ...rest] = commandLine;
  if (first === undefined || first.startsWith('-')) return runWatch(commandLine);
  const program = Object.hasOwn(PROGRAMS, first) ? PROGRAMS[first] : undefined;
  if (program === undefined) return refuse(`unknown argument ${JSON.stringify(first)}`);
  return program(rest);
}

function refuse(message: string): void {
  process.stderr.write(`rollcall-watcher: ${message}\n`);
  process.exitCode = EXIT_USAGE;
}

async function runWatch(commandLine: readonly string[]): Promise<void> {
  const clock = createSystemClock();
  const settings = readWatchSettings(process.env, commandLine, clock);
  if (settings.kind === 'refused') {
    refuse(settings.message);
    return;
  }
  const log = createConsoleLog({ level: settings.level });
  const parts = composeWatcher({ settings, clock, log });
  const probes = await openProbes(parts, settings.probeAddress).catch((cause: unknown) => {
    log.error('probes and metrics cannot be served', { port: settings.probeAddress?.port }, cause);
    return 'failed' as const;
  });
  if (probes === 'failed') {
    process.exitCode = EXIT_FAILED;
    parts.close();
    return;
  }
  if (probes !== undefined) log.info('serves probes and metrics', { port: probes.port });
  await parts.watcher.start();
  const signal = await untilSignal();
  log.info('stopping', { signal });
  await parts.watcher.retire();
  await probes?.close();
  parts.close();
}

interface Parts {
  readonly watcher: Watcher;
  readonly vitals: Vitals;
  readonly metrics: PrometheusMetrics;
  readonly clock: Clock;
  readonly close: () => void;
}

function composeWatcher(on: {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
}): Parts {
  const { settings, clock, log } = on;
  const { cluster, queueUrl, sqsEndpoint, leaseStart: start, installation } = settings;
  const client = createAwsClient(
    SQSClient,
    CALL_LIMITS.watcher,
    sqsEndpoint === undefined ? {} : { endpoint: sqsEndpoint },
  );
  const source = new ApiWatchSource(settings.apiServer);
  const metrics = createPrometheusMetrics();
  const vitals = new Vitals(clock);
  const watcher = createWatcher({
    cluster,
    source: observeSource(source, vitals),
    queue: observeQueue(createEventQueue({ client, queueUrl }), vitals),
    clock,
    random: createSystemRandom(),
    log,
    metrics,
    options: {
      lease: { ...DEFAULT_WATCHER_OPTIONS.lease, start, ...defined({ installation }) },
    },
  });
  const close = (): void => {
    source.close();
    client.destroy();
  };
  return { watcher, vitals, metrics, clock, close };
}

/** Probes and metrics, where an address for them was given: in a pod. */
async function openProbes(
  { watcher, vitals, metrics, clock }: Parts,
  address: ProbeAddress | undefined,
): Promise<HttpEndpoint | undefined> {
  if (address === undefined) return undefined;
  const look = (): { nowMs: number; health: Health } => {
    const nowMs = clock.monotonicMs();
    return {
      nowMs,
      health: judgeHealth({ signs: vitals.signs(), status: watcher.status() }, nowMs),
    };
  };
  return openHttpEndpoint({
    ...address,
    answers: {
      '/livez': () => probeText(look().health.notLive),
      '/readyz': () => probeText(look().health.notReady),
      '/metrics': () => {
        const { nowMs, health } = look();
        const status = watcher.status();
        const readings = watcherReadings({ signs: vitals.signs(), status, health }, nowMs);
        const text = metrics.render([...readings, ...processReadings()]);
        return { status: 200, contentType: PROMETHEUS_CONTENT_TYPE, text };
      },
    },
  });
}

/** Any client on the node's network may read it: no credential passes, no control character, not much text. */
function probeText(problems: readonly string[]): HttpText {
  if (problems.length === 0) return plain(200, 'ok\n');
  const redactor = createRedactor();
  const lines = problems.map((problem) =>
    safeText(problem, redactor)
      .replaceAll(/\p{Cc}+/gu, ' ')
      .slice(0, PROBLEM_LENGTH_MAX),
  );
  return plain(503, `${lines.join('\n')}\n`);
}

function untilSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        resolve(signal);
      });
    }
  });
}

await main(process.argv.slice(2));
