/**
 * The layers of the image, as files that are the same on each machine and at each time: no times, no owners, names in order,
 * and of a mode only whether a file may be run.
 *
 * Three of them, so that an upgrade pulls what changed: Debian's libraries, Node, and what is ours. Packed by GNU tar and
 * gzip, whose output depends on no processor (Node's own zlib does).
 */
import { createHash } from 'node:crypto';
import { cp, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { runInstaller } from '../../lib/install-cache.ts';
import { repositoryRoot, runTool } from '../../lib/run-tool.ts';
import { fileOf, verify, type Locked } from './lock.ts';
import { PLATFORMS, type Architecture } from './platforms.ts';

/** A packed layer. */
export interface Layer {
  /** What an image's history says of it. */
  readonly title: string;
  /** Of its archive before it was compressed. */
  readonly diffId: string;
  readonly compressed: Buffer;
}

/** What layers are made of. */
export interface LayerSources {
  readonly architecture: Architecture;
  readonly locked: readonly Locked[];
  /** Holds the files of `locked`. */
  readonly packages: string;
  /** What is ours: goes to /rollcall as it is. */
  readonly program: string;
  /** Empty, and the caller's. */
  readonly work: string;
}

/** Without it the C library asks DNS first, and hosts that a pod is given (`hostAliases`) not at all. */
const NAME_SERVICES = 'hosts: files dns\n';

/** Packs them. Rejects when a package is another one than the lock names. */
export async function makeLayers(sources: LayerSources): Promise<readonly Layer[]> {
  const { locked, program, work } = sources;
  const at = (name: string): string => path.join(work, name);
  for (const one of locked) {
    if (one.registry === 'npm') await stageNode(sources, one, at('node'));
    else await stageDebian(sources, one, at('debian'));
  }
  await cp(program, at('rollcall/rollcall'), { recursive: true });
  await mkdir(at('rollcall/etc'));
  await writeFile(at('rollcall/etc/nsswitch.conf'), NAME_SERVICES);
  return [
    await pack(at('debian'), 'libraries of Debian'),
    await pack(at('node'), 'Node'),
    await pack(at('rollcall'), 'the watcher'),
  ];
}

async function checkedFile({ packages }: LayerSources, locked: Locked): Promise<string> {
  const file = path.join(packages, fileOf(locked));
  await verify(file, locked);
  return file;
}

async function stageNode(sources: LayerSources, locked: Locked, stage: string): Promise<void> {
  const file = await checkedFile(sources, locked);
  const opened = path.join(sources.work, 'opened', locked.name);
  await mkdir(opened, { recursive: true });
  const members = ['package/bin/node', 'package/LICENSE'];
  await runInstaller('tar', ['-xzf', file, '-C', opened, ...members]);
  await place(path.join(opened, 'package/bin/node'), path.join(stage, 'usr/local/bin/node'));
  const licence = path.join(stage, 'usr/local/share/doc/node/LICENSE');
  await place(path.join(opened, 'package/LICENSE'), licence);
}

async function stageDebian(sources: LayerSources, locked: Locked, stage: string): Promise<void> {
  const file = await checkedFile(sources, locked);
  const recipe = PLATFORMS[sources.architecture].debian.find(({ name }) => name === locked.name);
  if (recipe === undefined) throw new Error(`the lock has ${locked.name}, which no layer takes`);
  const opened = path.join(sources.work, 'opened', locked.name);
  await runInstaller('dpkg-deb', ['--extract', file, opened]);
  for (const name of recipe.files) await place(path.join(opened, name), path.join(stage, name));
  const parameters = ['--field', file];
  const control = await runTool({ program: 'dpkg-deb', parameters, directory: repositoryRoot });
  const status = path.join(stage, 'var/lib/dpkg/status.d', locked.name);
  await mkdir(path.dirname(status), { recursive: true });
  await writeFile(status, control.stdout);
}

/** A link stays the link that it is. */
async function place(from: string, to: string): Promise<void> {
  await mkdir(path.dirname(to), { recursive: true });
  await cp(from, to, { verbatimSymlinks: true });
}

async function pack(stage: string, title: string): Promise<Layer> {
  const archive = `${stage}.tar`;
  await runInstaller('tar', [
    ...['--create', '--file', archive, '--format=ustar', '--sort=name', '--mtime=@0'],
    ...['--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX'],
    ...['--directory', stage, ...(await readdir(stage)).sort()],
  ]);
  const diffId = `sha256:${createHash('sha256')
    .update(await readFile(archive))
    .digest('hex')}`;
  await runInstaller('gzip', ['--no-name', archive]);
  const compressed = await readFile(`${archive}.gz`);
  await rm(`${archive}.gz`);
  return { title, diffId, compressed };
}
