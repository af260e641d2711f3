/**
 * Programs that are installed on demand, once per machine, into the cache directory.
 *
 * An installation is made beside its place and renamed into it, so a killed one leaves nothing half-done that would
 * be used. The recipe files (with exact versions) are part of the cache key: another version is another place. A tool
 * that is missing is an error; whether that skips a suite is decided by the caller.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { withLock } from './lock.mjs';
import { repositoryRoot, runTool } from './run-tool.ts';

/** What to install. */
export interface Installation {
  /** Name of its directory in the cache. */
  readonly name: string;
  /** Files that say which versions: their content is part of the cache key. */
  readonly recipes: readonly string[];
  /** Installs into an empty directory that will be renamed. */
  readonly install: (target: string) => Promise<void>;
}

/** Its directory, installed if it was not. Rejects when the installation fails. */
export async function ensureInstalled(installation: Installation): Promise<string> {
  const { name, recipes, install } = installation;
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}`);
  for (const recipe of recipes) hash.update(readFileSync(recipe));
  const target = path.join(cacheDirectory(), name, hash.digest('hex').slice(0, 16));
  if (existsSync(target)) return target;
  await withLock(`${target}.lock`, async () => {
    if (existsSync(target)) return;
    process.stderr.write(`installing ${name}\n`);
    const partial = await mkdtemp(`${target}.partial-`);
    try {
      await install(partial);
      await rename(partial, target);
    } finally {
      await rm(partial, { recursive: true, force: true });
    }
  });
  return target;
}

const DOWNLOAD_ATTEMPTS_MAX = 3;
const DOWNLOAD_PAUSE_MS = 10_000;
const WORDS_CHARACTERS_MAX = 500;

/** Runs a step that downloads: a registry that hiccups once is asked again, two times. */
export async function runDownloader(program: string, parameters: readonly string[]): Promise<void> {
  await withPatience(() => runInstaller(program, parameters));
}

/** Repeats a download that fails, two times, with a pause before each. Rejects with the last failure. */
export async function withPatience<Result>(download: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await download();
    } catch (error) {
      if (attempt === DOWNLOAD_ATTEMPTS_MAX) throw error;
      const words = error instanceof Error ? error.message.slice(-WORDS_CHARACTERS_MAX) : '';
      process.stderr.write(`a download failed and is tried again: ${words}\n`);
      await delay(DOWNLOAD_PAUSE_MS);
    }
  }
}

/** Runs a step of an installation. Rejects with its last words when it fails. */
export async function runInstaller(program: string, parameters: readonly string[]): Promise<void> {
  const result = await runTool({ program, parameters, directory: repositoryRoot });
  if (result.exitCode === 0) return;
  const output = `${result.stdout}${result.stderr}`.slice(-2000);
  throw new Error(`${program} ended with ${String(result.exitCode)}:\n${output}`);
}

function cacheDirectory(): string {
  const base = process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache');
  return process.env['ROLLCALL_CACHE_DIR'] ?? path.join(base, 'rollcall');
}
