/**
 * The watcher's process: reads its settings, puts adapters into the watcher, stops on a signal.
 *
 * In a cluster it needs two settings: ROLLCALL_CLUSTER (the registered name) and
 * ROLLCALL_EVENTS_QUEUE_URL. Everything else has a flag or variable of its own, see watch-settings.ts.
 * AWS credentials come from the environment, as the SDK finds them. Exit codes: 0 after a signal,
 * 2 for settings that cannot be used.
 */
import { SQSClient } from '@aws-sdk/client-sqs';
import { createWatchSource } from '../adapters/kubernetes/watch-source.ts';
import { createEventQueue, EVENT_CLIENT_RETRY } from '../adapters/sqs/event-queue.ts';
import { createConsoleLog } from '../adapters/system/console-log.ts';
import { createNullMetrics } from '../adapters/system/null-metrics.ts';
import { createSystemClock } from '../adapters/system/system-clock.ts';
import { createSystemRandom } from '../adapters/system/system-random.ts';
import { readWatchSettings } from '../adapters/kubernetes/watch-settings.ts';
import { createWatcher } from './watcher.ts';

const EXIT_USAGE = 2;

async function main(): Promise<void> {
  const clock = createSystemClock();
  const settings = readWatchSettings(process.env, process.argv.slice(2), clock);
  if (settings.kind === 'refused') {
    process.stderr.write(`rollcall-watcher: ${settings.message}\n`);
    process.exitCode = EXIT_USAGE;
    return;
  }
  const { cluster, queueUrl, sqsEndpoint, level, source: sourceOptions } = settings;
  const log = createConsoleLog({ level });
  const client = new SQSClient({
    ...EVENT_CLIENT_RETRY,
    ...(sqsEndpoint === undefined ? {} : { endpoint: sqsEndpoint }),
  });
  const source = createWatchSource(sourceOptions);
  const watcher = createWatcher({
    cluster,
    source,
    queue: createEventQueue({ client, queueUrl }),
    clock,
    random: createSystemRandom(),
    log,
    metrics: createNullMetrics(),
  });
  await watcher.start();
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        log.info('stopping', { signal });
        resolve();
      });
    }
  });
  await watcher.stop();
  source.close();
  client.destroy();
}

await main();
