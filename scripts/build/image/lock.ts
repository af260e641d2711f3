/**
 * The lock of the image: which package of which registry, in which version, with which digest.
 *
 * Packages come by the registries' own clients, npm and apt: which mirror answers is their configuration, and the digest
 * makes it irrelevant. Debian keeps a version until its next point release; ROLLCALL_DEBIAN_MIRROR names an archive that
 * keeps it for good, or any mirror where this machine is no Debian.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as v from 'valibot';
import packageJson from '../../../package.json' with { type: 'json' };
import { ensureInstalled, runDownloader, runInstaller } from '../../lib/install-cache.ts';
import { repositoryRoot, runTool } from '../../lib/run-tool.ts';
import { ARCHITECTURES, PLATFORMS, type Architecture } from './platforms.ts';

const textSchema = v.pipe(v.string(), v.minLength(1));
const lockedSchema = v.variant('registry', [
  v.strictObject({
    registry: v.literal('npm'),
    name: textSchema,
    version: textSchema,
    digest: v.pipe(v.string(), v.regex(/^sha512:[0-9a-f]{128}$/)),
  }),
  v.strictObject({
    registry: v.literal('debian'),
    name: textSchema,
    version: textSchema,
    digest: v.pipe(v.string(), v.regex(/^sha256:[0-9a-f]{64}$/)),
    /** In the archive: `pool/…`. */
    path: v.pipe(v.string(), v.startsWith('pool/'), v.endsWith('.deb')),
  }),
]);
const packagesSchema = v.array(lockedSchema);
const lockSchema = v.strictObject({ amd64: packagesSchema, arm64: packagesSchema });

/** One package. */
export type Locked = v.InferOutput<typeof lockedSchema>;

/** Those of each architecture. */
export type ImageLock = Readonly<Record<Architecture, readonly Locked[]>>;

/** Where it stands. */
export const LOCK_FILE = path.join(import.meta.dirname, 'packages.lock.json');
const APT_HELPER = '/usr/lib/apt/apt-helper';

/** Reads it. Throws where it has another form. */
export async function readLock(): Promise<ImageLock> {
  return v.parse(lockSchema, JSON.parse(await readFile(LOCK_FILE, 'utf8')));
}

/** The name of a package's file in the folder that {@link fetchPackages} gives. */
export function fileOf(locked: Locked): string {
  return locked.registry === 'npm'
    ? `${locked.name}-${locked.version}.tgz`
    : path.basename(locked.path);
}

/** Throws unless a file is the one that is locked. */
export async function verify(file: string, { name, version, digest }: Locked): Promise<void> {
  const [algorithm = '', expected] = digest.split(':');
  const found = createHash(algorithm)
    .update(await readFile(file))
    .digest('hex');
  if (found === expected) return;
  throw new Error(`${name} ${version} is not the locked one: ${algorithm}:${found}, not ${digest}`);
}

/** A folder with all packages of the lock, downloaded once per machine. */
export async function fetchPackages(lock: ImageLock): Promise<string> {
  return ensureInstalled({
    name: 'image-packages',
    recipes: [LOCK_FILE],
    install: async (target) => {
      const mirrors = await debianMirrors();
      for (const locked of ARCHITECTURES.flatMap((architecture) => lock[architecture])) {
        const file = path.join(target, fileOf(locked));
        if (locked.registry === 'npm') await fetchFromNpm(locked, target);
        else await fetchFromDebian(locked.path, file, mirrors);
        await verify(file, locked);
      }
    },
  });
}

async function fetchFromNpm({ name, version }: Locked, target: string): Promise<void> {
  const parameters = ['pack', '--silent', '--pack-destination', target, `${name}@${version}`];
  await runDownloader('npm', parameters);
}

async function fetchFromDebian(
  from: string,
  to: string,
  mirrors: readonly string[],
): Promise<void> {
  const failures: unknown[] = [];
  for (const mirror of mirrors) {
    try {
      await runInstaller(APT_HELPER, ['download-file', `${mirror}${from}`, to]);
      return;
    } catch (cause) {
      failures.push(cause);
    }
  }
  throw new AggregateError(
    failures,
    `no mirror has ${from}: name one in ROLLCALL_DEBIAN_MIRROR, or lock what there is now (--update)`,
  );
}

/** The one that is named, else those of this machine's apt; each ends with a slash. */
async function debianMirrors(): Promise<readonly string[]> {
  if (!existsSync(APT_HELPER)) {
    throw new Error('the image is assembled where apt and dpkg are: on Debian or Ubuntu');
  }
  const named = process.env['ROLLCALL_DEBIAN_MIRROR'] ?? '';
  const targets = ['indextargets', '--format', '$(REPO_URI)', 'Created-By: Packages'];
  const found = named === '' ? await ask('apt-get', targets) : named;
  const mirrors = new Set(found.split('\n').filter((line) => line !== ''));
  return [...mirrors].map((mirror) => mirror.replace(/\/*$/, '/'));
}

/** What the registries have now, in the versions that the repository asks of them. */
export async function makeLock(): Promise<ImageLock> {
  const [amd64, arm64] = await Promise.all(
    ARCHITECTURES.map(async (architecture) => [
      await lockNode(PLATFORMS[architecture].node),
      ...(await lockDebian(architecture)),
    ]),
  );
  return v.parse(lockSchema, { amd64, arm64 });
}

async function lockNode(name: string): Promise<unknown> {
  const version = packageJson.devDependencies.node;
  const integrity = await ask('npm', ['view', `${name}@${version}`, 'dist.integrity']);
  const digest = Buffer.from(integrity.trim().replace(/^sha512-/, ''), 'base64').toString('hex');
  return { registry: 'npm', name, version, digest: `sha512:${digest}` };
}

/** By this machine's sources and keys, with lists of its own for an architecture that may be another. */
async function lockDebian(architecture: Architecture): Promise<readonly unknown[]> {
  const state = await mkdtemp(path.join(tmpdir(), 'rollcall-apt-'));
  await mkdir(path.join(state, 'lists/partial'), { recursive: true });
  const settings = [
    `APT::Architecture=${architecture}`,
    `APT::Architectures=${architecture}`,
    `Dir::State=${state}`,
    `Dir::State::status=/dev/null`,
    `Dir::Cache=${state}`,
    'APT::Sandbox::User=root',
  ].flatMap((setting) => ['-o', setting]);
  try {
    await runDownloader('apt-get', [...settings, '-q', 'update']);
    const names = PLATFORMS[architecture].debian.map(({ name }) => name);
    const text = await ask('apt-cache', [...settings, 'show', '--no-all-versions', ...names]);
    return text
      .trim()
      .split(/\n\n+/)
      .map((paragraph) => {
        const field = (name: string): string =>
          new RegExp(`^${name}: (.*)$`, 'm').exec(paragraph)?.[1] ?? '';
        return {
          registry: 'debian',
          name: field('Package'),
          version: field('Version'),
          digest: `sha256:${field('SHA256')}`,
          path: field('Filename'),
        };
      });
  } finally {
    await rm(state, { recursive: true, force: true });
  }
}

async function ask(program: string, parameters: readonly string[]): Promise<string> {
  const result = await runTool({ program, parameters, directory: repositoryRoot });
  if (result.exitCode === 0) return result.stdout;
  throw new Error(`${program} ${parameters.join(' ')}: ${result.stderr}`);
}
