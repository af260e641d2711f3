/**
 * A local cluster in a thread of its own, so that the engine and the clusters do not wait for each other's turn.
 *
 * The engine speaks to it over TLS as to any cluster; only settings go in, and an address, tokens and log lines come
 * out. A thread that dies is reported by `onFailure`, not restarted: its cluster was in memory.
 */
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Log } from '@rollcall/base/ports/log.ts';
import type { LocalCluster, LocalClusterSettings } from './local-cluster.ts';
import type { ThreadMessage } from './cluster-thread-entry.ts';

/** Settings, and where its log lines go. */
export interface ThreadOptions {
  readonly settings: LocalClusterSettings;
  readonly log: Log;
  /** The thread ended by itself: a bug, or no memory was left. */
  readonly onFailure: (error: Error) => void;
}

/** The entry lies beside this module: `.ts` unbuilt, `.mjs` beside a bundle. */
const EXTENSION = path.extname(import.meta.url);

/** Starts a local cluster in its own thread. Rejects when it cannot start, e.g. because the port is taken. */
export function startClusterThread(options: ThreadOptions): Promise<LocalCluster> {
  const { settings, log, onFailure } = options;
  const worker = new Worker(new URL(`./cluster-thread-entry${EXTENSION}`, import.meta.url), {
    workerData: settings,
  });
  return new Promise((resolve, reject) => {
    let isStopping = false;
    const exited = new Promise<void>((resolveExit) => {
      worker.once('exit', () => {
        resolveExit();
      });
    });
    const fail = (error: Error): void => {
      reject(error);
      if (!isStopping) onFailure(error);
    };
    worker.once('error', (error: unknown) => {
      fail(error instanceof Error ? error : new Error(String(error)));
    });
    worker.once('exit', () => {
      if (!isStopping) fail(new Error(`the thread of local cluster ${settings.name} ended`));
    });
    const stop = async (): Promise<void> => {
      isStopping = true;
      worker.postMessage('stop');
      await exited;
    };
    worker.on('message', (message: ThreadMessage) => {
      if (message.kind === 'started') resolve({ ...message.cluster, stop });
      else if (message.kind === 'refused') {
        isStopping = true;
        reject(new Error(message.message));
      } else log[message.level](message.message, { cluster: settings.name, ...message.fields });
    });
  });
}
