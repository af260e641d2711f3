/**
 * `npm start` as a process, with what a second terminal does beside it: commands, the page by `rollcall ui`, and its clusters as
 * kubectl has them. Each process is ended by its own id.
 */
import assert from 'node:assert/strict';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { AppsV1Api, KubeConfig, PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const MAIN = path.join(ROOT, 'src/cli/main.ts');
/** With two clusters on a busy machine; a quiet one needs ten seconds. */
const START_BOUND_MS = 180_000;
const STOP_BOUND_MS = 60_000;
const COMMAND_BOUND_MS = 60_000;

/** How a command ended. */
export interface EndedCommand {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A DaemonSet of one of its clusters. */
export interface DaemonSetPlace {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
}

/** A page that is served, by its own process or by `npm start`. */
export interface ServedPage {
  /** With its token, as it was printed. */
  readonly address: string;
  readonly origin: string;
  readonly token: string;
}

/** It runs. */
export interface RunningStart {
  /** Runs `rollcall` as in a second terminal. */
  readonly rollcall: (...words: readonly string[]) => Promise<EndedCommand>;
  /** The page that it serves itself. */
  readonly page: ServedPage;
  /** Serves the page by `rollcall ui`, as in a second terminal, until all of it ends. */
  readonly serve: () => Promise<ServedPage>;
  /** A strategic merge patch, as kubectl sends it. */
  readonly patch: (place: DaemonSetPlace, body: object) => Promise<void>;
  /** Takes its power: nothing of it is finished. What serves the page goes on. */
  readonly kill: () => Promise<void>;
  /** Ends all of it. */
  readonly stop: () => Promise<void>;
}

/** Starts it; rejects with what it printed where it leaves, or is not there in time. */
export async function launchStart(...options: readonly string[]): Promise<RunningStart> {
  const child = start(process.execPath, [MAIN, ...options]);
  const children = [child];
  const stop = async (): Promise<void> => {
    for (const one of children.toReversed()) await end(one, 'SIGTERM');
  };
  try {
    const [environmentFile, page] = await Promise.all([
      printed(child, /\. (\S+rollcall\.env)\n/),
      servedBy(child),
    ]);
    return {
      page,
      rollcall: (...words) => runRollcall(environmentFile, words),
      serve: () => {
        const ui = start('/bin/sh', shellOf(environmentFile, ['ui', '--port', '0']));
        children.push(ui);
        return servedBy(ui);
      },
      patch: (place, body) => patchDaemonSet(environmentFile, place, body),
      kill: () => end(child, 'SIGKILL'),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function start(program: string, parameters: readonly string[]): ChildProcess {
  return spawn(program, parameters, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
}

async function servedBy(child: ChildProcess): Promise<ServedPage> {
  const address = await printed(child, /(http:\/\/127\.0\.0\.1:\d+\/#token=\S+)\s/);
  const { origin, hash } = new URL(address);
  return { address, origin, token: new URLSearchParams(hash.slice(1)).get('token') ?? '' };
}

/** Resolves to the first group of what a process prints; rejects with all of it where it ends before, or in time. */
async function printed(child: ChildProcess, pattern: RegExp): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      text += chunk.toString('utf8');
      const [, found] = pattern.exec(text) ?? [];
      if (found !== undefined) resolve(found);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('exit', (code) => {
      reject(new Error(`it left with ${String(code)}:\n${text}`));
    });
    AbortSignal.timeout(START_BOUND_MS).addEventListener('abort', () => {
      reject(new Error(`it does not print ${String(pattern)} in time:\n${text}`));
    });
  });
}

function shellOf(file: string, words: readonly string[]): readonly string[] {
  return ['-c', '. "$0" && exec rollcall "$@"', file, ...words];
}

function runRollcall(file: string, words: readonly string[]): Promise<EndedCommand> {
  return new Promise((resolve) => {
    const bound = { timeout: COMMAND_BOUND_MS };
    execFile('/bin/sh', shellOf(file, words), bound, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr });
    });
  });
}

async function patchDaemonSet(
  environmentFile: string,
  { cluster, namespace, name }: DaemonSetPlace,
  body: object,
): Promise<void> {
  const [, kubeconfig] =
    /^export KUBECONFIG='(.*)'$/m.exec(readFileSync(environmentFile, 'utf8')) ?? [];
  assert.ok(kubeconfig !== undefined, 'it has no kubeconfig');
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  config.setCurrentContext(cluster);
  const apps = config.makeApiClient(AppsV1Api);
  const strategic = setHeaderOptions('Content-Type', PatchStrategy.StrategicMergePatch);
  await apps.patchNamespacedDaemonSet({ namespace, name, body }, strategic);
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  AbortSignal.timeout(STOP_BOUND_MS).addEventListener('abort', () => child.kill('SIGKILL'));
  await ended;
}
