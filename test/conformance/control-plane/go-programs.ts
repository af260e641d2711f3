/**
 * Builds Go programs from committed modules, once per machine.
 *
 * The cache lies outside the repository and is keyed by the modules, their own sources, the Go version and the
 * recipes, so that neither a pull nor a new Go can leave stale programs behind. A build goes to a
 * directory of its own and is renamed when whole; a lock only saves work, correctness does not
 * rest on it. Downloads are Go's own business: no address is named here.
 */
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { MissingToolError, requireTool, TOOLS } from '../../support/require-tool.ts';
import { withPatience } from '../../../scripts/lib/install-cache.ts';
import { withLock } from '../../../scripts/lib/lock.mjs';

/** One Go module (a directory of go/) and the packages built from it; `output` names a single program. */
export interface Recipe {
  readonly module: string;
  readonly packages: readonly string[];
  readonly output: string;
  readonly linkerFlags: string;
}

/** Programs that are built and kept together. */
export interface GoPrograms {
  /** Directory of the cache. */
  readonly name: string;
  readonly recipes: readonly Recipe[];
  /** For people who wait: what, and how long it takes. */
  readonly description: string;
}

const GO_DIRECTORY = join(import.meta.dirname, 'go');
const VERSION_VARIABLES = 'k8s.io/component-base/version';

/** Linker flags that make a Kubernetes program say its version. */
export function versionFlags(version: string): string {
  const [major = '', minor = ''] = version.slice(1).split('.');
  return [
    '-s -w',
    `-X ${VERSION_VARIABLES}.gitVersion=${version}`,
    `-X ${VERSION_VARIABLES}.gitMajor=${major}`,
    `-X ${VERSION_VARIABLES}.gitMinor=${minor}`,
  ].join(' ');
}

/** Where this machine keeps what the project builds; ROLLCALL_CACHE_DIR overrides it. */
function cacheDirectory(environment: NodeJS.ProcessEnv = process.env): string {
  const base = environment['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  return environment['ROLLCALL_CACHE_DIR'] ?? join(base, 'rollcall');
}

/**
 * Returns the directory of the programs, building them first if they are not there. Progress goes to stderr.
 * Throws {@link MissingToolError} without a recent Go.
 */
export async function ensurePrograms(programs: GoPrograms): Promise<string> {
  const go = requireTool(TOOLS.go);
  if (go.status === 'missing') {
    throw new MissingToolError(`${go.reason}; run: ${go.installLine}`);
  }
  const key = cacheKey(programs.recipes, go.version);
  const target = join(cacheDirectory(), programs.name, key, 'bin');
  if (!existsSync(target)) {
    await withLock(`${target}.lock`, async () => {
      if (!existsSync(target)) await buildInto(target, programs);
    });
  }
  return target;
}

/** Where the sources of a package that a module of go/ builds lie. Downloads them if need be. */
export async function moduleDirectory(module: string, path: string): Promise<string> {
  const { stdout } = await promisify(execFile)(
    'go',
    ['list', '-mod=readonly', '-m', '-f', '{{.Dir}}', path],
    { cwd: join(GO_DIRECTORY, module), env: { ...process.env, GOWORK: 'off', GOFLAGS: '' } },
  );
  return stdout.trim();
}

function cacheKey(recipes: readonly Recipe[], goVersion: string): string {
  const hash = createHash('sha256');
  hash.update(JSON.stringify([goVersion, process.platform, process.arch, recipes]));
  for (const recipe of recipes) {
    for (const file of ['go.mod', 'go.sum', ...ownSources(recipe)]) {
      hash.update(readFileSync(join(GO_DIRECTORY, recipe.module, file)));
    }
  }
  return hash.digest('hex').slice(0, 16);
}

/** Go files of the module itself; most modules only name what others wrote. */
function ownSources({ module }: Recipe): readonly string[] {
  const files = readdirSync(join(GO_DIRECTORY, module));
  return files.filter((file) => file.endsWith('.go')).sort();
}

async function buildInto(target: string, { recipes, description }: GoPrograms): Promise<void> {
  const startedAtMs = Date.now();
  report(`building ${description}`);
  const workDirectory = await mkdtemp(`${target}.partial-`);
  try {
    for (const recipe of recipes) await withPatience(() => buildModule(recipe, workDirectory));
    await rename(workDirectory, target);
  } catch (error) {
    await rm(workDirectory, { recursive: true, force: true });
    // Another build, past a stale lock, may have finished first: then its result serves.
    if (!existsSync(target)) throw error;
  }
  report(`built in ${String(Math.round((Date.now() - startedAtMs) / 1000))} s`);
}

async function buildModule(recipe: Recipe, directory: string): Promise<void> {
  const startedAtMs = Date.now();
  const logPath = `${directory}.${recipe.module}.log`;
  const log = openSync(logPath, 'w');
  const child = spawn(
    'go',
    [
      ...['build', '-trimpath', '-mod=readonly', '-buildvcs=false'],
      ...['-ldflags', recipe.linkerFlags, '-o', `${directory}/${recipe.output}`],
      ...recipe.packages,
    ],
    {
      cwd: join(GO_DIRECTORY, recipe.module),
      env: { ...process.env, CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '' },
      stdio: ['ignore', log, log],
    },
  );
  closeSync(log);
  const elapsedSeconds = (): string => String(Math.round((Date.now() - startedAtMs) / 1000));
  const ticking = new AbortController();
  void reportEvery({ periodMs: 30_000, signal: ticking.signal }, () => {
    report(`still building ${recipe.module} (${elapsedSeconds()} s)`);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  }).finally(() => {
    ticking.abort();
  });
  const output = readFileSync(logPath, 'utf8');
  await rm(logPath, { force: true });
  if (code !== 0) {
    throw new Error(
      `go build of ${recipe.module} failed (${String(code)}):\n${output.slice(-4000)}`,
    );
  }
  report(`${recipe.module} built in ${elapsedSeconds()} s`);
}

async function reportEvery(
  options: { readonly periodMs: number; readonly signal: AbortSignal },
  action: () => void,
): Promise<void> {
  while (!options.signal.aborted) {
    const interrupted = await delay(options.periodMs, false, { signal: options.signal, ref: false }) //
      .catch(() => true);
    if (!interrupted) action();
  }
}

function report(line: string): void {
  process.stderr.write(`control-plane: ${line}\n`);
}
