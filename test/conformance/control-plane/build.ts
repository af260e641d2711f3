/**
 * Builds the control plane's programs from the committed Go modules, once per machine.
 *
 * The cache lies outside the repository and is keyed by the modules, the Go version and this
 * recipe, so that neither a pull nor a new Go can leave stale programs behind. A build goes to a
 * directory of its own and is renamed when whole; a lock only saves work, correctness does not
 * rest on it. Downloads are Go's own business: no address is named here.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MissingToolError, requireTool, TOOLS } from '../../support/require-tool.ts';
import { acquireFileLock } from './file-lock.ts';

/** The Kubernetes release that the suites run against. */
const KUBERNETES_VERSION = 'v1.36.3';

/** Paths of the programs that were built. */
export interface Binaries {
  readonly directory: string;
  readonly etcd: string;
  readonly kubeApiserver: string;
  readonly kubeControllerManager: string;
  readonly kubeScheduler: string;
  readonly kubectl: string;
  readonly kwok: string;
}

const GO_DIRECTORY = join(import.meta.dirname, 'go');
const VERSION_VARIABLES = 'k8s.io/component-base/version';
const [MAJOR, MINOR] = KUBERNETES_VERSION.slice(1).split('.');

/** One Go module and the packages built from it; `output` names a single program. */
interface Recipe {
  readonly module: string;
  readonly packages: readonly string[];
  readonly output: string;
  readonly linkerFlags: string;
}

const RECIPES: readonly Recipe[] = [
  {
    module: 'etcd',
    packages: ['go.etcd.io/etcd/server/v3'],
    output: 'etcd',
    linkerFlags: '-s -w',
  },
  {
    module: 'kubernetes',
    packages: [
      'k8s.io/kubernetes/cmd/kube-apiserver',
      'k8s.io/kubernetes/cmd/kube-controller-manager',
      'k8s.io/kubernetes/cmd/kube-scheduler',
      'k8s.io/kubernetes/cmd/kubectl',
    ],
    output: '',
    linkerFlags: [
      '-s -w',
      `-X ${VERSION_VARIABLES}.gitVersion=${KUBERNETES_VERSION}`,
      `-X ${VERSION_VARIABLES}.gitMajor=${MAJOR ?? ''}`,
      `-X ${VERSION_VARIABLES}.gitMinor=${MINOR ?? ''}`,
    ].join(' '),
  },
  {
    module: 'kwok',
    packages: ['sigs.k8s.io/kwok/cmd/kwok'],
    output: 'kwok',
    linkerFlags: '-s -w',
  },
];

/** Where this machine keeps what the project builds; ROLLCALL_CACHE_DIR overrides it. */
function cacheDirectory(environment: NodeJS.ProcessEnv = process.env): string {
  const base = environment['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  return environment['ROLLCALL_CACHE_DIR'] ?? join(base, 'rollcall');
}

/**
 * Returns the programs, building them first if they are not there: about eight minutes on two
 * cores from empty caches, under a minute with Go's own cache warm. Progress goes to stderr.
 * Throws {@link MissingToolError} without a recent Go.
 */
export async function ensureBinaries(): Promise<Binaries> {
  const go = requireTool(TOOLS.go);
  if (go.status === 'missing') {
    throw new MissingToolError(`${go.reason}; run: ${go.installLine}`);
  }
  const target = join(cacheDirectory(), 'control-plane', cacheKey(go.version), 'bin');
  if (!existsSync(target)) {
    await mkdir(dirname(target), { recursive: true });
    const release = await acquireFileLock(`${target}.lock`);
    try {
      if (!existsSync(target)) await buildInto(target);
    } finally {
      await release();
    }
  }
  return binariesIn(target);
}

function binariesIn(directory: string): Binaries {
  return {
    directory,
    etcd: join(directory, 'etcd'),
    kubeApiserver: join(directory, 'kube-apiserver'),
    kubeControllerManager: join(directory, 'kube-controller-manager'),
    kubeScheduler: join(directory, 'kube-scheduler'),
    kubectl: join(directory, 'kubectl'),
    kwok: join(directory, 'kwok'),
  };
}

function cacheKey(goVersion: string): string {
  const hash = createHash('sha256');
  hash.update(JSON.stringify([goVersion, process.platform, process.arch, RECIPES]));
  for (const recipe of RECIPES) {
    for (const file of ['go.mod', 'go.sum']) {
      hash.update(readFileSync(join(GO_DIRECTORY, recipe.module, file)));
    }
  }
  return hash.digest('hex').slice(0, 16);
}

async function buildInto(target: string): Promise<void> {
  const startedAtMs = Date.now();
  report(`building Kubernetes ${KUBERNETES_VERSION}, etcd and kwok (about 8 minutes if cold)`);
  const workDirectory = await mkdtemp(`${target}.partial-`);
  try {
    for (const recipe of RECIPES) await buildModule(recipe, workDirectory);
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

if (import.meta.main) {
  const binaries = await ensureBinaries();
  process.stdout.write(`${binaries.directory}\n`);
}
