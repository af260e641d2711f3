/**
 * `npm run build:image [-- DIRECTORY | --update]`: the watcher's image for amd64 and arm64, assembled from packages of npm
 * and Debian, without Docker and without running anything of it.
 *
 * DIRECTORY (dist/image) becomes an OCI image layout; beside it lie the bill of materials of each architecture and the
 * provenance. The same sources and lock give the same digest, which is all that stdout says. `--update` locks what the
 * registries have now.
 */
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { repositoryRoot as root, runTool } from '../lib/run-tool.ts';
import type { Lockfile } from '../supply-chain/lockfile.ts';
import { billOf, bundledPackages } from './image/bill.ts';
import { readDockerfile } from './image/dockerfile.ts';
import { makeLayers } from './image/layers.ts';
import { writeLayout, type PlatformImage, type WrittenLayout } from './image/layout.ts';
import { fetchPackages, LOCK_FILE, makeLock, readLock, type ImageLock } from './image/lock.ts';
import { ARCHITECTURES } from './image/platforms.ts';
import { provenanceOf, type Commit } from './image/provenance.ts';
import { collectNotices } from './notices.ts';
import { bundleWatcher } from './watcher-bundle.ts';

const { version } = packageJson;
const LOCAL_BUILDER = 'urn:rollcall:local-build';

/** What goes to /rollcall; resolves to the files that were bundled. */
async function makeProgram(folder: string): Promise<readonly string[]> {
  const { inputs } = await bundleWatcher(root, path.join(folder, 'watcher.mjs'));
  await writeFile(path.join(folder, 'THIRD-PARTY-NOTICES.txt'), await collectNotices(root, inputs));
  await cp(path.join(root, 'LICENSE'), path.join(folder, 'LICENSE'));
  return inputs;
}

async function makeImages(
  lock: ImageLock,
  program: string,
  work: string,
): Promise<readonly PlatformImage[]> {
  const packages = await fetchPackages(lock);
  const dockerfile = readDockerfile(
    await readFile(path.join(root, 'infra/watcher/Dockerfile'), 'utf8'),
  );
  const labels = { ...dockerfile.Labels, 'org.opencontainers.image.version': version };
  const configuration = {
    ...dockerfile,
    Env: ['PATH=/usr/local/bin', ...dockerfile.Env],
    WorkingDir: '/',
    Labels: labels,
  };
  return Promise.all(
    ARCHITECTURES.map(async (architecture) => ({
      architecture,
      configuration,
      layers: await makeLayers({
        architecture,
        locked: lock[architecture],
        packages,
        program,
        work: path.join(work, architecture),
      }),
    })),
  );
}

async function readCommit(): Promise<Commit | undefined> {
  const git = async (...parameters: readonly string[]) =>
    runTool({ program: 'git', parameters, directory: root });
  const head = await git('rev-parse', 'HEAD');
  if (head.exitCode !== 0) return undefined;
  const status = await git('status', '--porcelain');
  return { hash: head.stdout.trim(), isChanged: status.stdout.trim() !== '' };
}

async function writeEvidence(
  target: string,
  layout: WrittenLayout,
  { lock, inputs }: { readonly lock: ImageLock; readonly inputs: readonly string[] },
): Promise<void> {
  const write = (suffix: string, value: object): Promise<void> =>
    writeFile(`${target}.${suffix}.json`, `${JSON.stringify(value, null, 2)}\n`);
  const lockfile = JSON.parse(
    await readFile(path.join(root, 'package-lock.json'), 'utf8'),
  ) as Lockfile; // written by npm
  const bundled = bundledPackages(inputs, lockfile);
  for (const architecture of ARCHITECTURES) {
    const digest = layout.manifests[architecture]?.digest ?? '';
    const sources = { architecture, version, digest, locked: lock[architecture], bundled };
    await write(`${architecture}.cdx`, billOf(sources));
  }
  const builder = process.env['ROLLCALL_BUILDER'] ?? LOCAL_BUILDER;
  const commit = await readCommit();
  await write('provenance', provenanceOf({ version, index: layout.index, lock, commit, builder }));
}

async function build(target: string): Promise<void> {
  const lock = await readLock();
  const work = await mkdtemp(path.join(tmpdir(), 'rollcall-image-'));
  try {
    const program = path.join(work, 'program');
    await mkdir(program);
    const inputs = await makeProgram(program);
    const images = await makeImages(lock, program, work);
    await rm(target, { recursive: true, force: true });
    const layout = await writeLayout(target, version, images);
    await writeEvidence(target, layout, { lock, inputs });
    process.stdout.write(`${layout.index.digest}\n`);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

const [argument = path.join(root, 'dist/image')] = process.argv.slice(2);
if (argument === '--update') {
  await writeFile(LOCK_FILE, `${JSON.stringify(await makeLock(), null, 2)}\n`);
} else {
  await build(path.resolve(argument));
}
