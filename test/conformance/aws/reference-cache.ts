/**
 * Installs the reference servers on demand, once per machine, into the cache directory.
 *
 * ElasticMQ and DynamoDB Local come by Maven into one directory, MiniStack by pip into a virtual environment; the
 * pom and the requirements file name exact versions, and their content is part of the cache key. An installation is
 * made beside its place and renamed into it, so a killed one leaves nothing half-done that would be used.
 * A tool that is missing is an error with its install line; whether that skips a suite is decided by the caller.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runTool } from '../../../scripts/lib/run-tool.ts';
import { acquireFileLock } from '../control-plane/file-lock.ts';

const here = path.dirname(fileURLToPath(import.meta.url));
const javaDirectory = path.join(here, 'java');
const requirementsFile = path.join(here, 'python', 'requirements.txt');

/** Where the Java servers are: a class path. */
export interface JavaServers {
  readonly classPath: string;
  /** Holds the native library of DynamoDB Local. */
  readonly libraryDirectory: string;
}

/** ElasticMQ and DynamoDB Local, installed if they were not. */
export async function ensureJavaServers(): Promise<JavaServers> {
  const pom = path.join(javaDirectory, 'pom.xml');
  const source = path.join(javaDirectory, 'DynamoDbLoopback.java');
  const directory = await ensureInstalled('aws-java', [pom, source], async (target) => {
    const library = path.join(target, 'lib');
    await run('mvn', [
      ...['-B', '-q', '-f', pom, 'dependency:copy-dependencies'],
      ...[`-DoutputDirectory=${library}`, '-DincludeScope=runtime'],
    ]);
    await run('javac', ['-cp', `${library}/*`, '-d', path.join(target, 'classes'), source]);
  });
  const libraryDirectory = path.join(directory, 'lib');
  const classPath = `${path.join(directory, 'classes')}${path.delimiter}${libraryDirectory}/*`;
  return { classPath, libraryDirectory };
}

/** The python of the virtual environment that has MiniStack, installed if it was not. */
export async function ensureMiniStack(): Promise<string> {
  const directory = await ensureInstalled('aws-python', [requirementsFile], async (target) => {
    await run('python3', ['-m', 'venv', target]);
    const python = path.join(target, 'bin', 'python');
    await run(python, ['-m', 'pip', 'install', '-q', '--no-deps', '-r', requirementsFile]);
  });
  // A virtual environment may be renamed as long as its own scripts, which name its first place, are not used.
  return path.join(directory, 'bin', 'python');
}

async function ensureInstalled(
  name: string,
  recipes: readonly string[],
  install: (target: string) => Promise<void>,
): Promise<string> {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}`);
  for (const recipe of recipes) hash.update(readFileSync(recipe));
  const target = path.join(cacheDirectory(), name, hash.digest('hex').slice(0, 16));
  if (existsSync(target)) return target;
  await mkdir(path.dirname(target), { recursive: true });
  const release = await acquireFileLock(`${target}.lock`);
  try {
    if (existsSync(target)) return target;
    process.stderr.write(`installing the reference servers of ${name}\n`);
    const partial = await mkdtemp(`${target}.partial-`);
    try {
      await install(partial);
      await rename(partial, target);
    } finally {
      await rm(partial, { recursive: true, force: true });
    }
    return target;
  } finally {
    await release();
  }
}

function cacheDirectory(): string {
  const base = process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache');
  return process.env['ROLLCALL_CACHE_DIR'] ?? path.join(base, 'rollcall');
}

async function run(program: string, parameters: readonly string[]): Promise<void> {
  const result = await runTool({ program, parameters, directory: here });
  if (result.exitCode === 0) return;
  const output = `${result.stdout}${result.stderr}`.slice(-2000);
  throw new Error(`${program} ended with ${String(result.exitCode)}:\n${output}`);
}
