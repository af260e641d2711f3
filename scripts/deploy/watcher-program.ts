/**
 * A cluster's watcher as a plain process: the bundle that the image holds, under the shipped rights.
 *
 * Its environment holds what a pod's would, and nothing of the caller's: settings, files with certificate and token,
 * and made-up AWS credentials for the emulator. Logs go to a file.
 */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createComponent, type Component } from '../lib/component.ts';
import type { Reaper } from '../lib/reaper.ts';
import { REGION } from './aws-environment.ts';

/** What it watches, and where it sends. */
export interface WatcherProgramOptions {
  /** dist/watcher/watcher.mjs. */
  readonly file: string;
  readonly cluster: string;
  readonly server: string;
  readonly caPem: string;
  /** Token of the service account rollcall-watcher. */
  readonly token: string;
  readonly eventsQueueUrl: string;
  readonly endpoint: string;
  /** For its files and its log. */
  readonly directory: string;
  readonly reaper: Reaper;
}

const OWNER_ONLY = 0o600;

/** Starts it. */
export async function startWatcherProgram(options: WatcherProgramOptions): Promise<Component> {
  const { cluster, directory, endpoint, reaper } = options;
  const caFile = path.join(directory, `${cluster}-ca.pem`);
  const tokenFile = path.join(directory, `${cluster}-watcher-token`);
  await writeFile(caFile, options.caPem);
  await writeFile(tokenFile, options.token, { mode: OWNER_ONLY });
  const component = createComponent({
    name: `watcher of ${cluster}`,
    logPath: path.join(directory, `${cluster}-watcher.log`),
    reaper,
    commandLine: () => [
      ...(['env', '-i'] as const),
      `ROLLCALL_CLUSTER=${cluster}`,
      `ROLLCALL_EVENTS_QUEUE_URL=${options.eventsQueueUrl}`,
      `ROLLCALL_SQS_ENDPOINT=${endpoint}`,
      `ROLLCALL_API_SERVER=${options.server}`,
      `ROLLCALL_CA_FILE=${caFile}`,
      `ROLLCALL_TOKEN_FILE=${tokenFile}`,
      `AWS_REGION=${REGION}`,
      ...['AWS_ACCESS_KEY_ID=test', 'AWS_SECRET_ACCESS_KEY=test'],
      ...[process.execPath, options.file],
    ],
  });
  component.start();
  return component;
}
