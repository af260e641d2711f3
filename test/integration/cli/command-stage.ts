/**
 * Local tables and queues as serverless.yml declares them, and `rollcall` as a process of its own that reaches them by the
 * file of a second terminal. It is the command of a clone: a bundle, which starts in a third of the time of its sources.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { startLocalAws, type LocalAws } from '@rollcall/local-aws/deployment/local-aws.ts';
import { writeSecondTerminal } from '../../../src/cli/start/second-terminal.ts';
import { clusterUid } from '../../../src/core/model/identifiers.ts';
import { SERVERLESS_FILE, STAGE, openStores } from '../../../src/engine/engine-stores.ts';
import type { EngineStores } from '../../../src/engine/engine-stores.ts';
import { metaOf, registrationOf, sliceOf, stampAt } from '../../support/store-suite.ts';

export const ROOT = path.resolve(import.meta.dirname, '../../..');
/** The command of a clone, which builds its bundle first where a source is newer. */
export const ROLLCALL = path.join(ROOT, 'scripts/rollcall.mjs');

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandStage {
  readonly aws: LocalAws;
  readonly stores: EngineStores;
  /** Its own, with the file of a second terminal in it. */
  readonly directory: string;
  /** What a shell has that read this file. */
  readonly environment: NodeJS.ProcessEnv;
  /** Runs a command line; what is given comes in place of the command of a clone, and of variables. */
  readonly run: (
    argv: readonly string[],
    given?: { readonly entry?: string; readonly env?: NodeJS.ProcessEnv },
  ) => Promise<Ended>;
  readonly close: () => Promise<void>;
}

/** Starts tables and queues. The process gets their variables, too. */
export async function openCommandStage(): Promise<CommandStage> {
  const aws = await startLocalAws({ serverlessFile: SERVERLESS_FILE, stage: STAGE });
  Object.assign(process.env, aws.environment);
  const stores = openStores(aws);
  // A quote in the path: the shell has to read it all the same.
  const directory = await mkdtemp(path.join(tmpdir(), "rollcall-it's-"));
  const read = await readByShell(await writeSecondTerminal({ directory, aws }));
  const { NODE_COMPILE_CACHE } = process.env;
  const environment = { NODE_COMPILE_CACHE, ...read, USER: 'ann' };
  return {
    aws,
    stores,
    directory,
    environment,
    run: (argv, { entry = ROLLCALL, env = {} } = {}) =>
      endOf(process.execPath, [entry, ...argv], { ...environment, ...env }),
    close: async () => {
      stores.destroy();
      await aws.stop();
      await rm(directory, { recursive: true });
    },
  };
}

/** Runs a program to its end. */
export function endOf(
  program: string,
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(program, argv, { env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

/** Stores a cluster of five nodes that is heard of. */
export async function storeCluster(
  { stores }: CommandStage,
  id: string,
  labels: Readonly<Record<string, string>>,
): Promise<void> {
  await stores.registry.writeCluster({ ...registrationOf(id), mode: 'takeover', labels }, 0);
  const cluster = clusterUid(`uid-of-${id}`);
  const slice = { clusterUid: cluster, set: 'nodes' as const, index: 0 };
  await stores.view.writeSlice(slice, sliceOf(stampAt(1), 5), undefined);
  const meta = { ...metaOf(cluster), isComplete: true, lastSentAtMs: Date.now() };
  await stores.view.writeMeta(meta);
}

/** The manifest that docs/fleet.md shows. */
export async function exampleFleet(): Promise<string> {
  const page = await readFile(path.join(ROOT, 'docs/fleet.md'), 'utf8');
  return /```yaml\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
}

async function readByShell(file: string): Promise<NodeJS.ProcessEnv> {
  assert.match(await readFile(file, 'utf8'), /^unset AWS_PROFILE/m);
  const script = '. "$1" && exec "$2" -p "JSON.stringify(process.env)"';
  const env = { PATH: process.env['PATH'], AWS_PROFILE: 'of-nobody' };
  const argv = ['-c', script, 'sh', file, process.execPath];
  const { stdout } = await promisify(execFile)('/bin/sh', argv, { env });
  const read = JSON.parse(stdout) as NodeJS.ProcessEnv;
  assert.equal(read['AWS_PROFILE'], undefined);
  return read;
}
