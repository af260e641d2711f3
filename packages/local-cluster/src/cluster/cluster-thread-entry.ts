/**
 * The entry of a local cluster's thread: system clock and randomness in, messages out.
 *
 * Debug lines stay here unless the settings ask for them: thousands of pods write a dozen each.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import type { Log, LogFields } from '@rollcall/base/ports/log.ts';
import type { LocalCluster, LocalClusterSettings } from './local-cluster.ts';
import { startLocalCluster } from './start-local-cluster.ts';

type Level = 'debug' | 'info' | 'warn' | 'error';

/** What the thread tells its parent. */
export type ThreadMessage =
  | { readonly kind: 'started'; readonly cluster: Omit<LocalCluster, 'stop'> }
  | { readonly kind: 'refused'; readonly message: string }
  | {
      readonly kind: 'log';
      readonly level: Level;
      readonly message: string;
      readonly fields: LogFields;
    };

function tell(message: ThreadMessage): void {
  parentPort?.postMessage(message);
}

function createThreadLog(fixed: LogFields, logLevel: 'debug' | 'info'): Log {
  const line =
    (level: Level) =>
    (message: string, fields?: LogFields, cause?: unknown): void => {
      const causeText = cause instanceof Error ? (cause.stack ?? cause.message) : undefined;
      tell({
        kind: 'log',
        level,
        message,
        fields: { ...fixed, ...fields, ...(causeText === undefined ? {} : { cause: causeText }) },
      });
    };
  return {
    debug: logLevel === 'debug' ? line('debug') : () => undefined,
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    with: (fields) => createThreadLog({ ...fixed, ...fields }, logLevel),
  };
}

async function main(settings: LocalClusterSettings): Promise<void> {
  try {
    const { stop, ...cluster } = await startLocalCluster({
      ...settings,
      clock: createSystemClock(),
      random: createSystemRandom(),
      log: createThreadLog({}, settings.logLevel ?? 'info'),
    });
    parentPort?.once('message', () => {
      void stop().finally(() => {
        parentPort?.close();
      });
    });
    tell({ kind: 'started', cluster });
  } catch (error) {
    tell({ kind: 'refused', message: error instanceof Error ? error.message : String(error) });
    parentPort?.close();
  }
}

await main(workerData as LocalClusterSettings);
