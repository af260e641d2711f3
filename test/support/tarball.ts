/**
 * A package as its users get it: packed, and installed into an empty folder without a network.
 *
 * Its commands run by npx under the Node that runs the test. Programs are stopped by their own process id.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { repositoryRoot, runTool } from '../../scripts/lib/run-tool.ts';

const START_WITHIN_MS = 60_000;
const END_WITHIN_MS = 20_000;

/** An empty folder with the package in it. */
export interface Installed {
  readonly directory: string;
  /** Runs a command of the package to its end. */
  readonly run: (
    ...command: readonly string[]
  ) => Promise<{ readonly exitCode: number | null; readonly output: string }>;
  /** Runs a command of the package from the tarball itself, which npx installs in a cache of its own. */
  readonly runPacked: (
    ...command: readonly string[]
  ) => Promise<{ readonly exitCode: number | null; readonly output: string }>;
  /** Starts one that stays; resolves once its output matches. */
  readonly start: (command: readonly string[], ready: RegExp) => Promise<RunningCommand>;
  readonly remove: () => void;
}

export interface RunningCommand {
  /** What the pattern found. */
  readonly found: RegExpExecArray;
  /** Ends it as Ctrl-C does; resolves to its exit code. */
  readonly stop: () => Promise<number | null>;
}

/** This process's, with this Node first. Read anew each time: a test may have set where AWS is. */
function environment(): NodeJS.ProcessEnv {
  const PATH = [path.dirname(process.execPath), process.env['PATH'] ?? ''].join(path.delimiter);
  return { ...process.env, PATH };
}

/** Builds by a script of scripts/build into a folder, packs the part that is asked for, and installs it. */
export async function installPacked(script: string, part: string): Promise<Installed> {
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-tarball-'));
  const built = path.join(directory, 'built');
  await succeed(process.execPath, [`scripts/build/${script}`, built], repositoryRoot);
  const packed = await succeed('npm', ['pack', '--json', path.join(built, part)], directory);
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }]; // npm's own output
  writeFileSync(path.join(directory, 'package.json'), '{"private":true}\n');
  const flags = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund'];
  await succeed('npm', ['install', ...flags, `./${filename}`], directory);
  rmSync(built, { recursive: true });
  return {
    directory,
    run: (...command) => finished(spawnNpx(directory, ['--no-install', ...command])),
    runPacked: async (...given) => {
      // Not within the other: npx would find what is installed there.
      const empty = mkdtempSync(path.join(tmpdir(), 'rollcall-npx-'));
      const command = ['--yes', '--package', path.join(directory, filename), ...given];
      const outcome = await finished(spawnNpx(empty, command));
      rmSync(empty, { recursive: true });
      return outcome;
    },
    start: (command, ready) => started(directory, command, ready),
    remove: () => {
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function succeed(
  program: string,
  parameters: readonly string[],
  directory: string,
): Promise<string> {
  const { exitCode, stdout, stderr } = await runTool({ program, parameters, directory });
  if (exitCode !== 0) throw new Error(`${program} ${parameters.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

function spawnNpx(directory: string, command: readonly string[]): ChildProcess {
  return spawn('npx', ['--offline', ...command], {
    cwd: directory,
    env: { ...environment(), npm_config_cache: path.join(directory, 'cache') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function finished(
  child: ChildProcess,
): Promise<{ readonly exitCode: number | null; readonly output: string }> {
  const chunks: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => chunks.push(chunk));
  const exitCode = await new Promise<number | null>((resolve) => {
    child.once('close', resolve);
  });
  return { exitCode, output: Buffer.concat(chunks).toString() };
}

/** Started by its file, not by npx, whose own process would hear the signal first. */
async function started(
  directory: string,
  [name = '', ...parameters]: readonly string[],
  ready: RegExp,
): Promise<RunningCommand> {
  const program = path.join(directory, 'node_modules/.bin', name);
  const child = spawn(program, parameters, {
    cwd: directory,
    env: environment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', resolve);
  });
  let output = '';
  const found = await new Promise<RegExpExecArray>((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`${name} was not ready: ${output}`));
    }, START_WITHIN_MS);
    const hear = (chunk: Buffer): void => {
      output += chunk.toString();
      const match = ready.exec(output);
      if (match === null) return;
      clearTimeout(timer);
      resolve(match);
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    void ended.then((code) => {
      clearTimeout(timer);
      reject(new Error(`${name} ended with ${String(code)}: ${output}`));
    });
  });
  return {
    found,
    stop: async () => {
      child.kill('SIGINT');
      const timer = setTimeout(() => child.kill('SIGKILL'), END_WITHIN_MS);
      const code = await ended;
      clearTimeout(timer);
      return code;
    },
  };
}
